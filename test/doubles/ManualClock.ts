import { Clock, Effect } from "effect"

/** A clock of which wall time and monotonic time move apart, as they do when a machine sleeps or is set. */
export interface ManualClock extends Clock.Clock {
  wall: number
  monotonic: number
}

/** Both times are offsets in milliseconds to those of the base clock, whose sleeps it keeps. */
export const besides = (base: Clock.Clock): ManualClock => {
  const millis = () => base.unsafeCurrentTimeMillis() + clock.wall
  const nanos = () => base.unsafeCurrentTimeNanos() + BigInt(clock.monotonic) * 1_000_000n
  const clock: ManualClock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    wall: 0,
    monotonic: 0,
    unsafeCurrentTimeMillis: millis,
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) => base.sleep(duration)
  }
  return clock
}

const standstill: Clock.Clock = {
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: () => 1_700_000_000_000,
  unsafeCurrentTimeNanos: () => 5_000_000_000n,
  currentTimeMillis: Effect.succeed(1_700_000_000_000),
  currentTimeNanos: Effect.succeed(5_000_000_000n),
  sleep: () => Effect.never
}

/** A clock that stands until a test moves it. */
export const make = (): ManualClock => besides(standstill)

/** Lets the same time pass on both. */
export const pass = (clock: ManualClock, millis: number): void => {
  clock.wall += millis
  clock.monotonic += millis
}
