import { HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { type Duration, Effect, Redacted, Schema, Stream } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { untilHeldUp } from "../doubles/coolDown.js"
import { refusals } from "../doubles/statuses.js"
import type { LocalService, Reply } from "./LocalService.js"
import * as Replies from "./replies.js"
import * as Secrets from "./secrets.js"
import type { Services } from "./sinks.js"

/** How a program ends: with a value, interrupted, or in the error that has these fields. */
export type End = "success" | "interruption" | "defect" | Readonly<Record<string, unknown>>

export interface Outcome {
  readonly title: string
  readonly end: End
  readonly token?: Reply
  readonly data?: Reply
  readonly options?: (service: LocalService) => Partial<NutritionAdvisor.Options>
  readonly program?: Effect.Effect<unknown, unknown, Services>
  readonly isInterrupted?: boolean
}

const search = NutritionAdvisor.search("apple")

const execute = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.execute(request))

const streamed = HttpClientRequest.bodyStream(HttpClientRequest.post("/v2/plan"), Stream.make(new Uint8Array([1])))

const Payload = Schema.Struct({ total: Schema.Number })

const rejectedOnce: Reply = Replies.inTurn(Replies.echoing(403), Replies.found)

/** A 400 to a request that had another token before, or follows one that had. */
const malformed: ReadonlyArray<Outcome> = [
  {
    title: "a search refused as malformed after a renewal, every secret echoed",
    data: Replies.inTurn(Replies.echoing(403), Replies.echoing(400)),
    end: { _tag: "BadRequest", operation: "search" }
  },
  {
    title: "a renewal refused as malformed, every secret echoed",
    token: Replies.inTurn(Replies.issue, Replies.echoing(400)),
    data: Replies.echoing(403),
    end: { _tag: "BadRequest", operation: "token" }
  }
]

const answered: ReadonlyArray<Outcome> = [
  { title: "a search that succeeds", end: "success" },
  { title: "a search that succeeds after a renewal", data: rejectedOnce, end: "success" },
  {
    title: "a search that succeeds with the identifier of the settings",
    options: () => ({ serviceId: Secrets.customerId }),
    end: "success"
  },
  {
    title: "a search that succeeds with a key that an effect reads",
    options: () => ({ licenseKey: Effect.succeed(Redacted.make(Secrets.key)) }),
    end: "success"
  },
  {
    title: "a decoded search that succeeds",
    program: NutritionAdvisor.searchAs(Payload)("apple"),
    data: Replies.answer(200, "{\"total\":1}"),
    end: "success"
  },
  {
    title: "a request through httpClient that succeeds",
    program: execute(HttpClientRequest.get("/v2/plan")),
    data: Replies.plan,
    end: "success"
  },
  {
    title: "a request through httpClient whose caller reads the body",
    program: Effect.flatMap(execute(HttpClientRequest.get("/v2/plan")), ({ json }) => json),
    data: Replies.plan,
    end: "success"
  },
  {
    title: "a request through httpClient whose caller can't decode the body",
    program: Effect.flatMap(
      execute(HttpClientRequest.get("/v2/plan")),
      HttpClientResponse.schemaBodyJson(Payload)
    ),
    data: Replies.plan,
    end: { _tag: "ParseError" }
  },
  {
    title: "a request through httpClient whose caller takes no 200 for an answer",
    program: Effect.flatMap(
      execute(HttpClientRequest.get("/v2/plan")),
      HttpClientResponse.filterStatus((status) => status === 201)
    ),
    data: Replies.plan,
    end: { _tag: "ResponseError" }
  },
  {
    title: "a request through httpClient that succeeds after a renewal",
    program: execute(HttpClientRequest.get("/v2/plan")),
    data: Replies.inTurn(Replies.echoing(403), Replies.plan),
    end: "success"
  },
  {
    title: "a stale token whose refresh in the background is refused",
    options: () => ({ refresh: { windowFraction: 0.999 } }),
    token: Replies.inTurn(Replies.issueWith({ expires_in: 10 }), Replies.echoing(400)),
    program: Effect.zipRight(
      Effect.zipRight(search, Effect.sleep("100 millis")),
      Effect.zipLeft(search, Effect.sleep("150 millis"))
    ),
    end: "success"
  }
]

