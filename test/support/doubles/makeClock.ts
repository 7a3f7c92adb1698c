/** Clocks, made of their parts. */
import type { Clock, Duration, Effect } from "effect"
import { makeClock } from "./runtime.js"

export { makeClock }

export interface Parts {
  /** The wall clock, in epoch milliseconds. */
  readonly wall: () => number
  /** A clock that is never set back, in nanoseconds. */
  readonly monotonic: () => bigint
  readonly sleep: (duration: Duration.Duration) => Effect.Effect<void>
}

/** A clock with some other parts than this one. */
export const changedClock = (clock: Clock.Clock, changes: Partial<Parts>): Clock.Clock =>
  makeClock({
    wall: () => clock.unsafeCurrentTimeMillis(),
    monotonic: () => clock.unsafeCurrentTimeNanos(),
    sleep: (duration) => clock.sleep(duration),
    ...changes
  })
