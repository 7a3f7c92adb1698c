import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

/** Answers that wait for the others of their batch. */
export interface Batch {
  /** The answer, or a short one where no room is left for it. */
  readonly hold: (answer: string, short: () => string) => string
  /** Gives the room back. So does the end of the scope that the batch was opened in. */
  readonly close: Effect.Effect<void>
}

/** Opens batches that hold so many characters at most, all together. */
export const make = (most: number): Effect.Effect<Batch, never, Scope.Scope> => {
  let held = 0
  return Effect.gen(function*() {
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    let own = 0
    let isOpen = true
    yield* Scope.addFinalizer(
      scope,
      Effect.sync(() => {
        isOpen = false
        held -= own
      })
    )
    return {
      hold: (answer, short) => {
        if (!isOpen || held + answer.length > most) return short()
        held += answer.length
        own += answer.length
        return answer
      },
      close: Scope.close(scope, Exit.void)
    }
  })
}
