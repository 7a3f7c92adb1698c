import { Effect, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

/** Without the Schedule, so that nothing is counted between two looks. */
export const advisor = NutritionAdvisor.layer({
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  refresh: { background: false }
}).pipe(Layer.provideMerge(Simulator.layerHttpClient()), Layer.fresh)

export const searches = (count: number) =>
  Effect.all(Array.from({ length: count }, () => Effect.exit(NutritionAdvisor.search("rice"))), {
    concurrency: "unbounded"
  })

export const request = Effect.flatMap(
  NutritionAdvisor.NutritionAdvisor,
  ({ httpClient }) => Effect.exit(httpClient.get("/v2/plan"))
)
