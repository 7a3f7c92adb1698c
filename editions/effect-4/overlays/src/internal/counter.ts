// Effect 4 has no MetricKey: a metric is made of its name and attributes, and is found again by them.
/** What is counted and measured. No other file knows how effect keeps metrics. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

type Labels = Readonly<Record<string, string>>

const nameOf = (name: string) => `nutrition_advisor_${name}`

/** Labels that a fiber puts on its metrics are left out: they would be put together again at each update. */
const update = (metric: Metric.Metric<number, unknown>) => (value: number): void =>
  metric.updateUnsafe(value, Context.empty())

/** One metric for each set of labels, made once: making it costs more than its update. */
const family = <L extends Labels>(make: (attributes: L) => Metric.Metric<number, unknown>) => {
  const made = new Map<string, (value: number) => void>()
  return (labels: L) => {
    const id = Object.values(labels).join(" ")
    const known = made.get(id) ?? update(make(labels))
    made.set(id, known)
    return known
  }
}

export const counters = <L extends Labels>(name: string, description: string, known: ReadonlyArray<L>) => {
  const of = family<L>((attributes) =>
    Metric.counter(nameOf(name), { attributes, description, incremental: true })
  )
  return {
    /** For what is counted with every request: to look a counter up costs more than to count. */
    of,
    countNow: (labels: L) => of(labels)(1),
    count: (labels: L) => Effect.sync(() => of(labels)(1)),
    start: () => known.forEach((labels) => of(labels)(0))
  }
}

export const gauge = (name: string, description: string): (value: number) => void =>
  update(Metric.gauge(nameOf(name), { description }))

/** How many values are not above each bound. */
export const histogram = <L extends Labels>(name: string, description: string, boundaries: ReadonlyArray<number>) =>
  family<L>((attributes) => Metric.histogram(nameOf(name), { attributes, boundaries, description }))