const scopesWithSecrets: ReadonlyArray<Outcome> = Object.entries({
  "the token": Secrets.token,
  "the key among other words": `of ${Secrets.key} alone`,
  "the key, percent-encoded": `read:${encodeURIComponent(Secrets.key)}`,
  "the identifier": `read:${Secrets.customerId}`
}).map(([what, scope]) => ({
  title: `a token call that succeeds and repeats ${what} in the scope`,
  token: Replies.issueWith({ scope }),
  end: "success"
}))

const forbidden = (operation: string, reason: string, status = 403) => ({
  _tag: "Forbidden",
  operation,
  reason,
  status
})

const rejections: ReadonlyArray<Outcome> = [
  {
    title: "a key that the token route refuses with 401",
    token: Replies.echoing(401),
    end: forbidden("token", "KeyRejected", 401)
  },
  {
    title: "a key that the token route refuses with 403",
    token: Replies.echoing(403),
    end: forbidden("token", "KeyRejected")
  },
  {
    title: "a search that is rejected again after a renewal",
    data: Replies.echoing(403),
    end: forbidden("search", "RejectedAgain")
  },
  {
    title: "a search whose renewal brings the same token",
    token: Replies.issueWith({}),
    data: Replies.echoing(403),
    end: forbidden("search", "TokenUnchanged")
  },
  {
    title: "a search that is rejected while renewals cool down",
    program: untilHeldUp(search),
    data: Replies.echoing(403),
    end: forbidden("search", "CoolingDown")
  },
  {
    title: "a streamed request that can't be sent twice",
    program: execute(streamed),
    data: Replies.echoing(403),
    end: forbidden("request", "BodyNotReplayable")
  },
  {
    title: "a search whose renewal is refused for the key",
    token: Replies.inTurn(Replies.issue, Replies.echoing(403)),
    data: Replies.echoing(403),
    end: forbidden("token", "KeyRejected")
  },
  {
    title: "an exchange without an identifier",
    token: Replies.issueWith({ customer_id: null }),
    end: { _tag: "MissingServiceId", operation: "token" }
  }
]

interface Failing {
  readonly title: string
  readonly reply: Reply
  readonly end: Readonly<Record<string, unknown>>
}

const transport = (reason: string) => ({ _tag: "TransportError", reason })

const unexpected = (reason: string, status = 200) => ({ _tag: "UnexpectedResponse", reason, status })

const failing: ReadonlyArray<Failing> = [
  { title: "a 400", reply: Replies.echoing(400), end: { _tag: "BadRequest", status: 400 } },
  { title: "a 500", reply: Replies.echoing(500), end: { _tag: "ServerError", status: 500 } },
  {
    title: "a 503 with a Retry-After",
    reply: Replies.echoing(503, { "retry-after": "70" }),
    end: { _tag: "ServerError", status: 503, retryAfter: 70 }
  },
  {
    title: "a 429",
    reply: Replies.echoing(429, { "retry-after": "70" }),
    end: { _tag: "TooManyRequests", retryAfter: 70 }
  },
  { title: "a 404", reply: Replies.echoing(404), end: unexpected("Status", 404) },
  { title: "a redirect to another origin", reply: Replies.redirect(307), end: unexpected("Redirect", 307) },
  { title: "HTML", reply: Replies.html, end: unexpected("NotJson") },
  { title: "JSON that breaks off", reply: Replies.answer(200, `{"echo":"${Secrets.key}`), end: unexpected("NotJson") },
  { title: "no answer in time", reply: Replies.hang, end: transport("Timeout") },
  { title: "half an answer in time", reply: Replies.hangInBody, end: transport("Timeout") },
  { title: "a connection that is reset", reply: Replies.reset, end: { _tag: "TransportError" } },
  { title: "a chunked body that is cut", reply: Replies.cutChunked, end: transport("Aborted") },
  { title: "a counted body that is cut", reply: Replies.cutCounted, end: transport("Aborted") }
]

const failures: ReadonlyArray<Outcome> = failing.flatMap(({ end, reply, title }): ReadonlyArray<Outcome> => [
  { title: `a token call that meets ${title}`, token: reply, end: { operation: "token", ...end } },
  { title: `a search that meets ${title}`, data: reply, end: { operation: "search", ...end } },
  ...(end["reason"] === "NotJson" ? [] : [{
    title: `a request through httpClient that meets ${title}`,
    data: reply,
    program: execute(HttpClientRequest.get("/v2/plan")),
    end: { operation: "request", ...end }
  }])
])

