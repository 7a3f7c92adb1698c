/** Every way in which a search, a request or an exchange can end. */
import { HttpClientRequest } from "@effect/platform"
import { Effect, Redacted, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import { execute, getPlan } from "../doubles/simulatedAdvisor.js"
import { replying } from "../doubles/Wire.js"
import { forbiddenCalls, responseOf } from "../tables/forbiddenCalls.js"
import { allOptions, searchOptionRows } from "../tables/searchOptions.js"
import { tokenRouteRows } from "../tables/tokenRoutes.js"
import * as Replies from "./replies.js"
import * as Secrets from "./secrets.js"
import type { Services } from "./sinks.js"

export interface Outcome {
  readonly title: string
  /** The `_tag` and `reason` of its error, or "Success" or "Interrupted". */
  readonly end: string
  readonly token?: Replies.Reply
  readonly data?: Replies.Reply
  readonly options?: Partial<NutritionAdvisor.Options>
  readonly program?: Effect.Effect<unknown, unknown, Services>
  /** The number of requests after which the call is interrupted. */
  readonly interruptedAfter?: number
}

export const search = NutritionAdvisor.search("apple")

const searchWithOptions = NutritionAdvisor.search("apple", allOptions(0))

const Payload = Schema.Struct({ total: Schema.Number })

/** Responses that any call can get. */
const responses: ReadonlyArray<readonly [title: string, reply: Replies.Reply, end: string]> = [
  ["a 400", Replies.echoing(400), "BadRequest"],
  ["a 503 with a Retry-After", Replies.echoing(503, { "retry-after": "70" }), "ServerError"],
  ["a 429", Replies.echoing(429, { "retry-after": "70" }), "TooManyRequests"],
  ["a 404", Replies.echoing(404), "UnexpectedResponse Status"],
  ["a redirect to another origin", Replies.redirect, "UnexpectedResponse Redirect"],
  ["no response in time", Replies.hang, "TransportError Timeout"],
  ["a response whose body stalls", Replies.hangInBody, "TransportError Timeout"],
  ["a connection that is reset", Replies.reset, "TransportError Aborted"],
  ["a truncated chunked body", Replies.cut(), "TransportError Aborted"],
  ["a truncated body with a content length", Replies.cut({ "content-length": "60000" }), "TransportError Aborted"]
]

const ofResponses: ReadonlyArray<Outcome> = responses.flatMap(([title, reply, end]) => [
  ...tokenRouteRows.map(({ name }) => ({
    title: `a token exchange at the route ${name} that gets ${title}`,
    token: reply,
    options: { tokenRoute: name },
    end
  })),
  { title: `a search that gets ${title}`, data: reply, end },
  { title: `a search with options that gets ${title}`, data: reply, program: searchWithOptions, end },
  { title: `a request that gets ${title}`, data: reply, program: getPlan, end }
])

const ofSearchOptions: ReadonlyArray<Outcome> = Object.entries(searchOptionRows).map(([name, { invalid }]) => ({
  title: `a search whose option ${name} is invalid`,
  program: NutritionAdvisor.search("apple", { [name]: invalid }),
  end: "BadRequest"
}))

const withResponse: ReadonlyArray<Outcome> = [
  ...tokenRouteRows.map(({ name }) => ({
    title: `a search with a token from the route ${name}`,
    options: { tokenRoute: name },
    end: "Success"
  })),
  { title: "a search with options that succeeds", program: searchWithOptions, end: "Success" },
  { title: "a search after a renewal", data: Replies.inTurn(Replies.echoing(403), Replies.found), end: "Success" },
  // A caller may print this response, so it must not repeat the secrets.
  { title: "a request whose response is printed", data: replying("{}"), program: getPlan, end: "Success" },
  ...Replies.optionalFields.map((field) => ({
    title: `a token exchange whose ${field} repeats the token`,
    token: Replies.tokenReplyWith({ [field]: `read:${Secrets.token}` }),
    end: "Success"
  })),
  {
    title: "a response with an observed header",
    data: Replies.echoing(500, { "x-request-id": "request-1" }),
    end: "ServerError"
  }
]

/** A response with this status, these headers and these fields of a body, which also contains every secret. */
const withEcho = ({ body, headers = {}, status }: Simulator.Reply) =>
  body === undefined
    ? Replies.echoing(status, headers)
    : Replies.respond(JSON.stringify(Object.assign({ echo: Replies.echo }, body)), headers, status)

const ofForbiddenCalls: ReadonlyArray<Outcome> = Object.entries(forbiddenCalls).map(([reason, forbiddenCall]) => ({
  title: `a call that fails with the reason ${reason} of Forbidden`,
  token: forbiddenCall.isTokenUnchanged === true ? Replies.tokenReplyWith({}) : Replies.tokenReply,
  data: withEcho(responseOf(forbiddenCall)),
  program: Effect.retry(forbiddenCall.call, { times: forbiddenCall.times - 1 }),
  end: `Forbidden ${reason}`
}))

const failures: ReadonlyArray<Outcome> = [
  { title: "a key that is rejected", token: Replies.echoing(401), end: "Forbidden KeyRejected" },
  ...ofForbiddenCalls,
  {
    title: "a renewal that fails",
    token: Replies.inTurn(Replies.tokenReply, Replies.echoing(400)),
    data: Replies.echoing(403),
    end: "BadRequest"
  },
  {
    title: "a token exchange without an identifier",
    token: Replies.tokenReplyWith({ customer_id: null }),
    end: "MissingServiceId"
  },
  {
    title: "a licenseKey effect that fails",
    options: { licenseKey: Effect.fail(new NutritionAdvisorError.LicenseKeyUnavailable({})) },
    end: "LicenseKeyUnavailable"
  },
  {
    title: "a key that can't be part of a path",
    options: { licenseKey: Effect.succeed(Redacted.make(`${Secrets.key}\u0000`)) },
    end: "LicenseKeyUnavailable"
  },
  {
    title: "a base URL that contains the key",
    options: { baseUrl: `https://user:${encodeURIComponent(Secrets.key)}@service.example` },
    end: "ConfigurationError"
  },
  {
    title: "a request that leaves the base URL",
    program: execute(HttpClientRequest.get(`https://other.example/${encodeURIComponent(Secrets.key)}`)),
    end: "BadRequest"
  },
  {
    title: "a request with an invalid header",
    program: execute(HttpClientRequest.get("/v2/plan", { headers: { "x-token": `${Secrets.token}\r\n` } })),
    end: "BadRequest"
  }
]

const malformed: ReadonlyArray<Outcome> = [
  { title: "a token exchange that gets HTML", token: Replies.html, end: "UnexpectedResponse NotJson" },
  { title: "a search that gets HTML", data: Replies.html, end: "UnexpectedResponse NotJson" },
  {
    title: "a token exchange with a response that is too large",
    token: Replies.respond(`"${"x".repeat(70_000)}${Replies.echo}"`),
    end: "UnexpectedResponse TooLarge"
  },
  {
    title: "a search with a response that is too large",
    data: Replies.echoing(200),
    options: { maxResponseBytes: 1 },
    end: "UnexpectedResponse TooLarge"
  },
  {
    title: "a payload that doesn't match the schema",
    data: Replies.respond(JSON.stringify({ total: Secrets.token, of: Secrets.customerId })),
    program: NutritionAdvisor.searchAs(Payload)("apple"),
    end: "UnexpectedResponse Schema"
  },
  ...Object.entries({
    "an access_token in an array": { access_token: [Secrets.token] },
    "an access_token of two lines": { access_token: `${Secrets.token}\r\nx: y` },
    "a customer_id of two lines": { customer_id: `${Secrets.customerId}\r\nx: y` },
    "an invalid expires_in": { expires_in: Secrets.token },
    "an invalid token_type": { token_type: Secrets.token }
  }).map(([what, fields]) => ({
    title: `a token exchange with ${what}`,
    token: Replies.tokenReplyWith(fields),
    end: "UnexpectedResponse Schema"
  }))
]

const interrupted: ReadonlyArray<Outcome> = [
  { title: "an interrupted token exchange", token: Replies.hang, interruptedAfter: 1 },
  { title: "an interrupted search", data: Replies.hang, interruptedAfter: 2 },
  { title: "a search that is interrupted while its body arrives", data: Replies.hangInBody, interruptedAfter: 2 },
  { title: "an interrupted request", data: Replies.hang, program: getPlan, interruptedAfter: 2 }
].map((outcome) => ({ ...outcome, end: "Interrupted" }))

export const outcomes = [...ofResponses, ...withResponse, ...failures, ...malformed, ...interrupted, ...ofSearchOptions]
