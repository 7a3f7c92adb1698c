import { expect, it } from "@effect/vitest"
import { Redacted } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { isLibraryError, messageOf } from "../../src/internal/ai/messageOf.js"
import { sharedClient } from "../../src/internal/settings/settings.js"

const {
  BadRequest,
  ConfigurationError,
  Forbidden,
  LicenseKeyUnavailable,
  MissingServiceId,
  ServerError,
  TooManyRequests,
  TransportError,
  UnexpectedResponse
} = NutritionAdvisorError

const body = Redacted.make("the response body")

const operations = ["token", "search"] as const

/** Each error that a search can fail with. */
const errors: ReadonlyArray<NutritionAdvisorError.NutritionAdvisorError> = operations.flatMap((operation) => [
  new BadRequest({ operation, status: 400, body }),
  new BadRequest({ operation, detail: "the search term is blank" }),
  new BadRequest({ operation }),
  new ServerError({ operation, status: 503, retryAfter: 29.5, body }),
  new ServerError({ operation, status: 500 }),
  ...NutritionAdvisorError.ForbiddenReason.literals.map((reason) =>
    new Forbidden({ operation, status: 403, reason, body })
  ),
  new MissingServiceId({ operation }),
  new TooManyRequests({ operation, status: 429, retryAfter: 7, body }),
  new TooManyRequests({ operation }),
  ...TransportError.fields.reason.literals.flatMap((reason) => [
    new TransportError({ operation, reason }),
    new TransportError({ operation, reason, code: "ECONNREFUSED" })
  ]),
  ...UnexpectedResponse.fields.reason.literals.map((reason) =>
    new UnexpectedResponse({ operation, status: 302, reason, body })
  ),
  new LicenseKeyUnavailable({ detail: "the vault is closed" })
])

const titled = errors.map((error) => {
  const reason = "reason" in error ? ` ${error.reason}` : ""
  return [`${error.operation} ${error._tag}${reason}`, error] as const
})

const options = Object.keys(sharedClient).filter((name) => /[A-Z]/.test(name))

it.each(titled)("tool error message: it consists of whole sentences without option names: %s", (_, error) => {
  const message = messageOf(error)
  expect(message).toMatch(/^[A-Z][^]*\. [A-Z][^]*\.$/)
  for (const name of [...options, "undefined", "body", "redacted"]) expect(message).not.toContain(name)
})

it.each(titled)("tool error message: it contains nothing of the response body: %s", (_, error) => {
  expect(messageOf(error)).not.toContain(Redacted.value(body))
})

it("tool error message: these tests cover every error class", () => {
  const tags = new Set(errors.map(({ _tag }) => _tag))
  expect([...tags].sort()).toEqual(NutritionAdvisorError.errors.map(({ _tag }) => _tag).sort())
})

it.each([
  [new ServerError({ operation: "search", status: 503, retryAfter: 29.5 }), "Search again in 30 s."],
  [new TooManyRequests({ operation: "search" }), "Search again later."],
  [new BadRequest({ operation: "search", detail: "the search term is blank" }), "the search term is blank"],
  [new BadRequest({ operation: "token", status: 400 }), "NUTRITION_ADVISOR_LICENSE_KEY"],
  [new Forbidden({ operation: "token", status: 401, reason: "KeyRejected" }), "NUTRITION_ADVISOR_LICENSE_KEY"],
  [new Forbidden({ operation: "search", status: 403, reason: "RejectedAgain" }), "NUTRITION_ADVISOR_SERVICE_ID"],
  [new MissingServiceId({ operation: "search" }), "NUTRITION_ADVISOR_SERVICE_ID"],
  [new TransportError({ operation: "token", reason: "Connection" }), "NUTRITION_ADVISOR_BASE_URL"],
  [new UnexpectedResponse({ operation: "token", status: 404, reason: "Status" }), "NUTRITION_ADVISOR_TOKEN_ROUTE"],
  [new UnexpectedResponse({ operation: "search", status: 200, reason: "NotJson" }), "NUTRITION_ADVISOR_BASE_URL"],
  [
    new UnexpectedResponse({ operation: "search", status: 200, reason: "TooLarge" }),
    "NUTRITION_ADVISOR_MAX_RESPONSE_BYTES"
  ]
])(
  "tool error message: it says what to do about %s",
  (error, words) => expect(messageOf(error)).toContain(words)
)

it("tool error message: it names the variable of an invalid setting", () => {
  const rule = "must start with https:// (http is allowed only to this machine or with allowInsecureHttp)"
  for (const variable of [undefined, "NUTRITION_ADVISOR_BASE_URL"]) {
    const message = messageOf(new ConfigurationError({ field: "baseUrl", rule, variable }))
    expect(message).toMatch(/: NUTRITION_ADVISOR_BASE_URL must start .* NUTRITION_ADVISOR_ALLOW_INSECURE_HTTP\)\.$/)
  }
})

it("tool error: isLibraryError is true for errors of the client, and for no others", () => {
  const all = [...errors, new ConfigurationError({ field: "baseUrl" })]
  expect(all.filter((error) => !isLibraryError(error))).toEqual([])
  expect([new Error("x"), undefined, "x", { _tag: "Other" }].filter(isLibraryError)).toEqual([])
})
