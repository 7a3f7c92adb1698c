import { readFile } from "node:fs/promises"
import { inspect } from "node:util"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Effect, JSONSchema, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { body, completeErrors, errors, issue } from "../support/tables/errors.js"

const {
  BadRequest,
  ConfigurationError,
  LicenseKeyUnavailable,
  TooManyRequests,
  TransportError,
  UnexpectedResponse
} = NutritionAdvisorError

const AnyError = Schema.Union(NutritionAdvisorError.NutritionAdvisorError, ConfigurationError)

type AnyError = typeof AnyError.Type

const each = it.each(completeErrors.map(([error, encoded]) => [error._tag, error, encoded] as const))

const messages = new Set(
  [
    ...errors,
    ...completeErrors.map(([error]) => error),
    new ConfigurationError({ field: "refresh.window" })
  ].map(({ message }) => message)
)

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

  each("JSON.stringify passes %s to its replacer as an Error, as a logger expects", (_, error) => {
    const replacer = (_: string, value: unknown) => value instanceof Error ? value.message : value
    expect(JSON.stringify(error, replacer)).toBe(JSON.stringify(error.message))
    // The JSON logger of Effect leaves out an object that it has already written.
    expect(error.toJSON()).not.toBe(error)
    expect(error.toJSON(), "Vitest calls toJSON until there is none").toHaveProperty("toJSON", undefined)
  })

  each("the message of %s can be changed without affecting its other fields", (_, error) => {
    const shown = () => [error.stack, JSON.stringify(error), Object.keys(error), inspect(error)]
    const [message, before] = [error.message, shown()]
    error.message = `Foods: ${error.message}`
    expect(error.message).toBe(`Foods: ${message}`)
    expect(shown()).toEqual(before)
  })

  each("mocks in Jest and Vitest can read the message of the prototype of %s", (_, error) => {
    expect(Object.getPrototypeOf(error)).toHaveProperty("message", "")
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
  it.each([...messages])("each message is one line of whole sentences: %s", (message) => {
    expect(message).toMatch(/^[A-Z][^\r\n]*[.)]$/)
    expect(message).toMatch(/\. [A-Z]|^The setting/)
    expect(message).not.toMatch(/undefined|null|NaN|\[object| {2}|\.\.| \.|hidden/)
  })

  it.each<readonly [message: string, error: AnyError]>([
    [
      "The search was rejected with status 400. Correct the request. If every request is rejected, check serviceId. " +
      "The error's body field contains the response body, redacted.",
      new BadRequest({ operation: "search", status: 400, body })
    ],
    [
      "The search was not sent, to stay within the rate limit. Try again later.",
      new TooManyRequests({ operation: "search" })
    ],
    [
      "The search exceeded the service's rate limit (status 429). Try again in 30 s.",
      new TooManyRequests({ operation: "search", status: 429, retryAfter: 30 })
    ],
    [
      "The search got a response that is not valid HTTP, has headers that are too large, or can't be decompressed " +
      "(HPE_HEADER_OVERFLOW). Check the base URL and your proxy.",
      new TransportError({ operation: "search", reason: "Connection", code: "HPE_HEADER_OVERFLOW" })
    ],
    [
      "The search timed out. Check for a firewall or proxy that drops the connection, or raise requestTimeout or " +
      "the call's timeout.",
      new TransportError({ operation: "search", reason: "Timeout" })
    ],
    [
      "The search got JSON that doesn't match the schema (status 200). Check the schema. " +
      "The error's issue field describes the mismatch, redacted.",
      new UnexpectedResponse({ operation: "search", status: 200, reason: "Schema", issue })
    ],
    [
      "The license key is not available (the vault is sealed). Check where it is read from.",
      new LicenseKeyUnavailable({ detail: "the vault is sealed" })
    ]
  ])("a message contains the fields of its error: %s", (message, error) => {
    expect(error.message).toBe(message)
  })
})

const transientTags = new Set<string>(["ServerError", "TransportError", "TooManyRequests"])

const { isNutritionAdvisorError, isTransient, statusOf } = NutritionAdvisorError
const alerts = await readFile(new URL("../../ops/alerts.yml", import.meta.url), "utf8")

type Tag = NutritionAdvisorError.NutritionAdvisorError["_tag"]

const handleAll = (
  search: ReturnType<typeof NutritionAdvisor.search>,
  handlers: { readonly [Name in Tag]: () => Effect.Effect<void> }
) => Effect.catchTags(search, handlers)

expectTypeOf(handleAll).returns.toEqualTypeOf<Effect.Effect<unknown, never, NutritionAdvisor.NutritionAdvisor>>()
expectTypeOf<"ConfigurationError">().not.toExtend<Tag>()
expectTypeOf<NutritionAdvisorError.TransportError>().not.toHaveProperty("status")

