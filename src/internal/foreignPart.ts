import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Predicate from "effect/Predicate"
import * as Fork from "./fork.js"

/** Defects with a text of this package's own. Not told by their class: a foreign defect may be a proxy that throws when it is asked. */
const shown = new WeakSet<object>()

const masked = (part: string, what: string): Effect.Effect<never> =>
  Effect.suspend(() => {
    const defect = new Error(
      `${part} ${what}. What it says may hold a secret and is not shown: run it by itself to see it.`
    )
    shown.add(defect)
    return Effect.die(defect)
  })

/** What is no effect is not handed to the runtime: that may end the fiber at once, with a defect that shows it. */
const checked = <A, E, R>(effect: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const given = effect()
    return Effect.isEffect(given) ? given : Effect.die(new Error("no effect"))
  })

/**
 * Calls a part that users bring. Whatever else than its own errors it fails with, dies of or throws may hold a secret: it becomes
 * a defect with a fixed text that names the part.
 */
export const call = <A, E, R>(
  part: string,
  isOwn: Predicate.Predicate<E>,
  effect: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  checked(effect).pipe(
    Effect.catchAllCause((cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => Effect.failCause(cause),
        onSome: (error) =>
          isOwn(error) ? Effect.fail(error) : masked(part, "failed with what is no error of its interface")
      })
    ),
    Effect.catchAllDefect((defect) =>
      typeof defect === "object" && defect !== null && shown.has(defect) ? Effect.die(defect) : masked(part, "died")
    ),
    Fork.unlogged
  )

/**
 * The same in a fiber of its own, which is left where the caller is interrupted. It is judged in that fiber, and outside: a fiber
 * that meets what is no effect may end past all handlers.
 */
export const callApart = <A, E, R>(
  part: string,
  isOwn: Predicate.Predicate<E>,
  effect: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => call(part, isOwn, () => Fork.abandonable(call(part, isOwn, effect)))
