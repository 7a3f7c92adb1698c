import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Effect, JSONSchema, Redacted, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"

const {
  BadRequest,
  ConfigurationError,
  Forbidden,
  LicenseKeyUnavailable,
  MissingServiceId,
  ServerError,
  TooManyRequests,
  TransportCode,
  TransportError,
  UnexpectedResponse
} = NutritionAdvisorError

const AnyError = Schema.Union(NutritionAdvisorError.NutritionAdvisorError, ConfigurationError)

type AnyError = typeof AnyError.Type

type Row = readonly [title: string, error: AnyError, fields: object]

/** An error of these fields. */
const row = <Fields extends object>(title: string, Failure: new(fields: Fields) => AnyError, fields: Fields): Row => [
  title,
  new Failure(fields),
  fields
]

const fields: ReadonlyArray<Row> = [
  row("BadRequest", BadRequest, { operation: "search", status: 400, detail: "no term" }),
  row("BadRequest that was not sent", BadRequest, { operation: "request" }),
  row("ServerError", ServerError, { operation: "token", status: 503, retryAfter: 2.5 }),
  row("Forbidden", Forbidden, { operation: "search", status: 403, reason: "RejectedAgain" }),
  row("MissingServiceId", MissingServiceId, { operation: "token" }),
  row("TooManyRequests", TooManyRequests, { operation: "request", retryAfter: 30 }),
  row("TooManyRequests of an answer", TooManyRequests, { operation: "request", status: 429 }),
  row("TransportError", TransportError, { operation: "search", reason: "Aborted" }),
  row("TransportError with a code", TransportError, { operation: "search", reason: "Connection", code: "ENOTFOUND" }),
  row("UnexpectedResponse", UnexpectedResponse, { operation: "search", status: 302, reason: "Redirect" }),
  row("ConfigurationError", ConfigurationError, { field: "baseUrl" }),
  ["LicenseKeyUnavailable", new LicenseKeyUnavailable({ detail: "sealed" }), { operation: "token", detail: "sealed" }],
  ["LicenseKeyUnavailable without detail", new LicenseKeyUnavailable({}), { operation: "token" }]
]

const body = Redacted.make("the service's own words")

const operations = ["token", "search", "request"] as const

const everyError: ReadonlyArray<AnyError> = [
  ...operations.flatMap((operation) => [
    new BadRequest({ operation }),
    new BadRequest({ operation, status: 400 }),
    new BadRequest({ operation, status: 400, detail: "no term" }),
    new BadRequest({ operation, status: 400, body }),
    new ServerError({ operation, status: 500 }),
    new ServerError({ operation, status: 503, retryAfter: 0 }),
    new ServerError({ operation, status: 503, retryAfter: 1.5 }),
    ...(["RejectedAgain", "TokenUnchanged", "CoolingDown", "KeyRejected", "BodyNotReplayable"] as const).map((reason) =>
      new Forbidden({ operation, status: 403, reason })
    ),
    new MissingServiceId({ operation }),
    new TooManyRequests({ operation }),
    new TooManyRequests({ operation, retryAfter: 60 }),
    new TooManyRequests({ operation, status: 429, retryAfter: 60, body }),
    ...(["Timeout", "Connection", "Aborted"] as const).flatMap((reason) =>
      [undefined, "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "CERT_HAS_EXPIRED", "UND_ERR_SOCKET"].map((code) =>
        new TransportError({
          operation,
          reason,
          code: Schema.decodeUnknownSync(Schema.UndefinedOr(TransportCode))(code)
        })
      )
    ),
    ...(["Status", "Redirect", "TooLarge", "NotJson", "Schema"] as const).map((reason) =>
      new UnexpectedResponse({ operation, status: 418, reason })
    ),
    new UnexpectedResponse({ operation, status: 418, reason: "Status", body }),
    new LicenseKeyUnavailable({ operation }),
    new LicenseKeyUnavailable({ operation, detail: "the vault is sealed" })
  ]),
  new ConfigurationError({ field: "refresh.window" })
]

describe("fields", () => {
  it.each(fields)("are exactly these for %s", (_, error, expected) => {
    expect(Schema.encodeSync(AnyError)(error)).toStrictEqual({ _tag: error._tag, ...expected })
  })

  it.each(fields)("come back from JSON as they were, as an instance of the same class: %s", (_, error) => {
    const json = JSON.stringify(Schema.encodeSync(AnyError)(error))
    const decoded = Schema.decodeUnknownSync(AnyError)(JSON.parse(json))
    expect(decoded).toEqual(error)
    expect(decoded.constructor).toBe(error.constructor)
  })
})

