import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Config, Effect, Layer, Redacted, Schema } from "effect"
import {
  AccessToken,
  NutritionAdvisor,
  NutritionAdvisorError,
  RefreshPolicy,
  RequestRetry,
  SearchCache,
  SharedTokenCache,
  SharedTokenIssuer,
  Throttle,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { NutritionAdvisorTest, type Simulator } from "effect-nutrition-advisor/testing"
import { UndiciClient } from "effect-nutrition-advisor/undici"

const baseUrl = "https://nutrition.example"

const licenseKey = Redacted.make("key-from-the-dashboard")

const options = { baseUrl, licenseKey }

const complete = NutritionAdvisor.layer(options).pipe(Layer.provide(FetchHttpClient.layer))

/** The bodies are compiled and never run: what they prove is said by the compiler alone. */
const compiles = (_: () => unknown) => {}

describe("a program", () => {
  const search = NutritionAdvisor.search("apple")

  it("runs without complaint where everything is provided", () => {
    compiles(() => Effect.runPromise(Effect.provide(search, complete)))
  })

  it("can't search without the service, nor the service without an HttpClient", () => {
    // @ts-expect-error NutritionAdvisor is missing in the context
    compiles(() => Effect.runPromise(search))
    // @ts-expect-error NutritionAdvisor is missing in the context
    compiles(() => Effect.runPromise(NutritionAdvisor.searchAs(Schema.Struct({}))("apple")))
    // @ts-expect-error the HttpClient of the layer is missing
    compiles(() => Effect.runPromise(Effect.provide(search, NutritionAdvisor.layer(options))))
  })

  it("can't share a rate, or put a layer around a client, without what is shared or is within", () => {
    const shared = Throttle.layerShared({}).pipe(Layer.provide(complete))
    // @ts-expect-error the RateLimiter of the layer is missing
    compiles(() => Effect.runPromise(Effect.provide(search, shared)))
    // @ts-expect-error the NutritionAdvisor around which it stands is missing
    compiles(() => Effect.runPromise(Effect.provide(search, SearchCache.layerCoalescing)))
  })

  it("can't share a token without a cache, or without an issuer to share", () => {
    const shared = NutritionAdvisor.layerShared(options).pipe(Layer.provide(FetchHttpClient.layer))
    // @ts-expect-error the SharedTokenCache of the layer is missing
    compiles(() => Effect.runPromise(Effect.provide(search, shared)))
    const withoutCache = SharedTokenIssuer.layer(options).pipe(
      Layer.provide(TokenIssuer.layer(options)),
      Layer.provide(FetchHttpClient.layer)
    )
    // @ts-expect-error the SharedTokenCache of the layer is missing
    compiles((): Layer.Layer<TokenIssuer.TokenIssuer, NutritionAdvisorError.ConfigurationError> => withoutCache)
    const withoutIssuer = SharedTokenIssuer.layer(options).pipe(Layer.provide(SharedTokenCache.layerMemory))
    // @ts-expect-error the TokenIssuer around which it stands is missing
    compiles((): Layer.Layer<TokenIssuer.TokenIssuer, NutritionAdvisorError.ConfigurationError> => withoutIssuer)
  })

  it("can't keep a token without a store, nor leave out the TokenProvider of a service without tokens", () => {
    const provider = TokenProvider.layer().pipe(Layer.provide(TokenIssuer.layer(options)))
    compiles((): Layer.Layer<
      TokenProvider.TokenProvider,
      NutritionAdvisorError.ConfigurationError,
      HttpClient.HttpClient
    > =>
      // @ts-expect-error the TokenStore of the layer is missing
      provider
    )
    const advisor = NutritionAdvisor.layerWithoutTokens(options).pipe(Layer.provide(FetchHttpClient.layer))
    // @ts-expect-error the TokenProvider of the layer is missing
    compiles(() => Effect.runPromise(Effect.provide(search, advisor)))
  })

  it("can't pass over the errors of building the layer", () => {
    // @ts-expect-error a ConfigurationError is left to handle
    compiles((): Layer.Layer<NutritionAdvisor.NutritionAdvisor> => complete)
  })
})

describe("the options", () => {
  it("refuse a license key that is not redacted, in every layer that takes one, or by an effect or a Config", () => {
    const raw = { baseUrl, licenseKey: "key-from-the-dashboard" }
    // @ts-expect-error a license key is Redacted, so that no log can show it
    compiles(() => NutritionAdvisor.layer(raw))
    // @ts-expect-error a license key is Redacted
    compiles(() => NutritionAdvisor.layerShared(raw))
    // @ts-expect-error a license key is Redacted
    compiles(() => NutritionAdvisor.layerWithoutTokens(raw))
    // @ts-expect-error a license key is Redacted
    compiles(() => TokenIssuer.layer(raw))
    // @ts-expect-error a license key is Redacted
    compiles(() => SharedTokenIssuer.layer(raw))
    // @ts-expect-error a license key is Redacted, so that no log can show it
    compiles(() => NutritionAdvisor.layer({ baseUrl, licenseKey: Effect.succeed("key-from-the-dashboard") }))
    const rawConfig = Config.map(Config.string("KEY"), (licenseKey) => ({ baseUrl, licenseKey }))
    // @ts-expect-error a license key is Redacted, also where a Config reads it
    compiles(() => NutritionAdvisor.layerConfig(rawConfig))
  })

  it("refuse an effect of a license key with an error of its own, or that needs a service", () => {
    compiles(() =>
      NutritionAdvisor.layer({
        baseUrl,
        // @ts-expect-error an effect of a license key ends in LicenseKeyUnavailable or not at all
        licenseKey: Effect.fail("the vault is sealed")
      })
    )
    compiles(() =>
      NutritionAdvisor.layer({
        baseUrl,
        // @ts-expect-error an effect of a license key is provided with what it needs before
        licenseKey: Effect.as(TokenStore.TokenStore, licenseKey)
      })
    )
  })

  it("refuse to be left out", () => {
    // @ts-expect-error baseUrl is missing
    compiles(() => NutritionAdvisor.layer({ licenseKey }))
    // @ts-expect-error licenseKey is missing
    compiles(() => NutritionAdvisor.layer({ baseUrl }))
    // @ts-expect-error timeToLive is missing: the terms of use say how long it may be
    compiles(() => SearchCache.layer({}))
    // @ts-expect-error timeToLive is missing
    compiles(() => SearchCache.layer({ maxBytes: 1_000 }))
    // @ts-expect-error the settings are missing
    compiles(() => SearchCache.layer())
    // @ts-expect-error timeToLive may not be undefined
    compiles(() => SearchCache.layer({ timeToLive: undefined }))
  })

  it("refuse a route that the service does not have, or a path without a place for the key", () => {
    // @ts-expect-error the route is spelled advisor-licence
    compiles(() => NutritionAdvisor.layer({ ...options, tokenRoute: "advisor-license" }))
    // @ts-expect-error a path ends with {key}
    compiles(() => NutritionAdvisor.layer({ ...options, tokenRoute: "/v3/token" }))
    // @ts-expect-error a path starts with a slash
    compiles(() => NutritionAdvisor.layer({ ...options, tokenRoute: "v3/token/{key}" }))
  })

  it("refuse a value of another type", () => {
    // @ts-expect-error rejectedStatuses is a list
    compiles(() => NutritionAdvisor.layer({ ...options, rejectedStatuses: 403 }))
    // @ts-expect-error a status is a number
    compiles(() => NutritionAdvisor.layer({ ...options, rejectedStatuses: ["403"] }))
    // @ts-expect-error a duration is spelled "30 seconds"
    compiles(() => NutritionAdvisor.layer({ ...options, requestTimeout: "30s" }))
    // @ts-expect-error a duration is spelled "10 seconds"
    compiles(() => TokenIssuer.layer({ ...options, tokenTimeout: "ten seconds" }))
    // @ts-expect-error layerConfig takes each setting as a Config
    compiles(() => NutritionAdvisor.layerConfig({ baseUrl, licenseKey: Config.redacted("KEY") }))
    // @ts-expect-error a number is no text
    compiles(() => UndiciClient.layer({ connections: "4" }))
    // @ts-expect-error the address may hold a password: it is Redacted
    compiles(() => RedisTokenCache.layer({ url: "redis://user:password@redis.example" }))
    // @ts-expect-error a duration is spelled "5 seconds"
    compiles(() => RequestRetry.layer({ cap: "5s" }))
    // @ts-expect-error what to do is spelled "wait"
    compiles(() => Throttle.layer({ onTooManyRequests: "queue" }))
    // @ts-expect-error a rate has an interval
    compiles(() => Throttle.layer({ rate: { limit: 50 } }))
  })

  it("refuse a field that they do not have", () => {
    // @ts-expect-error the option is spelled licenseKey
    compiles(() => NutritionAdvisor.layer({ ...options, licenceKey: licenseKey }))
    // @ts-expect-error a lease is for shared tokens
    compiles(() => NutritionAdvisor.layer({ ...options, lease: "15 seconds" }))
    // @ts-expect-error the field is spelled background
    compiles(() => NutritionAdvisor.layer({ ...options, refresh: { backgroud: false } }))
    // @ts-expect-error the field is spelled times
    compiles(() => RequestRetry.layer({ retries: 2 }))
    // @ts-expect-error a key is for a rate that is shared
    compiles(() => Throttle.layer({ key: "ours" }))
  })
})

describe("an error", () => {
  const search = NutritionAdvisor.search("apple")

  it("can't be caught by a tag that it can't have", () => {
    // @ts-expect-error the tag is spelled TooManyRequests
    compiles(() => search.pipe(Effect.catchTag("RateLimited", () => Effect.void)))
    // @ts-expect-error a search never ends in ConfigurationError
    compiles(() => search.pipe(Effect.catchTag("ConfigurationError", () => Effect.void)))
  })

  it("has no field of another error", () => {
    // @ts-expect-error a TransportError has no status
    compiles(() => search.pipe(Effect.catchTag("TransportError", ({ status }) => Effect.succeed(status))))
  })

  it("is not gone where only one of them is caught", () => {
    const caught = Effect.catchTag(search, "TooManyRequests", () => Effect.void)
    // @ts-expect-error the other errors are left to handle
    compiles((): Effect.Effect<unknown, never, NutritionAdvisor.NutritionAdvisor> => caught)
  })

  it("takes no reason and no operation that it does not know", () => {
    compiles(() =>
      // @ts-expect-error the reason is spelled RejectedAgain
      new NutritionAdvisorError.Forbidden({ operation: "search", status: 403, reason: "Rejected" })
    )
    // @ts-expect-error the operations are token, search and request
    compiles(() => new NutritionAdvisorError.MissingServiceId({ operation: "exchange" }))
  })
})

describe("a search", () => {
  it("gives nothing to read before it is decoded", () => {
    // @ts-expect-error a payload is unknown: searchAs decodes it
    compiles(() => NutritionAdvisor.search("apple").pipe(Effect.map((payload) => payload.results)))
  })

  it("takes one term, and its schema before its term", () => {
    // @ts-expect-error a term is a string
    compiles(() => NutritionAdvisor.search(["apple", "pear"]))
    // @ts-expect-error a term is needed
    compiles(() => NutritionAdvisor.search())
    // @ts-expect-error searchAs takes the schema first
    compiles(() => NutritionAdvisor.searchAs("apple"))
  })
})

describe("a token", () => {
  const token = AccessToken.make({ value: "t", serviceId: "s", receivedAt: 0, expiresAt: 1 })

  it("gives no string where it is not asked for its value", () => {
    // @ts-expect-error the value is Redacted
    compiles((): string => token.value)
  })

  it("takes its times as numbers, is judged by a policy that was checked, and can't be changed", () => {
    // @ts-expect-error times are epoch milliseconds
    compiles(() => AccessToken.make({ value: "t", serviceId: "s", receivedAt: new Date(), expiresAt: 1 }))
    // @ts-expect-error the durations of a policy become numbers in RefreshPolicy.make
    compiles(() => AccessToken.stateAt(token, 0, RefreshPolicy.defaults))
    compiles(() => {
      // @ts-expect-error a token is replaced, not changed
      token.expiresAt = 2
    })
  })
})

describe("a simulator, or a double,", () => {
  it("has the faults, the types and the errors of the service", () => {
    compiles(() => (simulator: Simulator.Service) => {
      // @ts-expect-error a request through httpClient promises no JSON
      return simulator.provoke("request", "html")
    })
    // @ts-expect-error a search is an Effect
    compiles(() => NutritionAdvisorTest.layer({ search: () => Promise.resolve({}) }))
    // @ts-expect-error a search never ends in an Error of one's own
    compiles(() => NutritionAdvisorTest.layerFailing(new Error("down")))
  })
})
