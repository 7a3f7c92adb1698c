import * as Cause from "effect/Cause"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import * as Option from "effect/Option"
import { errors, type NutritionAdvisorError } from "../../NutritionAdvisorError.js"

type Labels = Readonly<Record<string, string>>

/** Adds to a counter, sets a gauge, or records a value in a histogram. */
type Update = (value: number) => void

/** Labels passed with an update would be merged each time, so all of them are part of the key. */
const update = (key: MetricKey.MetricKey.Untyped): Update => {
  const metric = Metric.fromMetricKey(key)
  return (value) => metric.unsafeUpdate(value, [])
}

/** Keeps one metric for each set of labels, because creating it costs more than an update. */
const family = <L extends Labels>(key: MetricKey.MetricKey.Untyped) => {
  const updates = new Map<string, Update>()
  return (labels: L) => {
    const id = Object.values(labels).join(" ")
    const found = updates.get(id) ??
      update(Object.entries(labels).reduce((key, [name, value]) => MetricKey.tagged(key, name, value), key))
    updates.set(id, found)
    return found
  }
}

const fullName = (name: string) => `nutrition_advisor_${name}`

/**
 * Declares a counter and its series, one for each set of labels. `createSeries` adds zero to them: otherwise, `rate()` of Prometheus would
 * miss the first event. They are looked up only once, because every new client creates them.
 */
export const counter = <const L extends Labels>(name: string, description: string, series: ReadonlyArray<L>) => {
  const withLabels = family<L>(MetricKey.counter(fullName(name), { description, incremental: true }))
  let updates: ReadonlyArray<Update> | undefined
  return {
    withLabels,
    count: (labels: L) => withLabels(labels)(1),
    createSeries: () => {
      updates ??= series.map(withLabels)
      for (const add of updates) add(0)
    }
  }
}

export const histogram = <L extends Labels>(name: string, description: string, boundaries: ReadonlyArray<number>) =>
  family<L>(MetricKey.histogram(fullName(name), MetricBoundaries.fromIterable(boundaries), description))

export const gauge = (name: string, description: string) => update(MetricKey.gauge(fullName(name), { description }))

export const errorTags = errors.map(({ _tag }) => _tag)

/** What a metric or a span shows of a failure. */
export type FailureLabel = NutritionAdvisorError["_tag"] | "Interrupted" | "Defect"

/** Returns the labels for a failure: its error, and whether the request or the exchange failed. */
export const failureLabels = (cause: Cause.Cause<NutritionAdvisorError>) =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => ({ outcome: Cause.isInterruptedOnly(cause) ? "Interrupted" : "Defect", at: "request" } as const),
    onSome: ({ _tag, operation }) => ({ outcome: _tag, at: operation === "token" ? "exchange" : "request" } as const)
  })
