/** The calls of a fleet to its cache and the token route, and the delays of its callers. */
import { beforeEach, describe, expect, it } from "vitest"
import * as Cache from "../support/doubles/CacheDouble.js"
import * as PlainCrypto from "../support/doubles/PlainCrypto.js"
import { busiest, cacheTimeout, lease, SimulatedFleet, tokenTimeout } from "./SimulatedFleet.js"

const size = 60

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** It is stale for 20 seconds. */
const shortLife = 200_000

beforeEach(PlainCrypto.install)

/** A test with a fleet that has started, but not searched. */
const test = (title: string, play: (fleet: SimulatedFleet) => Promise<void>, life = day, replicas = size) =>
  it(title, async () => {
    const fleet = new SimulatedFleet({ seed: process.env["SEED"] ?? "1", life })
    fleet.startAll(replicas)
    await play(fleet)
    await fleet.finish()
    expect(fleet.violations).toEqual([])
    expect(fleet.failures).toEqual([])
  })

const searched = async (fleet: SimulatedFleet, millis: number) => {
  fleet.searchAll()
  await fleet.pass(millis)
}

/** Every replica has the same token, and a minute has passed. */
const warm = async (fleet: SimulatedFleet) => {
  await searched(fleet, minute)
  fleet.durations.length = 0
  return { calls: fleet.cacheCalls.length, exchanges: fleet.exchanges }
}

describe.each([size, 500])("fleet: cold start of %d replicas", (replicas) => {
  test(
    "it costs one exchange of a second and six cache calls per replica",
    async (fleet) => {
      await searched(fleet, 5_000)
      expect(fleet.durations).toHaveLength(replicas)
      expect(fleet.exchanges).toBe(1)
      expect(fleet.cacheCalls.length / replicas).toBeLessThanOrEqual(6)
      expect(fleet.busiestSince(2_000) / replicas).toBeLessThanOrEqual(0.6)
    },
    day,
    replicas
  )
})

describe("fleet: replicas that have the same token", () => {
  test("a refresh costs one exchange, and at most 20% of replicas call the cache in the same second", async (fleet) => {
    const before = await warm(fleet)
    await fleet.pass(fleet.publishedAt + hour - 5 * minute - fleet.time.now)
    const windowStart = fleet.time.now
    await fleet.pass(3 * minute)
    expect(fleet.exchanges - before.exchanges).toBe(1)
    expect(fleet.busiestSince(windowStart) / size).toBeLessThanOrEqual(0.2)
  }, hour)

  test("a revocation costs one exchange and six cache calls per replica", async (fleet) => {
    const before = await warm(fleet)
    fleet.now(fleet.simulator.revoke)
    const revokedAt = fleet.time.now
    await searched(fleet, 5_000)
    expect(fleet.durations).toHaveLength(size)
    expect(fleet.exchanges - before.exchanges).toBe(1)
    expect((fleet.cacheCalls.length - before.calls) / size).toBeLessThanOrEqual(6)
    expect(fleet.busiestSince(revokedAt + 2_000) / size).toBeLessThanOrEqual(0.6)
  })
})

describe("fleet: waiting for a peer", () => {
  it.each([50, 300, 700, 1_000, 2_500, 7_000])(
    "each replica gets the token within a second of the write, after an exchange of %d ms",
    async (millis) => {
      const fleet = new SimulatedFleet({ seed: String(millis), life: day })
      fleet.startAll(100)
      fleet.now(fleet.simulator.setLatency("token", millis))
      await searched(fleet, millis + 3_000)
      expect(fleet.durations).toHaveLength(100)
      expect(fleet.exchanges).toBe(1)
      expect(Math.max(...fleet.durations) - fleet.publishedAt).toBeLessThanOrEqual(1_000)
    }
  )

  it.each([300, 1_000, 4_000, 14_900])(
    "a dead replica's lease that expires after %d ms is taken over within a second",
    async (left) => {
      for (const replicas of [1, 20]) {
        const fleet = new SimulatedFleet({ seed: `${left} ${replicas}`, life: day })
        fleet.startAll(replicas + 1)
        fleet.now(fleet.simulator.respondNext("token", "hang"))
        const dying = replicas
        fleet.search(dying)
        await fleet.pass(10)
        fleet.setCache(Cache.fails, [dying])
        fleet.stop(dying)
        await fleet.pass(lease - left - 10)
        await searched(fleet, left + 5_000)
        const [, next = 0] = fleet.exchangeStarts
        expect(fleet.durations).toHaveLength(replicas)
        expect(fleet.exchanges).toBe(2)
        expect(next).toBeGreaterThanOrEqual(lease)
        expect(next).toBeLessThanOrEqual(lease + 1_000)
      }
    }
  )
})

describe("fleet: a cache that exceeds cacheTimeout or is gone", () => {
  const failures: ReadonlyArray<readonly [string, Cache.Behavior]> = [
    ["is too slow", Cache.takes(5 * cacheTimeout)],
    ["is gone", Cache.fails]
  ]

  /** Of `size` exchanges in 5 seconds, with four standard deviations of what chance adds. */
  const bound = (seconds: number) => size / seconds + 4 * Math.sqrt(size / seconds)

  for (const [title, behavior] of failures) {
    test(`on a cold start while the cache ${title}, exchanges are spread over half of tokenTimeout`, async (fleet) => {
      fleet.setCache(behavior)
      await searched(fleet, 20_000)
      expect(fleet.durations).toHaveLength(size)
      expect(fleet.exchanges).toBe(size)
      expect(busiest(fleet.exchangeStarts)).toBeLessThanOrEqual(bound(tokenTimeout / 2_000))
      expect(Math.max(...fleet.durations)).toBeLessThanOrEqual(tokenTimeout / 2 + cacheTimeout + 2_000)
    })

    test(`on a revocation while the cache ${title}, exchanges are spread and no search fails`, async (fleet) => {
      const { exchanges } = await warm(fleet)
      fleet.setCache(behavior)
      fleet.now(fleet.simulator.revoke)
      await searched(fleet, 20_000)
      expect(fleet.durations).toHaveLength(size)
      expect(busiest(fleet.exchangeStarts.slice(exchanges))).toBeLessThanOrEqual(bound(tokenTimeout / 2_000))
    })

    test(
      `on a refresh while the cache ${title}, exchanges are spread over the duration of a lease, and no search waits`,
      async (fleet) => {
        const { exchanges } = await warm(fleet)
        fleet.setCache(behavior)
        await fleet.pass(shortLife - shortLife / 10 - fleet.time.now + 2_000)
        await searched(fleet, 40_000)
        expect(fleet.durations).toHaveLength(size)
        expect(Math.max(...fleet.durations)).toBeLessThanOrEqual(100)
        expect(busiest(fleet.exchangeStarts.slice(exchanges))).toBeLessThanOrEqual(bound(lease / 1_000))
      },
      shortLife
    )
  }

  test("if the cache recovers within a second, fewer than half of the replicas exchange the key", async (fleet) => {
    fleet.setCache(Cache.fails)
    fleet.time.after(1_000, () => fleet.setCache())
    await searched(fleet, 20_000)
    expect(fleet.durations).toHaveLength(size)
    expect(fleet.exchanges).toBeLessThan(size / 2)
  })
})
