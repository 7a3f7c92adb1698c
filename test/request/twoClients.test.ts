/** Two clients in one program, each with its own key and its own composition. */
import type { HttpClient } from "@effect/platform"
import { expect } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { NutritionAdvisor, SharedTokenCache, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arrangedLive } from "../support/doubles/arranged.js"
import { composedAdvisor, requestsOf } from "../support/doubles/simulatedAdvisor.js"

type Composition = (
  options: NutritionAdvisor.Options
) => Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown, HttpClient.HttpClient>

const { layer } = NutritionAdvisor

const layerShared: Composition = (options) =>
  Layer.provide(NutritionAdvisor.layerShared(options), SharedTokenCache.layerMemory)

const tokens = (options: NutritionAdvisor.Options) =>
  Layer.provide(TokenProvider.layer(), [TokenIssuer.layer(options), TokenStore.layer])

const withoutTokens = NutritionAdvisor.layerWithoutTokens({ baseUrl: Simulator.baseUrl })

/** The same layer for each client, with other tokens. */
const overOneLayer: Composition = (options) => Layer.provide(withoutTokens, tokens(options))

const compositions: ReadonlyArray<readonly [name: string, Composition]> = [
  ["layer", layer],
  ["layerShared", layerShared],
  ["layerWithoutTokens", composedAdvisor],
  ["one value of layerWithoutTokens", overOneLayer]
]

const keys = { 1: "key-of-tenant-1", 2: "key-of-tenant-2" }

type Tenant = keyof typeof keys

const tagOf = (tenant: Tenant) => Context.GenericTag<`tenant ${Tenant}`, NutritionAdvisor.Service>(`tenant ${tenant}`)

const clientOf = (tenant: Tenant, composition: Composition) =>
  Layer.provide(
    Layer.effect(tagOf(tenant), NutritionAdvisor.NutritionAdvisor),
    composition({ baseUrl: Simulator.baseUrl, licenseKey: Redacted.make(keys[tenant]) })
  )

/** The simulator writes into each token the number of the key that it was exchanged for. */
const withTwoKeys = arrangedLive(
  Simulator.Simulator,
  Simulator.layerHttpClient({ licenseKeys: [keys[1], keys[2]] })
)

withTwoKeys.each(
  compositions.flatMap(([name, one]) =>
    compositions.map(([otherName, other]) => [name, otherName, one, other] as const)
  )
)(
  "two clients in one program (%s and %s): neither sends the other's token",
  function*([, , one, other], { revoke }) {
    const searches = (round: string) =>
      Effect.forEach(
        [1, 2, 1, 2, 1, 2] as const,
        (tenant, nth) =>
          Effect.flatMap(tagOf(tenant), ({ search }) => search(`${tenant}`, { urlParams: { round, nth } })),
        { concurrency: "unbounded" }
      )
    const both = Layer.merge(clientOf(1, one), clientOf(2, other))
    yield* Effect.provide(Effect.all([searches("first"), revoke, searches("second")]), both)
    const sent = yield* requestsOf("search")
    expect(sent.length).toBeGreaterThan(12)
    const keyIn = (text: string) => /^(?:Bearer simulated-|term=)([12])/.exec(text)?.[1]
    for (const { authorization, query } of sent) {
      expect(keyIn(Redacted.value(Option.getOrThrow(authorization)))).toBe(keyIn(query))
    }
  }
)
