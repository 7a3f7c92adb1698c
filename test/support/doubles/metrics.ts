/** What effect keeps of metrics, in records that do not depend on how it keeps them. */
import { Effect, Metric, type MetricPair, MetricState } from "effect"

export interface Measured {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly type: "counter" | "gauge" | "histogram" | "other"
  /** Of a gauge. */
  readonly value?: number
  /** Of a counter, or of the values of a histogram. */
  readonly count?: number
  /** Of the values of a histogram. */
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

/** Where each counter stands, by its name and the values of its labels in their order. */
export const counterValues: Effect.Effect<ReadonlyMap<string, number>> = Effect.map(snapshot, (all) =>
  new Map(
    all.flatMap(({ count = 0, labels, name, type }) =>
      type === "counter" ? [[[name, ...Object.values(labels).sort()].join(" "), count] as const] : []
    )
  ))

/**
 * What an effect adds to each of the library's counters whose name begins like this: by the rest of the name, and the values of
 * its labels in their order. Those that it leaves alone are not there.
 */
export const counterChanges = <A, E, R>(effect: Effect.Effect<A, E, R>, beginning = "") =>
  Effect.gen(function*() {
    const prefix = `nutrition_advisor_${beginning}`
    const before = yield* counterValues
    yield* effect
    return Object.fromEntries(
      [...yield* counterValues].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const)
        .filter(([name, count]) => name.startsWith(prefix) && count > 0)
        .map(([name, count]) => [name.replace(prefix, "").trim(), count])
    )
  })
