/** Properties of a TokenProvider in random histories. test/token runs a few of them, and test/system runs many. */
import { setImmediate } from "node:timers/promises"
import { expect } from "@effect/vitest"
import { FastCheck } from "effect"
import { runs } from "../doubles/runs.js"
import { seeded } from "../doubles/runtime.js"
import { SteppedScheduler } from "./SteppedScheduler.js"
import { plans, type Step, World } from "./World.js"

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

/** Expects no violation in histories whose fibers yield after the given number of operations, in random order. */
export const expectNoViolation = (operations: number, numRuns: number) =>
  FastCheck.assert(
    FastCheck.asyncProperty(history, async ({ life, seed, steps }) => {
      await setImmediate()
      const world = new World(new SteppedScheduler(operations, seeded(seed).next), life, seed)
      for (const step of steps) world.step(step)
      world.finish()
      expect(world.violations).toEqual([])
    }),
    { numRuns: runs(numRuns) }
  )

/** Expects at most `most` exchanges if there are two searches per second, and some get a 403 with any token. */
export const expectFewExchanges = (seconds: number, most: number, numRuns: number) =>
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
        for (let second = 0; second < seconds; second++) {
          if (second % 100 === 0) await setImmediate()
          world.step({ _tag: "Call", forbidden: second % 100 < forbiddenPercent })
          world.step({ _tag: "Call", forbidden: false })
          world.step({ _tag: "Pass", millis: 1_000 })
        }
        expect(world.violations).toEqual([])
        expect(world.exchanges).toBeLessThanOrEqual(most)
      }
    ),
    { numRuns: runs(numRuns) }
  )
