/** What a fleet costs: the numbers in docs/sharing.md. */
import { SimulatedFleet } from "../test/shared/SimulatedFleet.ts"
import * as PlainCrypto from "../test/support/doubles/PlainCrypto.ts"

const minute = 60_000

const life = 75 * minute

/** An exchange takes one second, and a call to the cache one millisecond. The last two situations take 70 minutes. */
export const costsOf = async (replicas) => {
  const restoreCrypto = PlainCrypto.install()
  const fleet = new SimulatedFleet({ seed: "1", life })
  const costs = []

  const measure = async (situation, millis, isSearching) => {
    const [exchanges, cacheCalls, startedAt] = [fleet.exchanges, fleet.cacheCalls.length, fleet.time.now]
    fleet.durations.length = 0
    if (isSearching) fleet.searchAll()
    await fleet.pass(millis)
    const longest = fleet.durations.reduce((longest, millis) => Math.max(longest, millis), 0)
    costs.push({
      situation,
      replicas,
      exchanges: fleet.exchanges - exchanges,
      cacheCalls: fleet.cacheCalls.length - cacheCalls,
      busiestSecond: fleet.busiestSince(startedAt),
      // The milliseconds from the publication of the token until the last replica had its search result.
      lastAfter: isSearching ? Math.round(startedAt + longest - fleet.publishedAt) : undefined
    })
  }

  fleet.startAll(replicas)
  await measure("cold start", minute, true)
  fleet.now(fleet.simulator.revoke)
  await measure("revocation", minute, true)
  await measure("quiet hour", 60 * minute, false)
  await fleet.pass(fleet.publishedAt + life - 5 * minute - fleet.time.now)
  await measure("refresh", 3 * minute, false)
  restoreCrypto()
  if (fleet.violations.length > 0) throw new Error(fleet.violations[0])
  return costs
}
