import { readFile } from "node:fs/promises"
import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Effect, JSONSchema, Redacted, Schema } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"

const { ConfigurationError, ServerError, TooManyRequests, TransportError } = NutritionAdvisorError

const { BadRequest, Forbidden, LicenseKeyUnavailable, MissingServiceId, UnexpectedResponse } = NutritionAdvisorError

const AnyError = Schema.Union(NutritionAdvisorError.NutritionAdvisorError, ConfigurationError)

type AnyError = typeof AnyError.Type

const body = Redacted.make("a hidden body")

const issue = Redacted.make("total: a hidden issue")

const headers = { "x-request-id": "request-1" }

const made = <const F extends object>(Class: new(fields: F) => AnyError, fields: F) =>
  [new Class(fields), fields] as const

/** The body of a response and the issue of a schema are never encoded. */
const madeWith = <const F extends object, H extends object>(
  Class: new(fields: F & H) => AnyError,
  fields: F,
  hidden: H
) => [new Class({ ...fields, ...hidden }), fields] as const

/** Each error with all of its fields. */
const all: ReadonlyArray<readonly [error: AnyError, fields: object]> = [
  madeWith(BadRequest, { operation: "search", status: 400, detail: "no term", headers }, { body }),
  madeWith(ServerError, { operation: "token", status: 503, retryAfter: 2.5, headers }, { body }),
  madeWith(Forbidden, { operation: "search", status: 403, reason: "RejectedAgain", headers }, { body }),
  made(MissingServiceId, { operation: "token" }),
  madeWith(TooManyRequests, { operation: "request", status: 429, retryAfter: 30, headers }, { body }),
  made(TransportError, { operation: "search", reason: "Connection", code: "ENOTFOUND" }),
  madeWith(UnexpectedResponse, { operation: "token", status: 200, reason: "Schema", field: "scope", headers }, {
    body,
    issue
  }),
  made(LicenseKeyUnavailable, { operation: "token", detail: "the vault is sealed" }),
  made(ConfigurationError, { field: "baseUrl", rule: "is blank", variable: "NUTRITION_ADVISOR_BASE_URL" })
]

const each = it.each(all.map(([error, fields]) => [error._tag, error, fields] as const))

/** An error for each message, without most of the fields. */
const bare: ReadonlyArray<AnyError> = [
  ...NutritionAdvisorError.Operation.literals.flatMap((operation) => [
    new BadRequest({ operation }),
    new BadRequest({ operation, status: 400, body }),
    new ServerError({ operation, status: 500 }),
    ...Forbidden.fields.reason.literals.map((reason) => new Forbidden({ operation, status: 403, reason })),
    new MissingServiceId({ operation }),
    new TooManyRequests({ operation }),
    new TooManyRequests({ operation, status: 429, retryAfter: 1.2 }),
    ...TransportError.fields.reason.literals.map((reason) => new TransportError({ operation, reason })),
    ...UnexpectedResponse.fields.reason.literals.map((reason) =>
      new UnexpectedResponse({ operation, status: 418, reason })
    ),
    new UnexpectedResponse({ operation, status: 200, reason: "Schema", field: "expires_in" }),
    new UnexpectedResponse({ operation, status: 200, reason: "Schema", issue }),
    new LicenseKeyUnavailable({ operation })
  ]),
  new ConfigurationError({ field: "refresh.window" })
]

/** Each message that a caller can get. */
const messages = [...bare, ...all.map(([error]) => error)].map(({ message }) => message)

