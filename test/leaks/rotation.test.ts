import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Ref } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError, SharedTokenCache } from "effect-nutrition-advisor"
import { settle } from "../doubles/CacheDouble.js"

type LicenseKey = Effect.Effect<Redacted.Redacted<string>, NutritionAdvisorError.LicenseKeyUnavailable>

/** Another key at each read, as a secret store gives them in the middle of a rotation: key-1, key-2 and so on. */
const rotating = Effect.map(Ref.make(0), (reads) => ({
  reads: Ref.get(reads),
  licenseKey: Effect.map(Ref.updateAndGet(reads, (reads) => reads + 1), (read) => Redacted.make(`key-${read}`))
}))

/** A service whose tokens say of which key they are; it keeps what it was sent, keys and tokens alike. */
const makeService = () => {
  const keys: Array<string> = []
  const tokens: Array<string> = []
  const client = HttpClient.make((request, url) => {
    const key = /\/oauth\/licence\/(.+)$/.exec(url.pathname)?.[1]
    if (key === undefined) tokens.push(request.headers["authorization"] ?? "")
    else keys.push(key)
    const body = key === undefined
      ? {}
      : { access_token: `token-of-${key}`, customer_id: "customer", expires_in: 3_600, token_type: "Bearer" }
    return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(body)))
  })
  return { keys, tokens, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

/** One search of a replica of its own. */
const searchWith = (licenseKey: LicenseKey | Redacted.Redacted<string>, service: ReturnType<typeof makeService>) =>
  settle(
    NutritionAdvisor.search("apple").pipe(
      Effect.provide(Layer.fresh(NutritionAdvisor.layerShared({
        baseUrl: "https://advisor.example",
        licenseKey,
        refresh: { background: false }
      }))),
      Effect.provide(service.layer)
    )
  )

describe("a license key that rotates in the middle of an exchange", () => {
  it.effect("is read once for the exchange", () =>
    Effect.gen(function*() {
      const { licenseKey, reads } = yield* rotating
      const service = makeService()
      yield* searchWith(licenseKey, service)
      expect([yield* reads, service.keys]).toEqual([1, ["key-1"]])
    }).pipe(Effect.provide(SharedTokenCache.layerMemory)))

  it.effect("gives a holder of the old key no token of the new one", () =>
    Effect.gen(function*() {
      const { licenseKey } = yield* rotating
      const service = makeService()
      yield* searchWith(licenseKey, service)
      yield* searchWith(Redacted.make("key-1"), service)
      expect(service.tokens).toEqual(["Bearer token-of-key-1", "Bearer token-of-key-1"])
    }).pipe(Effect.provide(SharedTokenCache.layerMemory)))
})
