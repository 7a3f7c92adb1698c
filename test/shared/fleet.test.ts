/** The calls of a fleet to its cache and the token route, and the delays of its callers. */
import { describe, expect, it } from "vitest"
import * as PlainCrypto from "../support/doubles/PlainCrypto.js"
import { cacheTimeout, lease, SimulatedFleet, tokenTimeout } from "./fleet/SimulatedFleet.js"

const size = 60

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** It is stale for 20 seconds. */
const shortLife = 200_000

/** A test with a fleet that has started, but not searched. */
const test = (title: string, play: (fleet: SimulatedFleet) => Promise<void>, life = day, replicas = size) =>
  it(title, () =>
    PlainCrypto.using(async () => {
      const fleet = new SimulatedFleet({ seed: process.env["SEED"] ?? "1", life })
      await fleet.startAll(replicas)
      await play(fleet)
      await fleet.finish()
      expect(fleet.violations).toEqual([])
    }))

const searched = async (fleet: SimulatedFleet, millis: number) => {
  fleet.searchAll()
  await fleet.pass(millis)
}

/** Every replica has the same token, and a minute has passed. */
const warm = async (fleet: SimulatedFleet) => {
  await searched(fleet, minute)
  fleet.durations.length = 0
  return { calls: fleet.cache.calls, exchanges: fleet.service.exchanges.length }
}

describe.each([size, 1_000])("fleet: cold start of %d replicas", (replicas) => {
  test(
    "it costs one exchange of a second and six cache calls per replica",
    async (fleet) => {
      await searched(fleet, 5_000)
      expect([fleet.succeeded, fleet.service.exchanges.length]).toEqual([replicas, 1])
      expect(fleet.cache.calls / replicas).toBeLessThanOrEqual(6)
      expect(fleet.cache.busiestSince(2_000) / replicas).toBeLessThanOrEqual(0.6)
    },
    day,
    replicas
  )
})

describe("fleet: replicas that have the same token", () => {
  test("a refresh costs one exchange, and at most 20% of replicas call the cache in the same second", async (fleet) => {
    const before = await warm(fleet)
    await fleet.pass(fleet.cache.publishedAt + hour - 5 * minute - fleet.time.now)
    const windowStart = fleet.time.now
    await fleet.pass(3 * minute)
    expect(fleet.service.exchanges.length - before.exchanges).toBe(1)
    expect(fleet.cache.busiestSince(windowStart) / size).toBeLessThanOrEqual(0.2)
  }, hour)

  test("a revocation costs one exchange and six cache calls per replica", async (fleet) => {
    const before = await warm(fleet)
    fleet.service.revoke()
    const revokedAt = fleet.time.now
    await searched(fleet, 5_000)
    expect([fleet.succeeded, fleet.service.exchanges.length - before.exchanges]).toEqual([2 * size, 1])
    expect((fleet.cache.calls - before.calls) / size).toBeLessThanOrEqual(6)
    expect(fleet.cache.busiestSince(revokedAt + 2_000) / size).toBeLessThanOrEqual(0.6)
  })
})

