/** Node's timers fire up to about this many milliseconds late. */
const timerLateness = 2

/** Spaces requests evenly, with `limit` of them in each `interval`. All times are in milliseconds on the monotonic clock. */
export const makePace = ({ interval, limit }: { readonly limit: number; readonly interval: number }) => {
  const distance = interval / limit
  const lateness = Math.max(distance, timerLateness)
  let start = Number.NEGATIVE_INFINITY
  let sent = 0

  /** Multiplies instead of adding up distances, because their rounding errors would add up, too. */
  const next = () => start + (sent * interval) / limit

  const startAt = (now: number) => {
    start = now
    sent = 1
  }

  return {
    distance,
    waitTime: (now: number): number => Math.max(0, next() - now),
    /**
     * Counts a request that is sent now. If it is late because its timer was, this doesn't delay the next request. That is why an interval
     * can have one request more than `limit`.
     */
    count: (now: number, hasWaited: boolean): void => {
      if (hasWaited && now - next() < lateness) sent += 1
      else startAt(now)
    },
    /** Moves the request that was counted last: it is sent only now. */
    moveLast: startAt
  }
}

export type Pace = ReturnType<typeof makePace>
