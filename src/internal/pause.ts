import type * as Clock from "effect/Clock"

/**
 * A stretch of time that ends when either clock says so: the wall clock also counts while a machine sleeps, the monotonic one
 * can't be set back. A wall clock that stands before the beginning was set back, and ends the pause too.
 */
export interface Pause {
  readonly wallStart: number
  readonly monotonicStart: bigint
  readonly duration: number
}

export const start = (clock: Clock.Clock, duration: number): Pause => ({
  wallStart: clock.unsafeCurrentTimeMillis(),
  monotonicStart: clock.unsafeCurrentTimeNanos(),
  duration
})

/** Milliseconds until the end, zero once it is over. */
export const remaining = (pause: Pause | undefined, clock: Clock.Clock): number => {
  if (pause === undefined) return 0
  const wall = clock.unsafeCurrentTimeMillis() - pause.wallStart
  const monotonic = Number(clock.unsafeCurrentTimeNanos() - pause.monotonicStart) / 1e6
  return wall < 0 || monotonic < 0 ? 0 : Math.max(0, pause.duration - Math.max(wall, monotonic))
}

export const stands = (pause: Pause | undefined, clock: Clock.Clock): boolean => remaining(pause, clock) > 0
