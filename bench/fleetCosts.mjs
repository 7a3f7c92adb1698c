/** What a fleet costs: the rows of the table in docs/sharing.md. */
import { SimulatedFleet } from "../test/shared/fleet/SimulatedFleet.ts"
import * as PlainCrypto from "../test/support/doubles/PlainCrypto.ts"

const minute = 60_000

const life = 75 * minute

/** An exchange takes one second, and a call to the cache one millisecond. The last two situations take 70 minutes. */
export const costsOf = (replicas) =>
  PlainCrypto.using(async () => {
    const fleet = new SimulatedFleet({ seed: "1", life })
    const { cache, service, time } = fleet
    const costs = []

    const measure = async (situation, millis, isSearching) => {
      const [exchanges, cacheCalls, startedAt] = [service.exchanges.length, cache.calls, time.now]
      fleet.durations.length = 0
      if (isSearching) fleet.searchAll()
      await fleet.pass(millis)
      const longest = fleet.durations.reduce((longest, millis) => Math.max(longest, millis), 0)
      costs.push({
        situation,
        replicas,
        exchanges: service.exchanges.length - exchanges,
        cacheCalls: cache.calls - cacheCalls,
        busiestSecond: cache.busiestSince(startedAt),
        // The milliseconds from the publication of the token until the last replica had its search result.
        lastAfter: isSearching ? Math.round(startedAt + longest - cache.publishedAt) : undefined
      })
    }

    await fleet.startAll(replicas)
    await measure("cold start", minute, true)
    service.revoke()
    await measure("revocation", minute, true)
    await measure("quiet hour", 60 * minute, false)
    await fleet.pass(cache.publishedAt + life - 5 * minute - time.now)
    await measure("refresh", 3 * minute, false)
    if (fleet.violations.length > 0) throw new Error(fleet.violations[0])
    return costs
  })
