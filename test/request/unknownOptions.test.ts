import { describe, expect } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import {
  NutritionAdvisor,
  type NutritionAdvisorError,
  RequestRetry,
  SearchCache,
  SharedTokenCache,
  SharedTokenIssuer,
  Throttle,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"
import { NutritionAdvisorTools } from "effect-nutrition-advisor/ai"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { NutritionAdvisorTest, Simulator } from "effect-nutrition-advisor/testing"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { arranged } from "../support/doubles/arranged.js"

const settings = { baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }

/** The compiler checks the names of a literal, but not those of a variable. */
const misspelled = { ...settings, requestTimeOut: "1 second" }

const client = { call: async () => "" }

const sharing = { ...settings, lease: 60_000 }

const whole = { ...sharing, requestTimeout: 1_000 }

const redis = { url: Redacted.make("redis://127.0.0.1:6379"), keyPrefix: "shop:" }

const agent = { maxResultBytes: 8_192, maxBytes: 8_192 }

const others = { timeToLive: 3_600_000, interval: 1_000 }

const given = Layer.provideMerge(
  Layer.provideMerge(TokenProvider.layer(), Layer.provideMerge(TokenIssuer.layer(settings), TokenStore.layer)),
  Layer.mergeAll(
    Simulator.layerHttpClient(),
    SharedTokenCache.layerMemory,
    NutritionAdvisorTest.layer({ search: () => Effect.succeed({}) })
  )
)

const test = arranged(Effect.void, given)

type Given = Layer.Layer.Success<typeof given>

type Invalid = Layer.Layer<never, NutritionAdvisorError.ConfigurationError, Given>

const builders: ReadonlyArray<readonly [title: string, field: string, layer: Invalid]> = [
  ["NutritionAdvisor.layer", "requestTimeOut", NutritionAdvisor.layer(misspelled)],
  ["NutritionAdvisor.layer", "lease", NutritionAdvisor.layer(sharing)],
  ["NutritionAdvisor.layerShared", "requestTimeOut", NutritionAdvisor.layerShared(misspelled)],
  ["NutritionAdvisor.layerWithoutTokens", "requestTimeOut", NutritionAdvisor.layerWithoutTokens(misspelled)],
  ["NutritionAdvisor.make", "requestTimeOut", Layer.scopedDiscard(NutritionAdvisor.make(misspelled))],
  ["TokenIssuer.layer", "requestTimeOut", TokenIssuer.layer(misspelled)],
  ["TokenProvider.layer", "requestTimeOut", TokenProvider.layer({}, { ...misspelled, tokenTimeout: 1_000 })],
  ["SharedTokenIssuer.layer", "requestTimeOut", SharedTokenIssuer.layer(misspelled)],
  ["NutritionAdvisorTools.layer", "maxBytes", NutritionAdvisorTools.layer(agent)],
  ["UndiciClient.layer", "timeToLive", UndiciClient.layer({ ...others, connections: 1 })],
  ["RedisTokenCache.layer", "keyPrefix", RedisTokenCache.layer(redis)],
  ["RedisTokenCache.layerFromClient", "url", RedisTokenCache.layerFromClient(client, { ...redis, prefix: "shop:" })],
  ["Throttle.layer", "timeToLive", Throttle.layer({ ...others, maxWait: 0 })],
  ["Throttle.layer", "rate.timeToLive", Throttle.layer({ rate: { ...others, limit: 1 } })],
  ["RequestRetry.layer", "timeToLive", RequestRetry.layer({ ...others, times: 1 })],
  ["SearchCache.layer", "interval", SearchCache.layer(others)]
]

describe("unknown option", () => {
  test.each(builders)("%s: a ConfigurationError names %s", function*([, field, layer]) {
    const error = yield* Effect.flip(Layer.build(layer))
    expect(error).toMatchObject({ _tag: "ConfigurationError", field, rule: expect.stringContaining("not an option") })
  })

  test("TokenProvider.layer without a policy reads `refresh` from the options", function*() {
    const options = { ...whole, refresh: { margin: -1 } }
    const error = yield* Effect.flip(Layer.build(TokenProvider.layer(undefined, options)))
    expect(error).toMatchObject({ _tag: "ConfigurationError", field: expect.stringContaining("margin") })
  })

  test("a custom composition: each part accepts all options of the client", function*() {
    const parts = [
      NutritionAdvisor.layerWithoutTokens(sharing),
      TokenIssuer.layer(whole),
      TokenProvider.layer({}, { ...whole, tokenTimeout: 1_000 }),
      SharedTokenIssuer.layer(whole)
    ]
    yield* Effect.forEach(parts, (part: Layer.Layer<never, unknown, Given>) => Layer.build(part))
  })
})
