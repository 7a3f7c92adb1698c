// Effect 4 keeps metrics in other records, and has no MetricState.
import { Effect, Metric } from "effect"

const counts = Effect.map(Metric.snapshot, (metrics) =>
  new Map(metrics.flatMap((metric) =>
    metric.type === "Counter"
      ? [[[metric.id, ...Object.values(metric.attributes ?? {}).sort()].join(" "), Number(metric.state.count)] as const]
      : []
  )))

/** What an effect adds to each of the library's counters whose name begins like this, by name and labels. */
export const added = <A, E, R>(effect: Effect.Effect<A, E, R>, beginning = "") =>
  Effect.gen(function*() {
    const prefix = `nutrition_advisor_${beginning}`
    const before = yield* counts
    yield* effect
    return Object.fromEntries(
      [...yield* counts].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const)
        .filter(([name, count]) => name.startsWith(prefix) && count > 0)
        .map(([name, count]) => [name.replace(prefix, "").trim(), count])
    )
  })