const shapes: ReadonlyArray<Outcome> = [
  {
    title: "a token call that brings too much",
    token: Replies.answer(200, `"${"x".repeat(70_000)}${Replies.echo}"`),
    end: { operation: "token", ...unexpected("TooLarge") }
  },
  {
    title: "a search that brings too much",
    options: () => ({ maxResponseBytes: 1 }),
    data: Replies.echoing(200),
    end: { operation: "search", ...unexpected("TooLarge") }
  },
  {
    title: "a decoded search whose payload has another shape",
    program: NutritionAdvisor.searchAs(Payload)("apple"),
    data: Replies.answer(200, JSON.stringify({ total: Secrets.token, key: Secrets.key, of: Secrets.customerId })),
    end: { operation: "search", ...unexpected("Schema") }
  },
  ...Object.entries({
    "a number for the token": { access_token: 7 },
    "a list for the token": { access_token: [Secrets.token] },
    "a token that no header can carry": { access_token: `${Secrets.token}\r\nx: y` },
    "a token with a space": { access_token: `${Secrets.token} ${Secrets.token}` },
    "an identifier that no header can carry": { customer_id: `${Secrets.customerId}\r\nx: y` },
    "a list for the identifier": { customer_id: [Secrets.customerId] },
    "the token for its life": { expires_in: Secrets.token },
    "the token for its type": { token_type: Secrets.token },
    "an object with the key for its scope": { scope: { key: Secrets.key } }
  }).map(([what, fields]): Outcome => ({
    title: `a token call that brings ${what}`,
    token: Replies.issueWith(fields),
    end: { operation: "token", ...unexpected("Schema") }
  }))
]

const unavailable: ReadonlyArray<Outcome> = [
  {
    title: "a key whose effect fails",
    options: () => ({ licenseKey: Effect.fail(new NutritionAdvisorError.LicenseKeyUnavailable({})) }),
    end: { _tag: "LicenseKeyUnavailable", operation: "token" }
  },
  {
    title: "a key whose effect dies of what it read",
    options: () => ({
      licenseKey: Effect.suspend(() => Effect.die(Object.assign(new Error(Secrets.key), { key: Secrets.key })))
    }),
    end: "defect"
  },
  ...[`${Secrets.key}\n`, ` ${Secrets.key}`, `${Secrets.key}\u0000`, `${Secrets.key}\ud800`].map((
    key
  ): Outcome => ({
    title: `a key that an effect reads as ${JSON.stringify(key.replace(Secrets.key, "key"))}`,
    options: () => ({ licenseKey: Effect.succeed(Redacted.make(key)) }),
    end: { _tag: "LicenseKeyUnavailable", operation: "token" }
  }))
]

const refusedRequests: ReadonlyArray<Outcome> = [
  {
    title: "a blank search",
    program: NutritionAdvisor.search(" "),
    end: { _tag: "BadRequest", operation: "search" }
  },
  {
    title: "a request to another origin",
    program: execute(HttpClientRequest.get(`https://other.example/${encodeURIComponent(Secrets.key)}`)),
    end: { _tag: "BadRequest", operation: "request" }
  },
  {
    title: "a request with a header that HTTP does not allow",
    program: execute(HttpClientRequest.get("/v2/plan", { headers: { "x-token": `${Secrets.token}\r\n` } })),
    end: { _tag: "BadRequest", operation: "request" }
  }
]

const interruptions: ReadonlyArray<Outcome> = [
  { title: "an interruption of a token call", token: Replies.hang },
  { title: "an interruption of a token call in its body", token: Replies.hangInBody },
  { title: "an interruption of a search", data: Replies.hang },
  { title: "an interruption of a search in its body", data: Replies.hangInBody },
  {
    title: "an interruption of a request through httpClient",
    program: execute(HttpClientRequest.get("/v2/plan")),
    data: Replies.hang
  }
].map((outcome): Outcome => ({ ...outcome, isInterrupted: true, end: "interruption" }))

/** Errors and spans of these show the headers that hold no token and no identifier; the license key is in none of them. */
const observing = { observeHeaders: ["x-request-id", "x-echo", "x-token", "x-customer", "location"] }

