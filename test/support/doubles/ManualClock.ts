import type { Clock } from "effect"
import { makeClock } from "./runtime.js"

/** A clock of which wall time and monotonic time move apart, as they do when a machine sleeps or its time is set. */
export interface ManualClock extends Clock.Clock {
  /** What the wall clock is ahead of the base clock, in milliseconds. */
  wallOffset: number
  /** The same for the monotonic clock. */
  monotonicOffset: number
}

/** It starts with the times of the base clock, and keeps its timers. */
export const over = (base: Clock.Clock): ManualClock => {
  const moved = { wallOffset: 0, monotonicOffset: 0 }
  return Object.assign(
    moved,
    makeClock({
      wall: () => base.unsafeCurrentTimeMillis() + moved.wallOffset,
      monotonic: () => base.unsafeCurrentTimeNanos() + BigInt(moved.monotonicOffset) * 1_000_000n,
      sleep: (duration) => base.sleep(duration)
    })
  )
}

/** Suspends the process, or stops it as a function is stopped between two calls: both clocks continue, but no timer fires. */
export const suspend = (clock: ManualClock, millis: number): void => {
  clock.wallOffset += millis
  clock.monotonicOffset += millis
}
