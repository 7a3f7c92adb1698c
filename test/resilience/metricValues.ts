import { Effect } from "effect"
import { counts } from "../doubles/counters.js"

/** What the metric of this name stands at now, by the value of its one label. */
export const countsOf = (name: string): Effect.Effect<Readonly<Record<string, number>>> =>
  Effect.map(counts, (all) =>
    Object.fromEntries(
      [...all].flatMap(([key, count]) => key.startsWith(`${name} `) ? [[key.slice(name.length + 1), count]] : [])
    ))

/** By how much each label of it grows in the effect. */
export const growth = <A, E, R>(name: string, self: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = yield* countsOf(name)
    const result = yield* self
    const after = yield* countsOf(name)
    const grown = Object.entries(after).map(([label, count]) => [label, count - (before[label] ?? 0)])
    return [result, Object.fromEntries(grown) as Readonly<Record<string, number>>] as const
  })
