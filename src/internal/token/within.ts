import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TransportError } from "../../NutritionAdvisorError.js"

/**
 * Ends in "Timeout" after so many milliseconds, and at once where it is interrupted, also while the effect can't be: it is left behind
 * then, and interrupted as soon as it can be. `Effect.timeoutFail` may lose an interruption that comes as its race ends.
 */
export const within = (millis: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const end = yield* Deferred.make<A, E | TransportError>()
      const timeout = Deferred.fail(end, new TransportError({ operation: "token", reason: "Timeout" }))
      const work = yield* Effect.forkDaemon(Effect.interruptible(Effect.intoDeferred(effect, end)))
      const timer = yield* Effect.forkDaemon(Effect.interruptible(Effect.delay(timeout, millis)))
      return yield* Effect.ensuring(
        restore(Deferred.await(end)),
        Effect.zipRight(Fiber.interruptFork(timer), Fiber.interruptFork(work))
      )
    })
  )
