/** The milliseconds over which repeats are compared with requests. */
const span = 10_000

const free = 10

/**
 * Which repeats may be sent: those of the last ten seconds are fewer than a share of the requests that callers began in these ten
 * seconds, plus ten. All times are milliseconds of the monotonic clock.
 */
export interface RetryBudget {
  /** A caller began a request. */
  readonly begin: (now: number) => void
  /** Whether a repeat that is due then will likely be allowed; if so, it is sent or canceled. */
  readonly plan: (now: number, due: number) => boolean
  /** Whether the planned repeat may be sent now; it counts from then on. */
  readonly send: (due: number, now: number) => boolean
  readonly cancel: (due: number) => void
}

/** How many of the ascending times are not above this one. */
const countUntil = (times: ReadonlyArray<number>, time: number): number => {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((times[middle] ?? 0) > time) high = middle
    else low = middle + 1
  }
  return low
}

const insert = (times: Array<number>, time: number) => times.splice(countUntil(times, time), 0, time)

/** In blocks, since removing the first one of many costs as much as removing half of them. */
const forgetUntil = (times: Array<number>, time: number) => {
  const old = countUntil(times, time)
  if (old > 0 && old * 2 >= times.length) times.splice(0, old)
}

export const make = (share: number): RetryBudget => {
  const begun: Array<number> = []
  /** When repeats were sent and, above the present time, when others are due. */
  const repeats: Array<number> = []

  const within = (times: ReadonlyArray<number>, time: number) =>
    countUntil(times, time) - countUntil(times, time - span)

  /** One that a process slept through for longer than the span may be forgotten already. */
  const cancel = (due: number) => {
    const place = countUntil(repeats, due) - 1
    if (repeats[place] === due) repeats.splice(place, 1)
  }

  return {
    begin: (now) => {
      forgetUntil(begun, now - span)
      begun.push(now)
    },
    plan: (now, due) => {
      forgetUntil(repeats, now - span)
      if (within(repeats, due) >= share * within(begun, now) + free) return false
      insert(repeats, due)
      return true
    },
    send: (due, now) => {
      cancel(due)
      if (within(repeats, now) >= share * within(begun, now) + free) return false
      insert(repeats, now)
      return true
    },
    cancel
  }
}
