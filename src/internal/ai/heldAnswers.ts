import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

/** Answers that wait for the others of their batch. */
export interface Batch {
  /** The answer, or the short one, which has its room, where none is left for the answer. */
  readonly hold: (answer: string, short: string) => string
  /** Gives the room back. So does the end of the scope that the batch was opened in. */
  readonly close: Effect.Effect<void>
}

/**
 * Opens batches that hold so many characters of short answers at most, all together, and so many more of longer ones. None is opened
 * without room for all of its short answers: so a few long ones leave room for other batches.
 */
export const make = (mostShort: number, mostMore: number) => {
  let [allShort, allMore] = [0, 0]
  return (short: number): Effect.Effect<Batch | undefined, never, Scope.Scope> =>
    Effect.gen(function*() {
      if (allShort + short > mostShort) return undefined
      allShort += short
      let ownMore = 0
      let isOpen = true
      const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
      yield* Scope.addFinalizer(
        scope,
        Effect.sync(() => {
          isOpen = false
          allShort -= short
          allMore -= ownMore
        })
      )
      const batch: Batch = {
        hold: (answer, short) => {
          const more = Math.max(0, answer.length - short.length)
          if (!isOpen || allMore + more > mostMore) return short
          allMore += more
          ownMore += more
          return answer
        },
        close: Scope.close(scope, Exit.void)
      }
      return batch
    }).pipe(Effect.uninterruptible)
}
