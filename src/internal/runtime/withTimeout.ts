import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"

/**
 * Fails with `onTimeout` after a number of milliseconds, and ends immediately if it is interrupted. This holds even if the effect can't be
 * interrupted: it then continues in the background until it can. `Effect.timeoutFail` would wait for it, and would log its failure, which
 * the caller handles.
 */
export const withTimeout = <A, E, E2, R>(effect: Effect.Effect<A, E, R>, millis: number, onTimeout: () => E2) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const end = yield* Deferred.make<A, E | E2>()
      const timeout = Effect.delay(Deferred.failSync(end, onTimeout), millis)
      const work = yield* Effect.forkDaemon(Effect.interruptible(Effect.intoDeferred(effect, end)))
      const waiting = yield* Effect.forkDaemon(Effect.interruptible(timeout))
      const interrupt = Effect.sync(() => [waiting, work].forEach((fiber) => fiber.unsafeInterruptAsFork(FiberId.none)))
      return yield* Effect.ensuring(restore(Deferred.await(end)), interrupt)
    })
  )
