import { Effect, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { snapshot } from "../doubles/metrics.js"

/** Tokens are renewed by callers alone, so that nothing is counted between two looks. */
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

export type Labels = Readonly<Record<string, string>>

const measuredAs = (name: string, labels: Labels) =>
  Effect.map(snapshot, (all) =>
    all.filter((measured) =>
      measured.name === `nutrition_advisor_${name}` &&
      Object.entries(labels).every(([key, value]) => measured.labels[key] === value)
    ))

export const stateOf = (name: string, labels: Labels = {}) => Effect.map(measuredAs(name, labels), ([first]) => first)

/** Of all that have these labels, whatever others they have. */
export const countOf = (name: string, labels: Labels) =>
  Effect.map(measuredAs(name, labels), (all) => all.reduce((sum, { count = 0 }) => sum + count, 0))
