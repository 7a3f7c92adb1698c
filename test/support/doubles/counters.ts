import { Effect } from "effect"
import { snapshot } from "./metrics.js"

/** Where each counter stands, by its name and the values of its labels in their order. */
export const counts: Effect.Effect<ReadonlyMap<string, number>> = Effect.map(snapshot, (all) =>
  new Map(
    all.flatMap(({ count = 0, labels, name, type }) =>
      type === "counter" ? [[[name, ...Object.values(labels).sort()].join(" "), count] as const] : []
    )
  ))

/**
 * What an effect adds to each of the library's counters whose name begins like this: by the rest of the name, and the values of
 * its labels in their order. Those that it leaves alone are not there.
 */
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