describe("NutritionAdvisorError", () => {
  each("%s has exactly the documented fields, and its body is not encoded", (_tag, error, fields) => {
    expect(Schema.encodeSync(AnyError)(error)).toStrictEqual({ _tag, ...fields })
  })

  each("%s can be read from its JSON, without its body", (_, error, fields) => {
    const decoded = Schema.decodeUnknownSync(AnyError)(JSON.parse(JSON.stringify(error)))
    expect(decoded.constructor).toBe(error.constructor)
    expect(decoded).toMatchObject(fields)
    expect(decoded).not.toHaveProperty("body")
    expect(decoded).not.toHaveProperty("issue")
  })

  each("the message of %s can be changed without affecting its other fields", (_, error) => {
    const look = () => [error.stack, JSON.stringify(error), Object.keys(error), inspect(error)]
    const [message, before] = [error.message, look()]
    error.message = `Foods: ${error.message}`
    expect(error.message).toBe(`Foods: ${message}`)
    expect(look()).toEqual(before)
  })

  each("mocks of Jest and Vitest can read the message of the prototype of %s", (_, error) => {
    expect(Object.getPrototypeOf(error)).toHaveProperty("message", "")
  })

  it("these tests cover each error", () => {
    const tags = [...NutritionAdvisorError.errors, ConfigurationError].map(({ _tag }) => _tag)
    expect(all.map(([{ _tag }]) => _tag)).toEqual(tags)
    expect(new Set(bare.map(({ _tag }) => _tag))).toEqual(new Set(tags))
  })

  it("this file tests each error with all of its fields", () => {
    const missing = [...NutritionAdvisorError.errors, ConfigurationError].flatMap(({ _tag, fields }) => {
      const [tested] = all.find(([error]) => error._tag === _tag) ?? [{}]
      return Object.keys(fields).filter((field) => !(field in tested)).map((field) => `${_tag}.${field}`)
    })
    expect(missing).toEqual([])
  })

  it("errors have a JSON Schema whose names OpenAPI allows", () => {
    const { $defs = {}, ...schema } = JSONSchema.make(AnyError)
    expect(JSON.stringify(schema)).toContain("BadRequest")
    expect(Object.keys($defs)).toContain("NutritionAdvisor.TransportError")
    expect(Object.keys($defs).filter((name) => !/^[\w.-]+$/.test(name))).toEqual([])
    expect(JSON.stringify(schema), "OpenAPI allows each $id once").not.toContain("$id")
  })
})

