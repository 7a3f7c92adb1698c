import type { HttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Redacted } from "effect"
import {
  NutritionAdvisor,
  SharedTokenCache,
  SharedTokenIssuer,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { names } from "../src/internal/environment.js"
import * as Issuer from "./doubles/IssuerDouble.js"

const exchange: TokenIssuer.Options = {
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  tokenRoute: "unified",
  serviceId: "customer-1",
  refresh: { background: false },
  tokenTimeout: "5 seconds",
  allowInsecureHttp: false,
  userAgent: "shop/2"
}

const client: NutritionAdvisor.Options = {
  ...exchange,
  serviceIdHeader: "X-Customer",
  rejectedStatuses: [401],
  requestTimeout: "5 seconds",
  maxResponseBytes: 1_000_000,
  observeHeaders: ["x-request-id"]
}

const sharing = { lease: "9 seconds", cacheTimeout: "2 seconds" } as const

type Services =
  | HttpClient.HttpClient
  | SharedTokenCache.SharedTokenCache
  | TokenIssuer.TokenIssuer
  | TokenStore.TokenStore

/** How often each option is read while it is built, and the text of the base URL, which only a check asks for. */
const readsOf = <O extends object>(options: O, build: (options: O) => Effect.Effect<unknown, unknown, Services>) =>
  Effect.gen(function*() {
    const reads: Record<string, number> = {}
    const count = (name: string) => {
      reads[name] = (reads[name] ?? 0) + 1
    }
    const baseUrl = Object.assign(new URL(Simulator.baseUrl), {
      toString: () => {
        count("text of baseUrl")
        return Simulator.baseUrl
      }
    })
    const counted = new Proxy("baseUrl" in options ? { ...options, baseUrl } : options, {
      get: (target, name, receiver) => {
        count(String(name))
        return Reflect.get(target, name, receiver) as unknown
      }
    })
    yield* build(counted)
    return reads
  })

const built = <A, E, R>(layer: Layer.Layer<A, E, R>) => Effect.scoped(Layer.build(layer))

const onceEach = (options: object) =>
  Object.fromEntries(
    [...Object.keys(options), ..."baseUrl" in options ? ["text of baseUrl"] : []].map((name) => [name, 1])
  )

const shared = { ...client, ...sharing }

const surroundings = Layer.mergeAll(
  Simulator.layerHttpClient(),
  SharedTokenCache.layerMemory,
  Issuer.layer,
  TokenStore.layer
)

/** A way to build a client or a part of it, its options, and how often it reads each. */
const read = <O extends object>(
  way: string,
  options: O,
  build: (options: O) => Effect.Effect<unknown, unknown, Services>
) => [way, options, readsOf(options, build)] as const

const timeout: TokenProvider.Options = { tokenTimeout: "5 seconds" }

describe("each option is read and checked once", () => {
  it.effect.each([
    read("layer", client, (options) => built(NutritionAdvisor.layer(options))),
    read("make", client, (options) => Effect.scoped(NutritionAdvisor.make(options))),
    read("layerShared", shared, (options) => built(NutritionAdvisor.layerShared(options))),
    read("layerConfig", client, (options) => built(NutritionAdvisor.layerConfig(Config.succeed(options)))),
    read("layerSharedConfig", shared, (options) => built(NutritionAdvisor.layerSharedConfig(Config.succeed(options)))),
    read("TokenIssuer.layer", exchange, (options) => built(TokenIssuer.layer(options))),
    read("SharedTokenIssuer.layer", { ...exchange, ...sharing }, (options) => built(SharedTokenIssuer.layer(options))),
    read("TokenProvider.layer", timeout, (options) => built(TokenProvider.layer({}, options)))
  ])("by %s", ([, options, reads]) =>
    Effect.gen(function*() {
      expect(yield* reads).toEqual(onceEach(options))
    }).pipe(Effect.provide(surroundings)))

  it.effect.each(
    [
      ["layerConfig", () => built(NutritionAdvisor.layerConfig())],
      ["layerSharedConfig", () => built(NutritionAdvisor.layerSharedConfig())]
    ] as const
  )("and each variable by %s", ([, build]) =>
    Effect.gen(function*() {
      const reads: Record<string, number> = {}
      const given = ConfigProvider.fromMap(
        new Map([[names.baseUrl, Simulator.baseUrl], [names.licenseKey, Redacted.value(Simulator.licenseKey)]])
      )
      const counting = ConfigProvider.mapInputPath(given, (name) => {
        reads[name] = (reads[name] ?? 0) + 1
        return name
      })
      yield* Effect.withConfigProvider(build(), counting)
      expect(Object.values(reads).length).toBeGreaterThan(10)
      expect(new Set(Object.values(reads))).toEqual(new Set([1]))
    }).pipe(Effect.provide(surroundings)))
})
