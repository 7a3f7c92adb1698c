/** Effect's metrics as plain records. */
import { Effect, Metric, type MetricPair, MetricState } from "effect"

/** The type and value of a metric. The value of a histogram is its number of values; it also has their `sum`. */
const stateOf = (state: MetricPair.MetricPair.Untyped["metricState"]) =>
  MetricState.isCounterState(state)
    ? { type: "counter", value: Number(state.count) }
    : MetricState.isGaugeState(state)
    ? { type: "gauge", value: Number(state.value) }
    : MetricState.isHistogramState(state)
    ? { type: "histogram", value: state.count, sum: state.sum }
    : { type: "other" }

export const snapshot = Effect.map(
  Metric.snapshot,
  (pairs) =>
    pairs.map(({ metricKey: { name, tags }, metricState }) => ({
      name,
      labels: Object.fromEntries(tags.map(({ key, value }) => [key, value])),
      ...stateOf(metricState)
    }))
)

export type Measured = Effect.Effect.Success<typeof snapshot>[number]

/** The value of each counter, by its name and the sorted values of its labels. */
const counterValues: Effect.Effect<ReadonlyMap<string, number>> = Effect.map(snapshot, (all) =>
  new Map(
    all.flatMap(({ labels, name, type, value = 0 }) =>
      type === "counter" ? [[[name, ...Object.values(labels).sort()].join(" "), value] as const] : []
    )
  ))

/**
 * The counters that an effect increases, and by how much. The keys are the counter's name after `nutrition_advisor_` and the
 * given prefix, and the sorted values of its labels.
 */
export const counterChanges = <A, E, R>(effect: Effect.Effect<A, E, R>, counterPrefix = "") =>
  Effect.gen(function*() {
    const prefix = `nutrition_advisor_${counterPrefix}`
    const before = yield* counterValues
    yield* effect
    return Object.fromEntries(
      [...yield* counterValues].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const)
        .filter(([name, count]) => name.startsWith(prefix) && count > 0)
        .map(([name, count]) => [name.replace(prefix, "").trim(), count])
    )
  })
