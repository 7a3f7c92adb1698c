import type { Moment } from "./clock.js"

/**
 * A time to wait, in milliseconds. It ends when either clock says so: the wall clock also counts while a machine sleeps, the
 * monotonic one can't be set back. A clock that stands before the beginning was set back, and ends the pause too.
 */
export interface Pause {
  readonly from: Moment
  readonly duration: number
}

export const start = (from: Moment, duration: number): Pause => ({ from, duration })

/** Milliseconds until the end, zero once it is over. */
export const remaining = (pause: Pause | undefined, now: Moment): number => {
  if (pause === undefined) return 0
  const wall = now.wall - pause.from.wall
  const monotonic = now.monotonic - pause.from.monotonic
  return wall < 0 || monotonic < 0 ? 0 : Math.max(0, pause.duration - Math.max(wall, monotonic))
}

export const isRunning = (pause: Pause | undefined, now: Moment): boolean => remaining(pause, now) > 0