describe("guards of errors", () => {
  each("isNutritionAdvisorError and isTransient return the right result for %s", (tag, error) => {
    const caught: unknown = error
    expect(isNutritionAdvisorError(caught)).toBe(tag !== "ConfigurationError")
    expect(caught instanceof NutritionAdvisorError.NutritionAdvisorError).toBe(tag !== "ConfigurationError")
    expect(isTransient(caught)).toBe(transientTags.has(tag))
    if (isTransient(caught)) expectTypeOf(caught.operation).toEqualTypeOf<NutritionAdvisorError.Operation>()
    if (caught instanceof NutritionAdvisorError.NutritionAdvisorError) {
      expectTypeOf(caught).toEqualTypeOf<NutritionAdvisorError.NutritionAdvisorError>()
    }
  })

  it("isTransient: a TransportError is transient unless the client is closed", () => {
    const { literals } = TransportError.fields.reason
    const transient = literals.filter((reason) => isTransient(new TransportError({ operation: "search", reason })))
    expect(transient).toEqual(["Timeout", "Connection", "Aborted"])
    const handled = Effect.catchIf(NutritionAdvisor.search("oats"), isTransient, () => Effect.void)
    expectTypeOf(handled).toEqualTypeOf<
      Effect.Effect<
        unknown,
        Exclude<NutritionAdvisorError.NutritionAdvisorError, { _tag: "ServerError" | "TooManyRequests" }>,
        NutritionAdvisor.NutritionAdvisor
      >
    >()
  })

  const withCode = (code: string) => new TransportError({ operation: "search", reason: "Connection", code })

  it.each([
    ["permanent", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["permanent", "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["permanent", "CERT_HAS_EXPIRED"],
    ["permanent", "ERR_SSL_WRONG_VERSION_NUMBER"],
    ["permanent", "ERR_SSL_UNSUPPORTED_PROTOCOL"],
    ["permanent", "ERR_SSL_NO_PROTOCOLS_AVAILABLE"],
    ["permanent", "ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE"],
    ["permanent", "ERR_OSSL_X509_KEY_VALUES_MISMATCH"],
    ["permanent", "ERR_CRYPTO_UNSUPPORTED_OPERATION"],
    ["permanent", "ERR_NO_FETCH"],
    ["permanent", "BAD_METHOD"],
    ["permanent", "ERR_FETCH_RESPONSE"],
    ["permanent", "ERR_ACCESS_DENIED"],
    ["permanent", "UND_ERR_DESTROYED"],
    ["permanent", "UND_ERR_PRX_TLS"],
    ["permanent", "ERR_INVALID_URL"],
    ["transient", "ECONNREFUSED"],
    ["transient", "EMFILE"],
    ["transient", "ENOTFOUND"],
    ["transient", "EAI_AGAIN"],
    ["transient", "UND_ERR_ABORTED"],
    ["transient", "UND_ERR_PRX_CONN"],
    ["transient", "ETIMEDOUT"],
    ["transient", "EPROTO"]
  ])("isTransient: a %s TransportError has its own advice in its message: %s", (kind, code) => {
    expect(isTransient(withCode(code))).toBe(kind === "transient")
    expect(withCode(code).message).not.toContain("fetch mock")
  })

  it.each([
    "ECONNRESET",
    "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC",
    "ERR_SSL_PROTOCOL_IS_SHUTDOWN",
    "ERR_TLS_HANDSHAKE_TIMEOUT"
  ])("isTransient: a TransportError with %s, which is in no table, is transient", (code) => {
    expect(isTransient(withCode(code))).toBe(true)
  })

  it("isTransient: ops/alerts.yml has one alert for transient errors and defects, and one for the others", () => {
    const lists = Array.from(alerts.matchAll(/\berror[!=]~"(.*?)"/g), ([, tags = ""]) => tags.split("|"))
    expect(lists).toEqual([["Defect", ...transientTags].sort(), ["Defect", ...transientTags].sort()])
  })

  it("ForbiddenReason: ops/alerts.yml has an alert, and says what to do, for each reason that an operator can act on", () => {
    const withoutAlert = ["KeyRejected", "BodyNotReplayable"]
    const reasons = NutritionAdvisorError.ForbiddenReason.literals.filter((reason) => !withoutAlert.includes(reason))
      .sort()
    expect(/rejections_total\{outcome=~"(.*?)"/.exec(alerts)?.[1]?.split("|").sort()).toEqual(reasons)
    expect(reasons.filter((reason) => !new RegExp(`\\d\\. ${reason}: `).test(alerts))).toEqual([])
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
    for (const [error] of completeErrors) {
      const other = Schema.decodeUnknownSync(Schema.Union(copy.NutritionAdvisorError, copy.ConfigurationError))(
        JSON.parse(JSON.stringify(error))
      )
      expect(isNutritionAdvisorError(other)).toBe(error._tag !== "ConfigurationError")
      expect(isTransient(other)).toBe(transientTags.has(error._tag))
      expect(copy.isTransient(error)).toBe(transientTags.has(error._tag))
      expect(other instanceof error.constructor).toBe(false)
      expect(error instanceof error.constructor).toBe(true)
    }
    const foreign: NutritionAdvisorError.NutritionAdvisorError = new copy.MissingServiceId({ operation: "token" })
    expect(statusOf(foreign)).toBe(503)
    const caught = Effect.catchTag(Effect.fail(foreign), "MissingServiceId", () => Effect.succeed("caught"))
    expect(Effect.runSync(caught)).toBe("caught")
  })
})
