import type { HttpClient } from "@effect/platform"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { type ConfigError, Effect, FastCheck, type Layer, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, type TokenProvider } from "effect-nutrition-advisor"

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

const AnyError = Schema.Union(
  BadRequest,
  ServerError,
  Forbidden,
  MissingServiceId,
  TooManyRequests,
  TransportError,
  UnexpectedResponse,
  LicenseKeyUnavailable,
  ConfigurationError
)

type AnyError = typeof AnyError.Type

const fields: ReadonlyArray<readonly [string, AnyError, Record<string, unknown>]> = [
  ["BadRequest", new BadRequest({ operation: "search", status: 400, detail: "no term" }), {
    operation: "search",
    status: 400,
    detail: "no term"
  }],
  ["BadRequest that was not sent", new BadRequest({ operation: "request" }), { operation: "request" }],
  ["ServerError", new ServerError({ operation: "token", status: 503, retryAfter: 2.5 }), {
    operation: "token",
    status: 503,
    retryAfter: 2.5
  }],
  ["Forbidden", new Forbidden({ operation: "search", status: 403, reason: "RejectedAgain" }), {
    operation: "search",
    status: 403,
    reason: "RejectedAgain"
  }],
  ["MissingServiceId", new MissingServiceId({ operation: "token" }), { operation: "token" }],
  ["TooManyRequests", new TooManyRequests({ operation: "request", retryAfter: 30 }), {
    operation: "request",
    retryAfter: 30
  }],
  ["TransportError", new TransportError({ operation: "search", reason: "Aborted" }), {
    operation: "search",
    reason: "Aborted"
  }],
  ["UnexpectedResponse", new UnexpectedResponse({ operation: "search", status: 302, reason: "Redirect" }), {
    operation: "search",
    status: 302,
    reason: "Redirect"
  }],
  ["LicenseKeyUnavailable", new LicenseKeyUnavailable({ detail: "the vault is sealed" }), {
    operation: "token",
    detail: "the vault is sealed"
  }],
  ["LicenseKeyUnavailable without detail", new LicenseKeyUnavailable({}), { operation: "token" }],
  ["ConfigurationError", new ConfigurationError({ field: "baseUrl" }), { field: "baseUrl" }]
]

const operations = ["token", "search", "request"] as const

const settings = [
  "baseUrl",
  "licenseKey",
  "tokenRoute",
  "serviceId",
  "serviceIdHeader",
  "rejectedStatuses",
  "tokenTimeout",
  "requestTimeout",
  "maxResponseBytes",
  "environment",
  "refresh.window"
]

const everyError: ReadonlyArray<AnyError> = [
  ...operations.flatMap((operation) => [
    new BadRequest({ operation }),
    new BadRequest({ operation, status: 400 }),
    new BadRequest({ operation, status: 400, detail: "no term" }),
    new ServerError({ operation, status: 500 }),
    new ServerError({ operation, status: 503, retryAfter: 0 }),
    new ServerError({ operation, status: 503, retryAfter: 1.5 }),
    ...(["RejectedAgain", "TokenUnchanged", "CoolingDown", "KeyRejected", "BodyNotReplayable"] as const).map((reason) =>
      new Forbidden({ operation, status: 403, reason })
    ),
    new MissingServiceId({ operation }),
    new TooManyRequests({ operation }),
    new TooManyRequests({ operation, retryAfter: 60 }),
    ...(["Timeout", "Connection", "Aborted"] as const).map((reason) => new TransportError({ operation, reason })),
    ...(["Status", "Redirect", "TooLarge", "NotJson", "Schema"] as const).map((reason) =>
      new UnexpectedResponse({ operation, status: 418, reason })
    ),
    new LicenseKeyUnavailable({ operation }),
    new LicenseKeyUnavailable({ operation, detail: "the vault is sealed" })
  ]),
  ...settings.map((field) => new ConfigurationError({ field }))
]

