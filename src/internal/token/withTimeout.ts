import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import { TransportError } from "../../NutritionAdvisorError.js"

/** A timer that is later than this, in milliseconds, was stopped with its process: a function between two calls, a laptop asleep. */
const stoppedAfter = 2_000

/**
 * Ends in `onTimeout` after so many milliseconds, and at once where it is interrupted, also while the effect can't be: it is left behind
 * then, and interrupted as soon as it can be. `Effect.timeoutFail` may lose an interruption that comes as its race ends.
 */
export const bounded = <A, E, E2, R>(effect: Effect.Effect<A, E, R>, millis: number, onTimeout: () => E2) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const end = yield* Deferred.make<A, E | E2>()
      const timeout = Deferred.failSync(end, onTimeout)
      const work = yield* Effect.forkDaemon(Effect.interruptible(Effect.intoDeferred(effect, end)))
      const timer = yield* Effect.forkDaemon(Effect.interruptible(Effect.delay(timeout, millis)))
      return yield* Effect.ensuring(
        restore(Deferred.await(end)),
        Effect.zipRight(Fiber.interruptFork(timer), Fiber.interruptFork(work))
      )
    })
  )

const timedOut = () => new TransportError({ operation: "token", reason: "Timeout" })

/** The effect with so many milliseconds for it. If the process was stopped meanwhile, it is run once more, after the first run has ended. */
export const withTimeout = (millis: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.clockWith((clock) => {
    const latest = clock.unsafeCurrentTimeMillis() + millis + stoppedAfter
    return Effect.retry(bounded(effect, millis, timedOut), {
      times: 1,
      schedule: Schedule.spaced("100 millis"),
      while: (error) => Predicate.isTagged(error, "TransportError") && clock.unsafeCurrentTimeMillis() > latest
    })
  })
