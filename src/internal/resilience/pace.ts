/** Node's timers fire up to about this many milliseconds late. */
const timerLateness = 2

/** Spreads requests evenly: `limit` in each `interval`. All times are milliseconds of the monotonic clock. */
export const makePace = (limit: number, interval: number) => {
  const distance = interval / limit
  const lateness = Math.max(distance, timerLateness)
  let start = Number.NEGATIVE_INFINITY
  let sent = 0

  /** Not a sum of distances, whose rounding errors would add up. */
  const next = () => start + (sent * interval) / limit

  const startAt = (now: number) => {
    start = now
    sent = 1
  }

  return {
    distance,
    /** How long until the next request may be sent. */
    wait: (now: number): number => Math.max(0, next() - now),
    /**
     * Counts a request that is sent now. If it had to wait for its time, the next one doesn't also wait for the lateness of its
     * timer. That is why an interval can have one more than `limit`.
     */
    count: (now: number, hasWaited: boolean): void => {
      if (hasWaited && now - next() < lateness) sent += 1
      else startAt(now)
    },
    /** The request that was counted last is sent only now. */
    delay: startAt
  }
}
