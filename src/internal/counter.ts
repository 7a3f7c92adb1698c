/** What is counted and measured. No other file knows how effect keeps metrics. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import * as MetricLabel from "effect/MetricLabel"

type Labels = Readonly<Record<string, string>>

const nameOf = (name: string) => `nutrition_advisor_${name}`

const noFurtherLabels: ReadonlyArray<MetricLabel.MetricLabel> = []

/** The labels are part of the key: labels put on a metric from outside, or by a fiber, are put together again at each update. */
const update = (key: MetricKey.MetricKey.Untyped) => {
  const metric = Metric.fromMetricKey(key)
  return (value: number): void => metric.unsafeUpdate(value, noFurtherLabels)
}

/** One metric for each set of labels, made once: making it costs more than its update. */
const family = <L extends Labels>(key: MetricKey.MetricKey.Untyped) => {
  const made = new Map<string, (value: number) => void>()
  return (labels: L) => {
    const id = Object.values(labels).join(" ")
    const known = made.get(id) ?? update(
      MetricKey.taggedWithLabels(key, Object.entries(labels).map(([name, value]) => MetricLabel.make(name, value)))
    )
    made.set(id, known)
    return known
  }
}

/** A counter for each set of labels. */
export const counters = <L extends Labels>(name: string, description: string, known: ReadonlyArray<L>) => {
  const of = family<L>(MetricKey.counter(nameOf(name), { description, incremental: true }))
  return {
    /** For what is counted with every request: to look a counter up costs more than to count. */
    of,
    countNow: (labels: L) => of(labels)(1),
    count: (labels: L) => Effect.sync(() => of(labels)(1)),
    /** Those that are known stand at zero from then on: `rate()` sees a first event only where a counter stood at zero before. */
    start: () => known.forEach((labels) => of(labels)(0))
  }
}

export const gauge = (name: string, description: string): (value: number) => void =>
  update(MetricKey.gauge(nameOf(name), { description }))

/** How many values are not above each bound. */
export const histogram = <L extends Labels>(
  name: string,
  description: string,
  bounds: ReadonlyArray<number>
): (labels: L) => (value: number) => void =>
  family(MetricKey.histogram(nameOf(name), MetricBoundaries.fromIterable(bounds), description))
