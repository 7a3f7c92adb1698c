import { setImmediate } from "node:timers/promises"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { runs } from "../support/doubles/runs.js"
import { seeded } from "../support/doubles/runtime.js"
import { SteppedScheduler } from "../support/model/SteppedScheduler.js"
import { plans, type Step, World } from "../support/model/World.js"

const hour = 3_600_000

const pass = FastCheck.constantFrom(1, 20, 100, 1_000, 5_000, 10_000, 60_000, 600_000)

const jump = FastCheck.constantFrom(-2 * hour, -60_000, -5, 5, 60_000, 2 * hour)

const step = FastCheck.oneof(
  { arbitrary: pass.map((millis): Step => ({ _tag: "Pass", millis })), weight: 8 },
  {
    arbitrary: FastCheck.constantFrom(false, false, false, true).map((forbidden): Step => ({
      _tag: "Call",
      forbidden
    })),
    weight: 10
  },
  { arbitrary: FastCheck.constant<Step>({ _tag: "Leave" }), weight: 2 },
  { arbitrary: FastCheck.constant<Step>({ _tag: "Revoke" }), weight: 2 },
  { arbitrary: FastCheck.constantFrom(...plans).map((plan): Step => ({ _tag: "Plan", plan })), weight: 4 },
  { arbitrary: jump.map((millis): Step => ({ _tag: "Jump", millis })), weight: 1 }
)

const history = FastCheck.record({
  steps: FastCheck.array(step, { minLength: 40, maxLength: 40, size: "max" }),
  life: FastCheck.constantFrom(200, 20_000, 900_000),
  seed: FastCheck.string()
})

describe("TokenProvider in random histories", { timeout: 900_000 }, () => {
  it.each([1, 7, 13, 2_048])(
    "all invariants hold (operations before a fiber yields: %i)",
    (operations) =>
      FastCheck.assert(
        FastCheck.asyncProperty(history, async ({ life, seed, steps }) => {
          await setImmediate()
          const world = new World(new SteppedScheduler(operations, seeded(seed).next), life, seed)
          for (const step of steps) world.step(step)
          world.finish()
          expect(world.violations).toEqual([])
        }),
        { numRuns: runs(150) }
      )
  )

  it("two searches per second cost at most 48 exchanges in 5 minutes", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.array(FastCheck.constantFrom(...plans), { minLength: 1, maxLength: 20 }),
        FastCheck.constantFrom(0, 1, 10, 100),
        FastCheck.string(),
        async (pattern, forbiddenPercent, seed) => {
          const world = new World(new SteppedScheduler(2_048), hour, seed)
          for (let index = 0; index < 1_000; index++) {
            world.step({ _tag: "Plan", plan: pattern[index % pattern.length] ?? "issue" })
          }
          for (let second = 0; second < 300; second++) {
            if (second % 100 === 0) await setImmediate()
            // Some searches get a 403 with any token.
            world.step({ _tag: "Call", forbidden: second % 100 < forbiddenPercent })
            world.step({ _tag: "Call", forbidden: false })
            world.step({ _tag: "Pass", millis: 1_000 })
          }
          expect(world.violations).toEqual([])
          // Two renewals in 15 s, and a few exchanges before the first token.
          expect(world.exchanges).toBeLessThanOrEqual(48)
        }
      ),
      { numRuns: runs(20), examples: [[["issue"], 100, ""]] }
    ))
})
