import { type Clock, Effect } from "effect"
import { changedClock, makeClock } from "./makeClock.js"

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

const standstill = makeClock({
  wall: () => 1_700_000_000_000,
  monotonic: () => 5_000_000_000n,
  sleep: () => Effect.never
})

/** A clock that stands until a test moves it. */
export const make = (): ManualClock => besides(standstill)

/** Lets the same time pass on both. */
export const pass = (clock: ManualClock, millis: number): void => {
  clock.wall += millis
  clock.monotonic += millis
}
