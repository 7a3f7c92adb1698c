import { Effect, Option, type Scope } from "effect"

/** Those of the laws that are broken, each with what was seen. */
export const brokenOf = <E, R>(
  laws: ReadonlyArray<{ readonly holds: Effect.Effect<unknown, E, R | Scope.Scope> }>,
  concurrency: number | "unbounded"
) =>
  Effect.forEach(laws, ({ holds }) => Effect.option(Effect.flip(Effect.scoped(holds))), { concurrency }).pipe(
    Effect.map((results): ReadonlyArray<E> => results.flatMap(Option.toArray))
  )