const identified = { "x-request-id": "request-1", "x-customer": `customer=${encodeURIComponent(Secrets.customerId)}` }

const observed: ReadonlyArray<Outcome> = [
  ...refusals.map(([status, _tag]): Outcome => ({
    title: `a search whose answer has secrets in headers that are observed, status ${status}`,
    options: () => observing,
    data: Replies.echoing(status, identified),
    end: { _tag, operation: "search", headers: { "x-request-id": "request-1" } }
  })),
  {
    title: "a search that is answered with HTML and secrets in headers that are observed",
    options: () => observing,
    data: Replies.answer(200, "<html>", { ...identified, location: `/v2?token=${Secrets.token}` }),
    end: { operation: "search", headers: { "x-request-id": "request-1" } }
  },
  {
    title: "a search whose answer names the token before the renewal in a header that is observed",
    options: () => observing,
    data: Replies.inTurn(Replies.echoing(403), Replies.echoing(500, identified)),
    end: { operation: "search", headers: { "x-request-id": "request-1" } }
  },
  {
    title: "a search that succeeds with secrets in headers that are observed",
    options: () => observing,
    end: "success"
  },
  {
    title: "a token call whose answer has secrets in headers that are observed",
    options: () => observing,
    token: Replies.echoing(400, identified),
    end: { _tag: "BadRequest", operation: "token" }
  }
]

export const outcomes: ReadonlyArray<Outcome> = [
  ...observed,
  ...answered,
  ...scopesWithSecrets,
  ...malformed,
  ...rejections,
  ...failures,
  ...shapes,
  ...unavailable,
  ...refusedRequests,
  ...interruptions
]

const duration = (text: string) => text as Duration.DurationInput

const encodedKey = encodeURIComponent(Secrets.key)

/** Each setting with a secret in it that it can't work with, and the name that the error gives it. */
export const settings: ReadonlyArray<
  readonly [title: string, field: string, options: Partial<NutritionAdvisor.Options>]
> = [
  ["the base URL is the key", "baseUrl", { baseUrl: Secrets.key }],
  ["the base URL has the key for its password", "baseUrl", { baseUrl: `https://user:${encodedKey}@service.example` }],
  ["the base URL has the key in its query", "baseUrl", { baseUrl: `https://service.example/?key=${encodedKey}` }],
  ["the base URL is a URL object with the key in its fragment", "baseUrl", {
    baseUrl: new URL(`https://service.example/#${encodedKey}`)
  }],
  ["the base URL is plain http with the key in its path", "baseUrl", {
    baseUrl: `http://service.example/${encodedKey}`
  }],
  ["the key ends in a line break", "licenseKey", { licenseKey: Redacted.make(`${Secrets.key}\n`) }],
  ["the key holds half of a surrogate pair", "licenseKey", { licenseKey: Redacted.make(`${Secrets.key}\ud800`) }],
  ["the key is a text that is not redacted", "licenseKey", {
    licenseKey: Secrets.key as unknown as Redacted.Redacted<string>
  }],
  ["the token route ends in the key", "tokenRoute", { tokenRoute: `/v2/oauth/${encodedKey}` as "/{key}" }],
  ["the token route is the key", "tokenRoute", { tokenRoute: Secrets.key as "/{key}" }],
  ["no header can carry the identifier", "serviceId", { serviceId: `${Secrets.customerId}\r\nx: y` }],
  ["the name of the identifier's header holds the identifier", "serviceIdHeader", {
    serviceIdHeader: `Service-ID: ${Secrets.customerId}`
  }],
  ["the rejected statuses hold the key", "rejectedStatuses", {
    rejectedStatuses: [Secrets.key as unknown as number]
  }],
  ["tokenTimeout is the key", "tokenTimeout", { tokenTimeout: duration(Secrets.key) }],
  ["requestTimeout is the token", "requestTimeout", { requestTimeout: duration(Secrets.token) }],
  ["maxResponseBytes is the key", "maxResponseBytes", { maxResponseBytes: Secrets.key as unknown as number }],
  ["the window of the policy is the key", "refresh.window", { refresh: { window: duration(Secrets.key) } }],
  ["the attempts of the policy are the key", "refresh.attempts", {
    refresh: { attempts: Secrets.key as unknown as number }
  }]
]