describe("error message", () => {
  it.each(messages)("each message is one line of whole sentences: %s", (message) => {
    expect(message).toMatch(/^[A-Z][^\r\n]*[.)]$/)
    expect(message).toMatch(/\. [A-Z]|^The setting/)
    expect(message).not.toMatch(/undefined|null|NaN|\[object| {2}|\.\.| \.|hidden/)
  })

  const license = "Check that the license covers this call, that serviceId is correct, and that no proxy is " +
    "rejecting the request."

  const forbidden = (reason: NutritionAdvisorError.ForbiddenReason, operation: "token" | "search" = "search") =>
    new Forbidden({ operation, status: 403, reason })

  const cut = (reason: "Timeout" | "Connection" | "Aborted" | "Closed", code?: string) =>
    new TransportError({ operation: "search", reason, ...code !== undefined && { code } })

  const unexpected = (fields: Partial<NutritionAdvisorError.UnexpectedResponse>) =>
    new UnexpectedResponse({ operation: "search", status: 200, reason: "Schema", ...fields })

  it.each<readonly [message: string, error: AnyError]>([
    [
      "The search was not sent (the search term is blank). Correct the request.",
      new BadRequest({ operation: "search", detail: "the search term is blank" })
    ],
    [
      "The search was rejected with status 400. Correct the request. If every request is rejected, check serviceId. " +
      "The error's body field contains the response body, redacted.",
      new BadRequest({ operation: "search", status: 400, body })
    ],
    [
      "The token exchange was rejected with status 400. Check the license key, baseUrl and tokenRoute, and any proxy " +
      "between you and the service.",
      new BadRequest({ operation: "token", status: 400 })
    ],
    [
      "The token exchange failed with status 503. Try again in 2 s.",
      new ServerError({ operation: "token", status: 503, retryAfter: 1.2 })
    ],
    [
      `The search was rejected (status 403), even with a new token. ${license}`,
      forbidden("RejectedAgain")
    ],
    [
      `The search was rejected (status 403), and the token exchange returned the same token again. ${license}`,
      forbidden("TokenUnchanged")
    ],
    [
      `The search was rejected (status 403), and the token can't be renewed again yet. ${license} ` +
      "Another program with this key may be revoking your tokens.",
      forbidden("CoolingDown")
    ],
    [
      "The token exchange was rejected (status 403). Check the license key, baseUrl and tokenRoute, and any proxy " +
      "between you and the service.",
      forbidden("KeyRejected", "token")
    ],
    [
      "The search was rejected (status 403). The token was renewed, but a streamed body can't be sent twice. " +
      "Send the request again.",
      forbidden("BodyNotReplayable")
    ],
    [
      "The token exchange returned no customer identifier (customer_id). Set serviceId to the one on your product dashboard.",
      new MissingServiceId({ operation: "token" })
    ],
    [
      "The search was not sent, to stay within the rate limit. Try again later.",
      new TooManyRequests({ operation: "search" })
    ],
    [
      "The search exceeded the rate limit of the service (status 429). Try again in 30 s.",
      new TooManyRequests({ operation: "search", status: 429, retryAfter: 30 })
    ],
    [
      "The search timed out. Check for a firewall or proxy that drops the connection, or raise tokenTimeout or requestTimeout.",
      cut("Timeout")
    ],
    [
      "The search was cut off before the response was complete (UND_ERR_SOCKET). Try again.",
      cut("Aborted", "UND_ERR_SOCKET")
    ],
    ["The search failed because the client is closed. Create a new client.", cut("Closed")],
    [
      "The search got a response that is not valid HTTP, or whose headers are too large (HPE_HEADER_OVERFLOW). " +
      "Check the base URL and your proxy.",
      cut("Connection", "HPE_HEADER_OVERFLOW")
    ],
    [
      "The search could not reach the service. Check the base URL, the network and your proxy. In a test, also check any " +
      "fetch mock or HttpClient wrapper.",
      cut("Connection")
    ],
    [
      "The search could not reach the service (BAD_PORT). fetch blocks the port in baseUrl, as browsers do: use another " +
      "port, or another client such as UndiciClient.",
      cut("Connection", "BAD_PORT")
    ],
    [
      "The search got an unexpected status code (status 404). Check the request, its path and baseUrl.",
      unexpected({ reason: "Status", status: 404 })
    ],
    [
      "The search got a redirect, which is never followed (status 302). Check baseUrl.",
      unexpected({ reason: "Redirect", status: 302 })
    ],
    [
      "The search got a response body that is too large (status 200). Raise maxResponseBytes.",
      unexpected({ reason: "TooLarge" })
    ],
    [
      "The search got a response body that is empty or not JSON (status 200). Check baseUrl: a proxy or login page may be responding instead.",
      unexpected({ reason: "NotJson" })
    ],
    [
      "The search got JSON that doesn't match the schema (status 200). Check the schema. " +
      "The error's issue field describes the mismatch, redacted.",
      unexpected({ issue })
    ],
    [
      "The token exchange got JSON with a missing or invalid access_token (status 200). " +
      "Check baseUrl and tokenRoute: a proxy may be responding instead.",
      unexpected({ operation: "token", field: "access_token" })
    ],
    [
      "The token exchange got JSON with a missing, invalid or expired expires_in (status 200). " +
      "Check baseUrl and tokenRoute: a proxy may be responding instead.",
      unexpected({ operation: "token", field: "expires_in" })
    ],
    [
      "The license key is not available (the vault is sealed). Check where your application reads it from.",
      new LicenseKeyUnavailable({ detail: "the vault is sealed" })
    ],
    [
      "The setting baseUrl (NUTRITION_ADVISOR_BASE_URL) is not set.",
      new ConfigurationError({ field: "baseUrl", rule: "is not set", variable: "NUTRITION_ADVISOR_BASE_URL" })
    ]
  ])("it is exactly: %s", (message, error) => {
    expect(error.message).toBe(message)
  })
})

const passing = new Set(["ServerError", "TransportError", "TooManyRequests"])

const { isNutritionAdvisorError, isTransient, statusOf } = NutritionAdvisorError

