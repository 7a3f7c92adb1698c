import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Schema } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { createClient } from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest, Simulator } from "effect-nutrition-advisor/testing"
import { UndiciClient } from "effect-nutrition-advisor/undici"

const Foods = Schema.Struct({ results: Schema.Array(Schema.Struct({ name: Schema.String })) })

export const names: Effect.Effect<ReadonlyArray<string>, unknown, NutritionAdvisor.NutritionAdvisor> = NutritionAdvisor
  .searchAs(Foods)("oats").pipe(
    Effect.catchTag("TooManyRequests", () => Effect.succeed({ results: [] })),
    Effect.map(({ results }) => results.map(({ name }) => name))
  )

export const layers = [
  NutritionAdvisor.layerConfig().pipe(Layer.provide(FetchHttpClient.layer)),
  NutritionAdvisor.layerConfig().pipe(Layer.provide(UndiciClient.layer())),
  NutritionAdvisorTest.layer({ search: () => Effect.succeed({ results: [] }) })
]

export const advisor = createClient({
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  httpClient: Simulator.layerHttpClient()
})