describe("fleet: waiting for a peer", () => {
  it.each([50, 300, 700, 1_000, 2_500, 7_000])(
    "each replica gets the token within a second of the write, after an exchange of %d ms",
    (millis) =>
      PlainCrypto.using(async () => {
        const fleet = new SimulatedFleet({ seed: String(millis), life: day })
        await fleet.startAll(100)
        fleet.service.tokenMillis = millis
        await searched(fleet, millis + 3_000)
        const last = Math.max(...fleet.durations)
        expect(fleet.succeeded).toBe(100)
        expect(last - fleet.cache.publishedAt).toBeLessThanOrEqual(1_000)
        expect(fleet.service.exchanges).toHaveLength(1)
      })
  )

  it.each([300, 1_000, 4_000, 14_900])(
    "a dead replica's lease that expires after %d ms is taken over within a second",
    (left) =>
      PlainCrypto.using(async () => {
        for (const replicas of [1, 20]) {
          const fleet = new SimulatedFleet({ seed: `${left} ${replicas}`, life: day })
          await fleet.startAll(replicas + 1)
          fleet.service.route = "hangs"
          const dying = fleet.replicas.get(replicas)
          if (dying === undefined) throw new Error("no replica")
          fleet.search(dying)
          await fleet.pass(10)
          fleet.cache.unreachableFor.add(replicas)
          dying.stop()
          fleet.service.route = "up"
          await fleet.pass(lease - left - 10)
          await searched(fleet, left + 5_000)
          const [, next = 0] = fleet.service.exchanges
          expect(fleet.succeeded).toBe(replicas)
          expect(fleet.service.exchanges).toHaveLength(2)
          expect(next).toBeGreaterThanOrEqual(lease)
          expect(next).toBeLessThanOrEqual(lease + 1_000)
        }
      })
  )
})

describe("fleet: a cache that exceeds cacheTimeout or is gone", () => {
  const failures: ReadonlyArray<readonly [string, (fleet: SimulatedFleet) => void]> = [
    ["is too slow", ({ cache }) => {
      cache.latency = 5 * cacheTimeout
    }],
    ["is gone", ({ cache }) => {
      cache.isDown = true
    }]
  ]

  /** The most exchanges that began in one second. */
  const busiest = (starts: ReadonlyArray<number>) => {
    const bySecond = new Map<number, number>()
    for (const at of starts) bySecond.set(Math.floor(at / 1_000), (bySecond.get(Math.floor(at / 1_000)) ?? 0) + 1)
    return Math.max(...bySecond.values())
  }

  /** Of `size` exchanges in 5 seconds, with four standard deviations of what chance adds. */
  const bound = (seconds: number) => size / seconds + 4 * Math.sqrt(size / seconds)

  for (const [title, fails] of failures) {
    test(`on a cold start while the cache ${title}, exchanges are spread over half of tokenTimeout`, async (fleet) => {
      fails(fleet)
      await searched(fleet, 20_000)
      expect([fleet.succeeded, fleet.service.exchanges.length]).toEqual([size, size])
      expect(busiest(fleet.service.exchanges)).toBeLessThanOrEqual(bound(tokenTimeout / 2_000))
      expect(Math.max(...fleet.durations)).toBeLessThanOrEqual(tokenTimeout / 2 + cacheTimeout + 2_000)
    })

    test(`on a revocation while the cache ${title}, exchanges are spread and no search fails`, async (fleet) => {
      const { exchanges } = await warm(fleet)
      fails(fleet)
      fleet.service.revoke()
      await searched(fleet, 20_000)
      expect([fleet.succeeded, fleet.failed]).toEqual([2 * size, {}])
      expect(busiest(fleet.service.exchanges.slice(exchanges))).toBeLessThanOrEqual(bound(tokenTimeout / 2_000))
    })

    test(
      `on a refresh while the cache ${title}, exchanges are spread over the duration of a lease, and no search waits`,
      async (fleet) => {
        const { exchanges } = await warm(fleet)
        fails(fleet)
        await fleet.pass(shortLife - shortLife / 10 - fleet.time.now + 2_000)
        await searched(fleet, 40_000)
        expect(fleet.succeeded).toBe(2 * size)
        expect(Math.max(...fleet.durations)).toBeLessThanOrEqual(100)
        expect(busiest(fleet.service.exchanges.slice(exchanges))).toBeLessThanOrEqual(bound(lease / 1_000))
      },
      shortLife
    )
  }

  test("if the cache recovers within a second, fewer than half of the replicas exchange the key", async (fleet) => {
    fleet.cache.isDown = true
    fleet.time.after(1_000, () => {
      fleet.cache.isDown = false
    })
    await searched(fleet, 20_000)
    expect(fleet.succeeded).toBe(size)
    expect(fleet.service.exchanges.length).toBeLessThan(size / 2)
  })
})
