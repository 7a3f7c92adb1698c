import { setImmediate } from "node:timers/promises"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { seeded } from "./doubles/runtime.js"
import { ShakenScheduler } from "./model/ShakenScheduler.js"
import { CacheWorld, type Plan, type Step } from "./resilience/CacheWorld.js"

const plan = FastCheck.record({
  outcome: FastCheck.constantFrom<Plan["outcome"]>(
    "payload",
    "payload",
    "ServerError",
    "TransportError",
    "TooManyRequests",
    "BadRequest",
    "defect"
  ),
  millis: FastCheck.constantFrom(0, 100, 400, 2_000)
})

const step = FastCheck.oneof(
  {
    arbitrary: FastCheck.record<Extract<Step, { readonly _tag: "Search" }>>({
      _tag: FastCheck.constant("Search"),
      term: FastCheck.constantFrom("oats", "rice", "milk"),
      page: FastCheck.constantFrom(undefined, undefined, "2")
    }),
    weight: 10
  },
  { arbitrary: FastCheck.nat(5).map((nth): Step => ({ _tag: "Leave", nth })), weight: 3 },
  {
    arbitrary: FastCheck.constantFrom(0, 1, 99, 100, 500, 999, 1_000, 1_499).map((
      millis
    ): Step => ({ _tag: "Pass", millis })),
    weight: 8
  },
  { arbitrary: plan.map((plan): Step => ({ _tag: "Plan", plan })), weight: 5 }
)

const history = FastCheck.record({
  steps: FastCheck.array(step, { minLength: 40, maxLength: 40, size: "max" }),
  seed: FastCheck.string(),
  memory: FastCheck.constantFrom("kept" as const, "kept" as const, "coalescing" as const)
})

type History = typeof history extends FastCheck.Arbitrary<infer A> ? A : never

const violationsOf = (scheduler: ShakenScheduler, { memory, seed, steps }: History) => {
  const world = new CacheWorld(scheduler, memory, seed)
  for (const step of steps) world.step(step)
  world.finish()
  return world.violations
}

describe("SearchCache in any history of callers that come, leave and change what they got, with any end of a request", () => {
  const expectNoViolation = (numRuns: number, schedulerOf: (history: History) => ShakenScheduler) =>
    FastCheck.assert(
      FastCheck.asyncProperty(history, async (history) => {
        await setImmediate()
        expect(violationsOf(schedulerOf(history), history)).toEqual([])
      }),
      { numRuns }
    )

  it("has one request under way for equal searches while somebody waits, keeps no failure, gives nothing older than allowed, and leaves nobody without an outcome", () =>
    expectNoViolation(300, () => new ShakenScheduler(2_048)))

  it.each([1, 7, 13])(
    "does so in any order of fibers that yield after %i operations",
    (operations) => expectNoViolation(60, ({ seed }) => new ShakenScheduler(operations, seeded(seed).next))
  )
})
