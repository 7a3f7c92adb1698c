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

describe("each option is read and checked once", () => {
  it.effect.each([
    { way: "layer", options: client, reads: readsOf(client, (options) => built(NutritionAdvisor.layer(options))) },
    {
      way: "make",
      options: client,
      reads: readsOf(client, (options) => Effect.scoped(NutritionAdvisor.make(options)))
    },
    {
      way: "layerShared",
      options: shared,
      reads: readsOf(shared, (options) => built(NutritionAdvisor.layerShared(options)))
    },
    {
      way: "layerConfig",
      options: client,
      reads: readsOf(client, (options) => built(NutritionAdvisor.layerConfig(Config.succeed(options))))
    },
    {
      way: "layerSharedConfig",
      options: shared,
      reads: readsOf(shared, (options) => built(NutritionAdvisor.layerSharedConfig(Config.succeed(options))))
    },
    {
      way: "TokenIssuer.layer",
      options: exchange,
      reads: readsOf(exchange, (options) => built(TokenIssuer.layer(options)))
    },
    {
      way: "SharedTokenIssuer.layer",
      options: { ...exchange, ...sharing },
      reads: readsOf({ ...exchange, ...sharing }, (options) => built(SharedTokenIssuer.layer(options)))
    },
    {
      way: "TokenProvider.layer",
      options: { tokenTimeout: "5 seconds" } as const,
      reads: readsOf({ tokenTimeout: "5 seconds" } as const, (options) => built(TokenProvider.layer({}, options)))
    }
  ])("by $way", ({ options, reads }) =>
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