describe("guards of errors", () => {
  each("isNutritionAdvisorError and isTransient return the right result for %s", (tag, error) => {
    expect(isNutritionAdvisorError(error)).toBe(tag !== "ConfigurationError")
    expect(error instanceof NutritionAdvisorError.NutritionAdvisorError).toBe(tag !== "ConfigurationError")
    expect(isTransient(error)).toBe(passing.has(tag))
  })

  it("isTransient: a TransportError is transient unless the client is closed", () => {
    const { literals } = TransportError.fields.reason
    const transient = literals.filter((reason) => isTransient(new TransportError({ operation: "search", reason })))
    expect(transient).toEqual(["Timeout", "Connection", "Aborted"])
  })

  const withCode = (code: string) => new TransportError({ operation: "search", reason: "Connection", code })

  it.each([
    "BAD_PORT",
    "CERT_HAS_EXPIRED",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
    "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE",
    "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
    "ERR_SSL_UNSAFE_LEGACY_RENEGOTIATION_DISABLED",
    "ERR_ACCESS_DENIED",
    "ERR_INVALID_URL",
    "ERR_INVALID_PROTOCOL",
    "ERR_INVALID_CHAR",
    "ERR_UNESCAPED_CHARACTERS",
    "UND_ERR_INVALID_ARG",
    "UND_ERR_NOT_SUPPORTED",
    "UND_ERR_DESTROYED"
  ])(
    "isTransient: a TransportError with %s is permanent, and its message has its own advice",
    (code) => {
      expect(isTransient(withCode(code))).toBe(false)
      expect(withCode(code).message).not.toContain("fetch mock")
    }
  )

  it.each([
    "ECONNREFUSED",
    "ECONNRESET",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ETIMEDOUT",
    "EPROTO",
    "UND_ERR_SOCKET",
    "UND_ERR_ABORTED",
    "UND_ERR_CONNECT_TIMEOUT",
    "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC",
    "ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR"
  ])("isTransient: a TransportError with %s is transient", (code) => {
    expect(isTransient(withCode(code))).toBe(true)
  })

  it("isTransient: ops/alerts.yml has one alert for transient errors and defects, and one for the others", async () => {
    const rules = await readFile(new URL("../../ops/alerts.yml", import.meta.url), "utf8")
    const lists = Array.from(rules.matchAll(/\berror[!=]~"(.*?)"/g), ([, tags = ""]) => tags.split("|"))
    expect(lists).toEqual([["Defect", ...passing].sort(), ["Defect", ...passing].sort()])
  })

  it("guards reject errors of other packages, whatever their tag", () => {
    const foreign = Object.assign(new Error("no answer"), { _tag: "TransportError", operation: "search" })
    const values = [foreign, undefined, null, "TransportError"]
    expect(values.filter((value) => isNutritionAdvisorError(value) || isTransient(value))).toEqual([])
  })

  it("guards accept errors from another copy of the package, unlike instanceof", async () => {
    const path = "../../src/NutritionAdvisorError.js?copy"
    const copy: typeof NutritionAdvisorError = await import(/* @vite-ignore */ path)
    expect(copy.BadRequest).not.toBe(BadRequest)
    for (const [error] of all) {
      const other = Schema.decodeUnknownSync(Schema.Union(copy.NutritionAdvisorError, copy.ConfigurationError))(
        JSON.parse(JSON.stringify(error))
      )
      expect(isNutritionAdvisorError(other)).toBe(error._tag !== "ConfigurationError")
      expect(isTransient(other)).toBe(passing.has(error._tag))
      expect(copy.isTransient(error)).toBe(passing.has(error._tag))
      expect(other instanceof error.constructor).toBe(false)
      expect(error instanceof error.constructor).toBe(true)
    }
    const foreign: NutritionAdvisorError.NutritionAdvisorError = new copy.MissingServiceId({ operation: "token" })
    expect(statusOf(foreign)).toBe(503)
    const caught = Effect.catchTag(Effect.fail(foreign), "MissingServiceId", () => Effect.succeed("caught"))
    expect(Effect.runSync(caught)).toBe("caught")
  })
})
