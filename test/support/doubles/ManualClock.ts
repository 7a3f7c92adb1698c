import type { Clock } from "effect"
import { changedClock } from "./makeClock.js"

/** A clock of which wall time and monotonic time move apart, as they do when a machine sleeps or is set. */
export interface ManualClock extends Clock.Clock {
  wall: number
  monotonic: number
}

/** Both times are offsets in milliseconds to those of the base clock, whose sleeps it keeps. */
export const besides = (base: Clock.Clock): ManualClock => {
  const moved = { wall: 0, monotonic: 0 }
  return Object.assign(
    moved,
    changedClock(base, {
      wall: () => base.unsafeCurrentTimeMillis() + moved.wall,
      monotonic: () => base.unsafeCurrentTimeNanos() + BigInt(moved.monotonic) * 1_000_000n
    })
  )
}
