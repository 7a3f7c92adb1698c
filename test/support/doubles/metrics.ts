/** Effect's metrics as plain records. */
import { Effect, Metric, type MetricPair, MetricState } from "effect"

export interface Measured {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly type: "counter" | "gauge" | "histogram" | "other"
  /** The value of a gauge. */
  readonly value?: number
  /** The value of a counter, or the number of values in a histogram. */
  readonly count?: number
  /** The sum of the values in a histogram. */
  readonly sum?: number
}

const stateOf = (state: MetricPair.MetricPair.Untyped["metricState"]): Omit<Measured, "labels" | "name"> =>
  MetricState.isCounterState(state)
    ? { type: "counter", count: Number(state.count) }
    : MetricState.isGaugeState(state)
    ? { type: "gauge", value: Number(state.value) }
    : MetricState.isHistogramState(state)
    ? { type: "histogram", count: state.count, sum: state.sum }
    : { type: "other" }

export const snapshot: Effect.Effect<ReadonlyArray<Measured>> = Effect.map(
  Metric.snapshot,
  (pairs) =>
    pairs.map(({ metricKey: { name, tags }, metricState }) => ({
      name,
      labels: Object.fromEntries(tags.map(({ key, value }) => [key, value])),
      ...stateOf(metricState)
    }))
)

/** The value of each counter, by its name and the sorted values of its labels. */
const counterValues: Effect.Effect<ReadonlyMap<string, number>> = Effect.map(snapshot, (all) =>
  new Map(
    all.flatMap(({ count = 0, labels, name, type }) =>
      type === "counter" ? [[[name, ...Object.values(labels).sort()].join(" "), count] as const] : []
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
