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
