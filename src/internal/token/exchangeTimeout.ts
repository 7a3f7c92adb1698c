import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { TransportError } from "../../NutritionAdvisorError.js"
import { timeoutError } from "../errors/transportErrors.js"
import { monotonicMillis } from "../runtime/clock.js"
import { withTimeout } from "../runtime/withTimeout.js"

const exchangeTimedOut = () => timeoutError("token")

/**
 * A timer that is late by more than this, in milliseconds, means that the process was suspended, for example by SIGSTOP or because its
 * container was paused.
 */
const suspendedAfter = 2_000

/**
 * How long the second run is delayed. Timers fire before Node reads from its sockets, so without a delay it could be sent on a connection
 * that the server has closed while the process was suspended.
 */
const resumeDelay = "100 millis"

/** Fails with TransportError "Timeout" if an effect takes too long. */
export type WithTimeout = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TransportError, R>

/**
 * Limits the time of an exchange, or of a read of the store, to a number of milliseconds. If the process was suspended in the meantime, the
 * connections of the effect are probably dead, so the effect runs once more. The second run starts only after the first one has ended, so
 * that the two never overlap.
 */
export const withTimeoutRepeatingIfSuspended = (millis: number): WithTimeout => (effect) =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const ended = yield* Deferred.make<null>()
    const latest = monotonicMillis(clock) + millis + suspendedAfter
    const wasSuspended = (error: unknown) =>
      Predicate.isTagged(error, "TransportError") && monotonicMillis(clock) > latest
    const first = Effect.ensuring(effect, Deferred.succeed(ended, null))
    const second = Effect.zipRight(Deferred.await(ended), Effect.delay(effect, resumeDelay))
    return yield* Effect.catchIf(
      withTimeout(first, millis, exchangeTimedOut),
      wasSuspended,
      () => withTimeout(second, millis, exchangeTimedOut)
    )
  })
