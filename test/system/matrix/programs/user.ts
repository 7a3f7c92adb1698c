import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Schema } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { type Client, createClient } from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { useAll } from "./effect.mjs"

const Foods = Schema.Struct({ results: Schema.Array(Schema.Struct({ name: Schema.String })) })

export const names: Effect.Effect<ReadonlyArray<string>, unknown, NutritionAdvisor.NutritionAdvisor> = NutritionAdvisor
  .searchAs(Foods)("oats").pipe(
    Effect.catchTag("TooManyRequests", () => Effect.succeed({ results: [] })),
    Effect.map(({ results }) => results.map(({ name }) => name))
  )

export const client = (): Client => createClient()

export const double = NutritionAdvisorTest.layer({ search: () => Effect.succeed({ results: [] }) })

const layers = [
  NutritionAdvisor.layerConfig().pipe(Layer.provide(FetchHttpClient.layer)),
  NutritionAdvisor.layerConfig().pipe(Layer.provide(UndiciClient.layer()))
]

void useAll(layers[1])
