// All times are in milliseconds on the monotonic clock.

/** At most `limit` requests are sent in any `interval`, or one more because timers fire late. */
export interface Rate {
  readonly limit: number
  readonly interval: number
}

/** A series of requests that were sent at even intervals since `start`. */
export interface Pace {
  readonly start: number
  readonly sent: number
}

export const initial: Pace = { start: Number.NEGATIVE_INFINITY, sent: 0 }

/** Node's timers fire up to about this many milliseconds late. */
const timerLateness = 2

/** The time between two requests. */
export const distanceOf = ({ interval, limit }: Rate): number => interval / limit

/** Multiplies instead of adding up distances, because their rounding errors would accumulate. */
const next = ({ interval, limit }: Rate, { sent, start }: Pace) => start + (sent * interval) / limit

export const waitTime = (rate: Rate, pace: Pace, now: number): number => Math.max(0, next(rate, pace) - now)

/** Starts a new series with a request that is sent now. Also used to move the request that was counted last, if it is sent only now. */
export const startAt = (now: number): Pace => ({ start: now, sent: 1 })

/**
 * Counts a request that is sent now. If its timer was late, the next request isn't delayed. That is why an interval can have one request
 * more than `limit`.
 */
export const count = (rate: Rate, pace: Pace, now: number, hasWaited: boolean): Pace => {
  const lateness = Math.max(distanceOf(rate), timerLateness)
  return hasWaited && now - next(rate, pace) < lateness ? { ...pace, sent: pace.sent + 1 } : startAt(now)
}
