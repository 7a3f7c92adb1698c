import type * as Clock from "effect/Clock"

/** Milliseconds that only grow, whatever the wall clock is set to: for everything but the times of tokens and Retry-After dates. */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

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
