import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricKey from "effect/MetricKey"
import * as MetricLabel from "effect/MetricLabel"

/** A counter for each value of one label. */
export interface Counters<Value extends string> {
  /** Makes each stand at zero until something is counted. */
  readonly start: Effect.Effect<void>
  readonly count: (value: Value) => void
}

const counters = <Value extends string>(
  name: string,
  description: string,
  label: string,
  values: Readonly<Record<Value, unknown>>
): Counters<Value> => {
  const key = MetricKey.counter(`nutrition_advisor_${name}`, { description, incremental: true })
  const made = new Map(
    Object.keys(values).map((value) => [
      value,
      Metric.fromMetricKey(MetricKey.taggedWithLabels(key, [MetricLabel.make(label, value)]))
    ])
  )
  return {
    start: Effect.sync(() => made.forEach((counter) => counter.unsafeUpdate(0, []))),
    count: (value) => made.get(value)?.unsafeUpdate(1, [])
  }
}

export const retries = counters(
  "retries_total",
  "Searches and requests that were sent again, or that were not since the budget was used up",
  "outcome",
  { Retried: undefined, OutOfBudget: undefined }
)

export const heldRequests = counters(
  "held_requests_total",
  "Searches and requests that a throttle refused or made wait",
  "reason",
  { TooManyRequests: undefined, Rate: undefined }
)

export const refusedRequests = counters(
  "refused_requests_total",
  "Searches and requests that a throttle ended in TooManyRequests",
  "reason",
  { TooManyRequests: undefined, Rate: undefined }
)

const holdSeconds = Metric.gauge("nutrition_advisor_hold_seconds", {
  description: "Seconds for which requests are still held after a 429 of the service"
})

export const setHold = (seconds: number) => holdSeconds.unsafeUpdate(seconds, [])

export const cachedSearches = counters(
  "search_cache_total",
  "Searches through the cache, by where their payload came from",
  "outcome",
  { Hit: undefined, Miss: undefined, Joined: undefined, Stale: undefined }
)
