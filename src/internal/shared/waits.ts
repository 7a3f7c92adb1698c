/** What a replica does while a peer has the lease. Times are in milliseconds. */

/** The calls of one round. The lease is asked for because its holder may have died, or failed to exchange. */
export type Round = "ReadAndLease" | "Read"

const firstRounds: ReadonlyArray<Round> = ["ReadAndLease", "Read", "Read", "Read"]

/**
 * The first second has few calls, and from then on each is made within a second: a peer that exchanges for one second costs a waiting
 * replica six calls.
 */
export const roundOf = (index: number): Round => firstRounds[index] ?? "ReadAndLease"

/** Reads come about 110, 270, 560 and 1,070 ms after the first one: soon after exchanges of 0, 200 and 500 ms, and of a second. */
const firstWaits = [110, 160, 290, 510]

const laterWait = 850

/** Added to each wait or subtracted from it. Rounds of a fleet that starts together spread further apart with each wait. */
const jitter = 15

/** How long to wait after a round. `random` is from 0 to 1. */
export const waitAfter = (index: number, random: number): number =>
  Math.round((firstWaits[index] ?? laterWait) + jitter * (2 * random - 1))
