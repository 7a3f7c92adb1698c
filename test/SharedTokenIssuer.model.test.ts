import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { RefreshPolicy } from "effect-nutrition-advisor"
import { policyOf } from "./doubles/policy.js"
import { runs } from "./doubles/runs.js"
import * as FleetWeek from "./model/FleetWeek.js"

/** SERVICE.md section 8. */
const tokenLife = 86_155_000

const week: FleetWeek.Settings = {
  seed: 0,
  replicas: 10_000,
  days: 7,
  tokenLife,
  revocationsPerDay: 5,
  restartsPerReplicaAndDay: 2,
  lostHoldersPerDay: 1,
  isShared: true
}

const sum = (days: ReadonlyArray<FleetWeek.Day>, field: keyof FleetWeek.Day) =>
  days.reduce((sum, day) => sum + day[field], 0)

/** docs/sharing.md, "How it works": one for each token that ends, each revocation, each holder that died. */
const boundOf = ({ days, tokenLife }: FleetWeek.Settings, week: ReadonlyArray<FleetWeek.Day>) => {
  const window = RefreshPolicy.windowOf(policyOf(), { receivedAt: 0, expiresAt: tokenLife })
  const lives = Math.ceil(days * FleetWeek.day / (tokenLife - window))
  return lives + sum(week, "revocations") + sum(week, "lostHolders")
}

describe("a simulated week of 10,000 replicas", () => {
  it.each([1, 2, 3].slice(0, runs(3)))(
    "costs no more exchanges than docs/sharing.md states (seed %s)",
    async (seed) => {
      const settings = { ...week, seed }
      const days = await FleetWeek.run(settings)
      console.log(
        `week ${seed}: ${sum(days, "exchanges")} exchanges, bound ${boundOf(settings, days)}; by day ` +
          days.map(({ exchanges }) => exchanges).join(", ")
      )
      expect(sum(days, "restarts")).toBeGreaterThan(100_000)
      expect(sum(days, "exchanges")).toBeLessThanOrEqual(boundOf(settings, days))
    }
  )

  it("costs thousands of times as many where nothing is shared", async () => {
    const settings = { ...week, isShared: false }
    const days = await FleetWeek.run(settings)
    expect(sum(days, "exchanges")).toBeGreaterThan(1_000 * boundOf(settings, days))
  })
})

describe("a simulated fleet", () => {
  it("keeps to the bound whatever its size, the life of its tokens and its troubles", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.record({
          seed: FastCheck.integer(),
          replicas: FastCheck.integer({ min: 1, max: 300 }),
          days: FastCheck.integer({ min: 1, max: 4 }),
          tokenLife: FastCheck.integer({ min: 3_600_000, max: 3 * FleetWeek.day }),
          revocationsPerDay: FastCheck.integer({ min: 0, max: 40 }),
          restartsPerReplicaAndDay: FastCheck.integer({ min: 0, max: 10 }),
          lostHoldersPerDay: FastCheck.integer({ min: 0, max: 10 }),
          isShared: FastCheck.constant(true)
        }),
        async (settings) => {
          const days = await FleetWeek.run(settings)
          expect(sum(days, "exchanges")).toBeLessThanOrEqual(boundOf(settings, days))
        }
      ),
      { numRuns: runs(100) }
    )
  })
})
