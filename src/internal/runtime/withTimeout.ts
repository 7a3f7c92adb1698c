import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"

/**
 * Fails with `onTimeout` when the timer ends, and ends at once if it is interrupted. This holds even if the effect can't be
 * interrupted: it then continues in the background until it can. `Effect.timeoutFail` isn't used because it may lose an interruption that
 * arrives just as its race ends.
 */
export const withTimer = <A, E, E2, R>(
  effect: Effect.Effect<A, E, R>,
  timer: Effect.Effect<void>,
  onTimeout: () => E2
) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const end = yield* Deferred.make<A, E | E2>()
      const timeout = Deferred.failSync(end, onTimeout)
      const work = yield* Effect.forkDaemon(Effect.interruptible(Effect.intoDeferred(effect, end)))
      const waiting = yield* Effect.forkDaemon(Effect.interruptible(Effect.zipRight(timer, timeout)))
      const interrupt = Effect.sync(() => [waiting, work].forEach((fiber) => fiber.unsafeInterruptAsFork(FiberId.none)))
      return yield* Effect.ensuring(restore(Deferred.await(end)), interrupt)
    })
  )

/** Fails with `onTimeout` after a number of milliseconds. If the effect can't be interrupted, it continues in the background. */
export const withTimeout = <A, E, E2, R>(effect: Effect.Effect<A, E, R>, millis: number, onTimeout: () => E2) =>
  withTimer(effect, Effect.sleep(millis), onTimeout)
