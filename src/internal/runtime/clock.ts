import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/**
 * Returns a number of milliseconds that never decreases. Only token times and Retry-After dates need the wall clock, which can be set back.
 */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

export const currentMonotonicMillis: Effect.Effect<number> = Effect.map(Effect.clock, monotonicMillis)

/** One moment on both clocks, in milliseconds. */
export interface Moment {
  /** Epoch milliseconds. The clock can be set back. */
  readonly wall: number
  readonly monotonic: number
}

export const momentOf = (clock: Clock.Clock): Moment => ({
  wall: clock.unsafeCurrentTimeMillis(),
  monotonic: monotonicMillis(clock)
})
