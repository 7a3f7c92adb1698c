import { Effect, Layer, Metric, MetricLabel, MetricState } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

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

const statesOf = (name: string, labels: Labels) =>
  Effect.map(
    Metric.snapshot,
    (pairs) =>
      pairs.filter(({ metricKey }) =>
        metricKey.name === `nutrition_advisor_${name}` &&
        Object.entries(labels).every(([key, value]) =>
          metricKey.tags.some((tag) => MetricLabel.isMetricLabel(tag) && tag.key === key && tag.value === value)
        )
      ).map(({ metricState }) => metricState)
  )

export const stateOf = (name: string, labels: Labels = {}) => Effect.map(statesOf(name, labels), ([state]) => state)

/** Of all that have these labels, whatever others they have. */
export const countOf = (name: string, labels: Labels) =>
  Effect.map(
    statesOf(name, labels),
    (states) => states.reduce((sum, state) => MetricState.isCounterState(state) ? sum + Number(state.count) : sum, 0)
  )