describe("fields", () => {
  it.each(fields)("are exactly these for %s", (_, error, expected) => {
    expect(Schema.encodeSync(AnyError)(error)).toStrictEqual({ _tag: error._tag, ...expected })
  })

  it.each(fields)("survive JSON for %s", (_, error) => {
    const json = JSON.stringify(Schema.encodeSync(AnyError)(error))
    expect(Schema.decodeUnknownSync(AnyError)(JSON.parse(json))).toEqual(error)
  })

  it.each(fields)("come back from JSON as an instance of the same class for %s", (_, error) => {
    const json = JSON.stringify(Schema.encodeSync(AnyError)(error))
    expect(Schema.decodeUnknownSync(AnyError)(JSON.parse(json)).constructor).toBe(error.constructor)
  })

  it.prop("survive JSON for any error", [AnyError], ([error]) => {
    const encoded = Schema.encodeSync(AnyError)(error)
    const hasOddNumber = Object.values(encoded).some((value) => typeof value === "number" && !Number.isFinite(value))
    FastCheck.pre(!hasOddNumber)
    const json = JSON.stringify(encoded)
    expect(JSON.stringify(Schema.encodeSync(AnyError)(Schema.decodeUnknownSync(AnyError)(JSON.parse(json))))).toBe(json)
  })

  it.each(fields)("leave no room for a cause in %s", (_, error) => {
    expect(error.cause).toBeUndefined()
  })
})

describe("message", () => {
  it.each(everyError.map((error) => [error.message]))("stays on one line: %s", (message) => {
    expect(message).toMatch(/^[A-Z][^\r\n]*[.)]$/)
  })

  it.each(everyError.map((error) => [error.message]))("names no missing value: %s", (message) => {
    expect(message).not.toMatch(/undefined|null|NaN|Infinity|\[object/)
  })

  it.each(everyError.map((error) => [error.message]))("doubles no space and no full stop: %s", (message) => {
    expect(message).not.toMatch(/ {2}|\.\.| \./)
  })

  it("names the status of an answer", () => {
    expect(new UnexpectedResponse({ operation: "search", status: 418, reason: "Status" }).message).toContain("418")
  })

  it("names the seconds of Retry-After, rounded up", () => {
    expect(new TooManyRequests({ operation: "search", retryAfter: 1.2 }).message).toContain("2 s")
  })

  it.each(settings)("names the setting %s", (field) => {
    expect(new ConfigurationError({ field }).message).toContain(field)
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

  it("name exactly the errors of a search", () => {
    expectTypeOf<Effect.Effect.Error<typeof search>>().toEqualTypeOf<NutritionAdvisorError.NutritionAdvisorError>()
  })

  it("name exactly the errors of the authorized client", () => {
    expectTypeOf<NutritionAdvisor.Service["httpClient"]>().toEqualTypeOf<
      HttpClient.HttpClient.With<NutritionAdvisorError.NutritionAdvisorError>
    >()
  })

  it("add nothing to the errors of searchAs but what the schema needs", () => {
    const searchAs = NutritionAdvisor.searchAs(Schema.Struct({ total: Schema.NumberFromString }))("apple")
    expectTypeOf(searchAs).toEqualTypeOf<
      Effect.Effect<
        { readonly total: number },
        NutritionAdvisorError.NutritionAdvisorError,
        NutritionAdvisor.NutritionAdvisor
      >
    >()
  })

  it("ask for nothing but an HttpClient in layerConfig", () => {
    expectTypeOf<Layer.Layer.Context<ReturnType<typeof NutritionAdvisor.layerConfig>>>().toEqualTypeOf<
      HttpClient.HttpClient
    >()
  })

  it("end the building of layerConfig in ConfigError or ConfigurationError", () => {
    expectTypeOf<Layer.Layer.Error<ReturnType<typeof NutritionAdvisor.layerConfig>>>().toEqualTypeOf<
      ConfigError.ConfigError | NutritionAdvisorError.ConfigurationError
    >()
  })

  it("ask for nothing but an HttpClient in layer", () => {
    expectTypeOf<ReturnType<typeof NutritionAdvisor.layer>>().toEqualTypeOf<
      Layer.Layer<
        NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider,
        NutritionAdvisorError.ConfigurationError,
        HttpClient.HttpClient
      >
    >()
  })

  it("ask for a TokenProvider in layerWithoutTokens", () => {
    expectTypeOf<ReturnType<typeof NutritionAdvisor.layerWithoutTokens>>().toEqualTypeOf<
      Layer.Layer<
        NutritionAdvisor.NutritionAdvisor,
        NutritionAdvisorError.ConfigurationError,
        HttpClient.HttpClient | TokenProvider.TokenProvider
      >
    >()
  })
})
