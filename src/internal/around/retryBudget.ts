/** In any so many milliseconds so many repeats are free. */
const span = 10_000

const free = 10

/**
 * How many repeats may be sent. Each request of a caller adds a share of a repeat, and beside that ten are free in any ten seconds.
 * What is reserved during a pause counts as sent, so that the bound holds for the times at which repeats are sent.
 */
export interface RetryBudget {
  /** A caller began a request. */
  readonly add: () => void
  /** Whether a repeat may follow after a pause; if so, it is either sent or canceled. */
  readonly reserve: (now: number) => boolean
  readonly send: (now: number) => void
  readonly cancel: () => void
}

export const make = (share: number): RetryBudget => {
  let credit = free
  let reserved = 0
  /** When the last repeats were sent, at most as many as are free. */
  const sent: Array<number> = []

  const isFree = (now: number) => sent.filter((time) => time > now - span).length + reserved < free

  return {
    add: () => {
      credit = Math.min(free - reserved, credit + share)
    },
    reserve: (now) => {
      if (credit < 1 && !isFree(now)) return false
      credit = Math.max(0, credit - 1)
      reserved += 1
      return true
    },
    send: (now) => {
      reserved -= 1
      sent.push(now)
      if (sent.length > free) sent.shift()
    },
    cancel: () => {
      reserved -= 1
      credit = Math.min(free - reserved, credit + 1)
    }
  }
}
