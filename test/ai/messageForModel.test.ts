import { expect, it } from "@effect/vitest"
import { Redacted } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { isLibraryError, messageForModel } from "../../src/internal/ai/messageForModel.js"
import { sharedClientDeclarations } from "../../src/internal/settings/sharing.js"
import { body, errors as errorsOfAnyCall, issue } from "../support/tables/errors.js"

const {
  BadRequest,
  ConfigurationError,
  Forbidden,
  ServerError,
  TransportError,
  UnexpectedResponse
} = NutritionAdvisorError

/** Each error that a search can fail with. */
const errors = errorsOfAnyCall.filter(({ operation }) => operation !== "request")

const messages = new Set(errors.map(messageForModel))

const options = Object.keys(sharedClientDeclarations).filter((name) => /[A-Z]/.test(name))

it.each([...messages])("tool error message: it consists of whole sentences without option names: %s", (message) => {
  expect(message).toMatch(/^[A-Z][^]*\. [A-Z][^]*\.$/)
  expect(options.filter((name) => message.includes(name))).toEqual([])
})

it.each([...messages])(
  "tool error message: it doesn't mention redacted fields, or what they contain: %s",
  (message) => {
    expect(message).not.toMatch(/redacted|undefined/)
    for (const secret of [body, issue]) expect(message).not.toContain(Redacted.value(secret))
  }
)

const anotherTerm = "Search with another term."
const shorterTerm = "Search with a shorter term."
const later = "Searching again later may help."
const setup = "Searching again won't help. Whoever set up this tool can fix it."

it.each([
  [
    new ServerError({ operation: "search", status: 503, retryAfter: 29.5 }),
    `The search failed with status 503. Try again in 30 s. ${later}`
  ],
  [
    new BadRequest({ operation: "search", detail: "the search term is blank" }),
    `The search was not sent (the search term is blank). Correct the request. ${anotherTerm}`
  ],
  [
    new BadRequest({ operation: "token", status: 400, body }),
    "The token exchange was rejected with status 400. Check the license key, NUTRITION_ADVISOR_BASE_URL and " +
    `NUTRITION_ADVISOR_TOKEN_ROUTE, and any proxy in between. ${setup}`
  ],
  [
    new UnexpectedResponse({ operation: "search", status: 414, reason: "Status" }),
    "The search got an unexpected status code (status 414). Check the request, its path and " +
    `NUTRITION_ADVISOR_BASE_URL. ${shorterTerm}`
  ],
  [
    new UnexpectedResponse({ operation: "search", status: 200, reason: "TooLarge" }),
    "The search got a response body that is too large (status 200). Raise NUTRITION_ADVISOR_MAX_RESPONSE_BYTES. " +
    anotherTerm
  ],
  [
    new UnexpectedResponse({ operation: "search", status: 200, reason: "Schema", issue }),
    `The search got JSON that doesn't match the schema (status 200). Check the schema. ${setup}`
  ],
  [
    new ConfigurationError({ field: "licenseKey", rule: "is blank" }),
    `The setting NUTRITION_ADVISOR_LICENSE_KEY is blank. ${setup}`
  ]
])("tool error message: it is the error's own message, and says whether to search again: %s", (error, message) => {
  expect(messageForModel(error)).toBe(message)
})

it.each([
  [new Forbidden({ operation: "search", status: 403, reason: "CoolingDown" }), later],
  [new Forbidden({ operation: "search", status: 403, reason: "RejectedAgain" }), setup],
  [new TransportError({ operation: "token", reason: "Connection", code: "ECONNREFUSED" }), later],
  [new TransportError({ operation: "token", reason: "Connection", code: "CERT_HAS_EXPIRED" }), setup],
  [new TransportError({ operation: "search", reason: "Closed" }), setup],
  [new UnexpectedResponse({ operation: "search", status: 431, reason: "Status" }), shorterTerm]
])("tool error message: whether it helps to search again after %s", (error, advice) => {
  expect(messageForModel(error)).toMatch(new RegExp(` ${advice}$`))
})

it("tool error message: it is the message that a subclass or a program has set", () => {
  class Outage extends ServerError {
    override get message() {
      return "The kitchen is closed."
    }
  }
  const changed = Object.assign(new ServerError({ operation: "search", status: 503 }), { message: "Out of oats." })
  expect(messageForModel(new Outage({ operation: "search", status: 503 }))).toMatch(/^The kitchen is closed\. /)
  expect(messageForModel(changed)).toMatch(/^Out of oats\. /)
})

it("tool error message: it names the variable of an invalid setting once", () => {
  const rule = "must start with https:// (http is allowed only to this machine or with allowInsecureHttp)"
  for (const variable of [undefined, "NUTRITION_ADVISOR_BASE_URL"]) {
    const message = messageForModel(new ConfigurationError({ field: "baseUrl", rule, variable }))
    expect(message).toMatch(
      /^The setting NUTRITION_ADVISOR_BASE_URL must .* NUTRITION_ADVISOR_ALLOW_INSECURE_HTTP\)\. /
    )
  }
})

it("tool error: isLibraryError is true for errors of the client, and for no others", () => {
  const all = [...errors, new ConfigurationError({ field: "baseUrl" })]
  expect(all.filter((error) => !isLibraryError(error))).toEqual([])
  expect([new Error("x"), undefined, "x", { _tag: "Other" }].filter(isLibraryError)).toEqual([])
})
