import { type Clock, Effect } from "effect"
import { makeClock } from "./runtime.js"

/** A clock whose wall time and monotonic time can move separately, as they do when a machine sleeps or its time is changed. */
export interface ManualClock extends Clock.Clock {
  /** How far the wall clock is ahead of the base clock, in milliseconds. */
  wallOffset: number
  /** The same for the monotonic clock. */
  monotonicOffset: number
}

/** Creates a clock that starts with the times of the base clock, and uses its timers. */
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

/** Suspends the process, as a platform for functions does between two calls: both clocks advance, but no timer fires. */
export const suspend = (clock: ManualClock, millis: number): void => {
  clock.wallOffset += millis
  clock.monotonicOffset += millis
}

/** Runs an effect with a wall clock that is ahead of that of other fibers by this many milliseconds. */
export const withOffset = <A, E, R>(millis: number, effect: Effect.Effect<A, E, R>) =>
  Effect.clockWith((base) => {
    const clock = over(base)
    clock.wallOffset = millis
    return Effect.withClock(effect, clock)
  })
