import { Clock, type Duration, Effect } from "effect"

interface Parts {
  /** The wall clock, in epoch milliseconds. */
  readonly wall: () => number
  /** A clock that is never set back, in nanoseconds. */
  readonly monotonic: () => bigint
  readonly sleep: (duration: Duration.Duration) => Effect.Effect<void>
}

/** A clock of its parts. */
export const makeClock = ({ monotonic, sleep, wall }: Parts): Clock.Clock => ({
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  currentTimeMillis: Effect.sync(wall),
  currentTimeNanos: Effect.sync(monotonic),
  sleep,
  unsafeCurrentTimeMillis: wall,
  unsafeCurrentTimeNanos: monotonic
})

/** A clock with some other parts than this one. */
export const changedClock = (clock: Clock.Clock, changes: Partial<Parts>): Clock.Clock =>
  makeClock({
    wall: () => clock.unsafeCurrentTimeMillis(),
    monotonic: () => clock.unsafeCurrentTimeNanos(),
    sleep: (duration) => clock.sleep(duration),
    ...changes
  })
