// A replica that needs a token reads the cache in rounds, and in some of them asks for the lease. These are the rules for its waits, and for
// when it gives up. They are pure: each one gets the current time. Times are in milliseconds on the monotonic clock.

/** How long a replica may wait. */
export interface Limits {
  /** The time at which it stops waiting for a peer. */
  readonly waitsUntil: number
  /** How long it may wait for a failing cache. */
  readonly maxCacheOutage: number
}

/** What a replica knows between two rounds. */
export interface Rounds {
  readonly limits: Limits
  /** The number of the next round. If the cache fails in a round, that round is repeated, because the cache may recover. */
  readonly next: number
  /** In how many rounds the cache has failed. */
  readonly failures: number
  /** The time at which it gives up on a cache that fails. Undefined if the cache worked in the last round. */
  readonly outageEndsAt: number | undefined
}

export const initial = (limits: Limits): Rounds => ({
  limits,
  next: 0,
  failures: 0,
  outageEndsAt: undefined
})

/**
 * Whether the next round may take the lease, because its holder may have died or failed to exchange the key. Rounds 1 to 3 don't try, so a
 * replica that gets a peer's token after a second has made only six calls: five reads, and one for the lease. All later rounds do. They
 * start less than a second apart.
 */
export const mayTakeLease = ({ limits, next }: Rounds, now: number): boolean =>
  now < limits.waitsUntil && (next === 0 || next > 3)

/** The round found no token. If it asked for the lease, a peer holds it. */
export const foundNothing = (rounds: Rounds): Rounds => ({
  ...rounds,
  next: rounds.next + 1,
  outageEndsAt: undefined
})

/**
 * The cache failed. The time at which the replica gives up on it is random, so that the exchanges of all replicas are spread if the cache
 * doesn't recover. `random` is between 0 and 1.
 */
export const cacheFailed = (rounds: Rounds, random: number, now: number): Rounds => {
  const { maxCacheOutage, waitsUntil } = rounds.limits
  return {
    ...rounds,
    failures: rounds.failures + 1,
    outageEndsAt: rounds.outageEndsAt ?? now + Math.min(maxCacheOutage, waitsUntil - now) * random
  }
}

/**
 * The waits before the next reads, which come about 110, 270, 560 and 1,070 ms after the first one: soon after exchanges that take 0, 200,
 * 500 and 1,000 ms.
 */
const firstWaits = [110, 160, 290, 510]

const laterWait = 850

/** Each wait varies by up to this much in both directions, so that replicas that start together drift apart. */
const jitter = 15

/** Returns the wait before the next round, or undefined if the replica gives up. `random` is between 0 and 1. */
export const nextWait = (
  { failures, limits, next, outageEndsAt }: Rounds,
  random: number,
  now: number
): number | undefined => {
  const remaining = (outageEndsAt ?? limits.waitsUntil) - now
  if (remaining <= 0) return undefined
  const runs = next + failures
  const wait = (firstWaits[runs - 1] ?? laterWait) + jitter * (2 * random - 1)
  // Whole milliseconds, because the timer for a fraction of one may fire before the clock has moved.
  return Math.min(Math.ceil(remaining), Math.round(wait))
}

/** Whether a replica that gives up does so because of the lease, not because of a failing cache. */
export const isLeaseToBlame = ({ outageEndsAt }: Rounds): boolean => outageEndsAt === undefined