describe("errors", () => {
  it("are all that a call can end in", () => {
    expectTypeOf<InstanceType<(typeof NutritionAdvisorError.errors)[number]>>().toEqualTypeOf<
      NutritionAdvisorError.NutritionAdvisorError
    >()
  })

  it("have rows of their own in this file", () => {
    const tags = [...NutritionAdvisorError.errors, ConfigurationError].map(({ _tag }) => _tag).sort()
    expect([...new Set(fields.map(([, { _tag }]) => _tag))].sort()).toEqual(tags)
    expect([...new Set(everyError.map(({ _tag }) => _tag))].sort()).toEqual(tags)
  })

  it("have one status each with which a backend passes them on", () => {
    const tags = NutritionAdvisorError.errors.map((error) => error._tag)
    expect(Object.keys(NutritionAdvisorError.statuses).sort()).toEqual([...tags].sort())
    const { statusOf, statuses } = NutritionAdvisorError
    expect(tags.map((_tag) => statusOf({ _tag, operation: "search" }))).toEqual(tags.map((tag) => statuses[tag]))
    expect(tags.map((_tag) => statusOf({ _tag, operation: "token" }))).toEqual(tags.map(() => 503))
  })

  it.each(everyError.map((error) => [error._tag, error] as const))("are transient by their tag: %s", (tag, error) => {
    const expected = tag === "ServerError" || tag === "TransportError" || tag === "TooManyRequests"
    expect(NutritionAdvisorError.isTransient(error)).toBe(expected)
  })

  it.each(everyError.flatMap((error) => error._tag === "ConfigurationError" ? [] : [[error._tag, error] as const]))(
    "are the caller's, the operator's or passing, and what passes is transient: %s",
    (tag, error) => {
      const kind = NutritionAdvisorError.kindOf(error)
      expect(kind === "Caller").toBe(tag === "BadRequest" && error.operation !== "token")
      expect(kind === "Passing").toBe(NutritionAdvisorError.isTransient(error))
    }
  )

  it.each([undefined, null, "ServerError", { _tag: "ServerError" }])("are no values of others: %j", (value) => {
    expect(NutritionAdvisorError.isTransient(value)).toBe(false)
  })
})

describe("body", () => {
  const error = new BadRequest({ operation: "search", status: 400, body })

  it("is what the service said, for who unwraps it", () => {
    expect(Redacted.value(error.body ?? Redacted.make(""))).toBe("the service's own words")
  })

  it("is left out by encoding", () => {
    expect(Schema.encodeSync(AnyError)(error)).toStrictEqual({ _tag: "BadRequest", operation: "search", status: 400 })
  })

  it("is passed over by decoding, redacted as JSON.stringify writes it", () => {
    expect(Schema.decodeUnknownSync(AnyError)(JSON.parse(JSON.stringify(error)))).toEqual(
      new BadRequest({ operation: "search", status: 400 })
    )
  })

  it("leaves the errors a JSON Schema, for who declares them in an API of their own", () => {
    expect(JSON.stringify(JSONSchema.make(AnyError))).toContain("BadRequest")
  })

  it.each(everyError.flatMap((error) => "body" in error ? [[error.message]] : []))(
    "shows nothing of itself in the message: %s",
    (message) => {
      expect(message).not.toContain("own words")
    }
  )
})

describe("message", () => {
  const messages = everyError.map((error) => [error.message])

  it.each(messages)(
    "stays on one line, names no missing value, and doubles no space and no full stop: %s",
    (message) => {
      expect(message).toMatch(/^[A-Z][^\r\n]*[.)]$/)
      expect(message).not.toMatch(/undefined|null|NaN|Infinity|\[object/)
      expect(message).not.toMatch(/ {2}|\.\.| \./)
    }
  )

  it("names the status of an answer", () => {
    expect(new UnexpectedResponse({ operation: "search", status: 418, reason: "Status" }).message).toContain("418")
  })

  it("names the seconds of Retry-After, rounded up", () => {
    expect(new TooManyRequests({ operation: "search", retryAfter: 1.2 }).message).toContain("2 s")
  })

  it("says of a call that was held back that it was not sent", () => {
    expect(new TooManyRequests({ operation: "search", retryAfter: 3 }).message).toContain("held back and not sent")
    expect(new TooManyRequests({ operation: "search", status: 429 }).message).not.toContain("not sent")
  })

  it.each(
    [
      ["ECONNREFUSED", "Check that the service is listening at the base URL."],
      ["ENOTFOUND", "Check the base URL and the DNS."],
      ["EAI_AGAIN", "Check the DNS"],
      ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate is not trusted"],
      ["CERT_HAS_EXPIRED", "its certificate is not valid today"],
      ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for another host name"],
      ["ERR_SSL_WRONG_VERSION_NUMBER", "Check the scheme and the port of the base URL."]
    ] as const
  )("names %s and what to check", (code, advice) => {
    const { message } = new TransportError({ operation: "search", reason: "Connection", code })
    expect(message).toContain(`(${code})`)
    expect(message).toContain(advice)
  })

  it("points to the license key where the token route refused it", () => {
    expect(new Forbidden({ operation: "token", status: 401, reason: "KeyRejected" }).message).toContain("license key")
  })
})

describe("types", () => {
  const search = NutritionAdvisor.search("apple")

  const handled = search.pipe(Effect.catchTags({
    BadRequest: () => Effect.void,
    ServerError: () => Effect.void,
    Forbidden: () => Effect.void,
    MissingServiceId: () => Effect.void,
    TooManyRequests: () => Effect.void,
    TransportError: () => Effect.void,
    UnexpectedResponse: () => Effect.void,
    LicenseKeyUnavailable: () => Effect.void
  }))

  it("leave never where catchTags names every error", () => {
    expectTypeOf(handled).toEqualTypeOf<Effect.Effect<unknown, never, NutritionAdvisor.NutritionAdvisor>>()
  })
})
