// Effect 4 has three clocks in one, and no type id: what a clock is made of can't be renamed member by member.
import { Clock, type Duration, Effect } from "effect"

interface Parts {
  /** The wall clock, in epoch milliseconds. */
  readonly wall: () => number
  /** A clock that is never set back, in nanoseconds. */
  readonly monotonic: () => bigint
  readonly sleep: (duration: Duration.Duration) => Effect.Effect<void>
}

/** A clock of its parts. */
export const makeClock = ({ monotonic, sleep, wall }: Parts): Clock.Clock => {
  const unixNanos = () => BigInt(Math.round(wall())) * 1_000_000n
  return {
    currentTimeMillis: Effect.sync(wall),
    currentTimeMillisUnsafe: wall,
    currentTimeNanos: Effect.sync(unixNanos),
    currentTimeNanosUnsafe: unixNanos,
    monotonicTimeNanos: Effect.sync(monotonic),
    monotonicTimeNanosUnsafe: monotonic,
    sleep
  }
}

/** A clock with some other parts than this one. */
export const changedClock = (clock: Clock.Clock, changes: Partial<Parts>): Clock.Clock =>
  makeClock({
    wall: () => clock.currentTimeMillisUnsafe(),
    monotonic: () => clock.monotonicTimeNanosUnsafe(),
    sleep: (duration) => clock.sleep(duration),
    ...changes
  })
