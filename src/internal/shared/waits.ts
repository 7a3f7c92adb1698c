/** When a replica calls the cache while a peer has the lease. Times are in milliseconds. */

/**
 * Checks whether a round also asks for the lease, because its holder may have died or failed to exchange the key. Few rounds of the first
 * second do: if a peer's exchange takes that long, a waiting replica makes six calls. Later rounds start less than a second apart.
 */
export const asksForLease = (round: number): boolean => round === 0 || round > 3

/** They lead to reads about 110, 270, 560 and 1,070 ms after the first one: soon after exchanges that take 0, 200, 500 and 1,000 ms. */
const firstWaits = [110, 160, 290, 510]

const laterWait = 850

/** Up to this much is added to or subtracted from each wait, so that replicas that start together drift apart. */
const jitter = 15

/** Returns the length of the next wait, after this many earlier ones. `random` is between 0 and 1. */
export const waitAfter = (waits: number, random: number): number =>
  Math.round((firstWaits[waits] ?? laterWait) + jitter * (2 * random - 1))
