import { Effect, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import * as SimulatedAdvisor from "../../support/doubles/simulatedAdvisor.js"

export const advisor = Layer.fresh(SimulatedAdvisor.advisor())

export const searches = (count: number) =>
  Effect.all(Array.from({ length: count }, () => Effect.exit(NutritionAdvisor.search("rice"))), {
    concurrency: "unbounded"
  })

export const request = Effect.flatMap(
  NutritionAdvisor.NutritionAdvisor,
  ({ httpClient }) => Effect.exit(httpClient.get("/v2/plan"))
)
