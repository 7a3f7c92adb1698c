import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { useAll } from "./effect.mjs"

const { baseUrl, licenseKey } = Simulator
const Simulated = Layer.provideMerge(NutritionAdvisor.layer({ baseUrl, licenseKey }), Simulator.layerHttpClient())

it.effect("survives a revoked token", () =>
  Effect.gen(function*() {
    yield* NutritionAdvisor.search("apple")
    yield* Effect.flatMap(Simulator.Simulator, ({ revoke }) => revoke)
    expect(yield* NutritionAdvisor.search("apple")).toHaveProperty("results")
    yield* Simulator.expectExchanges(2)
  }).pipe(Effect.provide(Simulated)))

it("takes all steps", () => useAll(Layer.provide(NutritionAdvisor.layerConfig(), UndiciClient.layerConfig())))
