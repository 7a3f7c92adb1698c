import { Effect } from "effect"
import { counts } from "./metrics.js"

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
