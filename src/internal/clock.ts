import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/**
 * A moment on both clocks, in milliseconds. The wall clock tells when a token expires, and goes on while a machine sleeps. The
 * monotonic clock can't be set back.
 */
export interface Moment {
  readonly wall: number
  readonly monotonic: number
}

/** The clock that a fiber runs with. */
export const clockOf = (fiber: Fiber.RuntimeFiber<unknown, unknown>): Clock.Clock =>
  Context.unsafeGet(fiber.currentDefaultServices, Clock.Clock)

export const wallOf = (clock: Clock.Clock): number => clock.unsafeCurrentTimeMillis()

export const monotonicOf = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

export const momentOf = (clock: Clock.Clock): Moment => ({ wall: wallOf(clock), monotonic: monotonicOf(clock) })

/** What the effect makes of the current moment. */
export const withNow = <A, E, R>(use: (now: Moment) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => use(momentOf(clock)))
