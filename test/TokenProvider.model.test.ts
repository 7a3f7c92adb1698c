import { setImmediate } from "node:timers/promises"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { runs } from "./doubles/runs.js"
import { seeded } from "./doubles/runtime.js"
import * as BrokenStore from "./model/BrokenStore.js"
import { ShakenScheduler } from "./model/ShakenScheduler.js"
import { type Breach, type Plan, type Step, World } from "./model/World.js"

const pass = FastCheck.constantFrom(1, 20, 100, 1_000, 5_000, 10_000, 60_000, 600_000, 3_600_000).map((
  millis
): Step => ({
  _tag: "Pass",
  millis
}))

const call = FastCheck.record({
  _tag: FastCheck.constant("Call" as const),
  forbidden: FastCheck.constantFrom(false, false, false, true)
})

const plan = FastCheck.constantFrom<Plan>("fail", "refuse", "hang", "handBack", "retryAfter", "die", "issue").map(
  (plan): Step => ({ _tag: "Plan", plan })
)

const breach = FastCheck.constantFrom<Breach>("stall", "late", "leak", "nonsense").map(
  (plan): Step => ({ _tag: "Plan", plan })
)

const broken = FastCheck.record({
  call: FastCheck.constantFrom(...BrokenStore.calls),
  fault: FastCheck.constantFrom(...BrokenStore.faults)
}).map((fault): Step => ({ _tag: "Break", fault }))

const jump = FastCheck.constantFrom(-7_200_000, -60_000, -5, 5, 60_000, 7_200_000).map((millis): Step => ({
  _tag: "Jump",
  millis
}))

const step = FastCheck.oneof(
  { arbitrary: pass, weight: 8 },
  { arbitrary: call, weight: 10 },
  { arbitrary: FastCheck.constant<Step>({ _tag: "Leave" }), weight: 2 },
  { arbitrary: FastCheck.constant<Step>({ _tag: "Revoke" }), weight: 2 },
  { arbitrary: plan, weight: 4 },
  { arbitrary: jump, weight: 1 }
)

const historyOf = (step: FastCheck.Arbitrary<Step>) =>
  FastCheck.record({
    steps: FastCheck.array(step, { minLength: 60, maxLength: 60, size: "max" }),
    life: FastCheck.constantFrom(200, 20_000, 3_600_000, 86_155_482),
    seed: FastCheck.string(),
    closes: FastCheck.constantFrom(false, false, false, true)
  })

const history = historyOf(step)

/** Issuer and store are the user's, and break what their interfaces promise. */
const hostileHistory = historyOf(FastCheck.oneof(
  { arbitrary: step, weight: 6 },
  { arbitrary: breach, weight: 1 },
  { arbitrary: broken, weight: 2 }
))

type History = typeof history extends FastCheck.Arbitrary<infer A> ? A : never

const violationsOf = (
  scheduler: ShakenScheduler,
  { closes, life, seed, steps }: History,
  isStoreBroken: boolean
) => {
  const world = new World(scheduler, life, seed, isStoreBroken)
  for (const step of steps) world.step(step)
  if (closes) world.step({ _tag: "Close" })
  world.finish()
  return world.violations
}

const shaken = (operations: number) => ({ seed }: History) => new ShakenScheduler(operations, seeded(seed).next)

const expectNoViolation = (
  histories: typeof history,
  numRuns: number,
  schedulerOf: (history: History) => ShakenScheduler,
  isStoreBroken = false
) =>
  FastCheck.assert(
    FastCheck.asyncProperty(histories, async (history) => {
      await setImmediate()
      expect(violationsOf(schedulerOf(history), history, isStoreBroken)).toEqual([])
    }),
    { numRuns: runs(numRuns) }
  )

const plans: ReadonlyArray<Plan> = ["issue", "fail", "refuse", "hang", "handBack", "retryAfter", "die"]

const exchangesPerHour = 420

describe("TokenProvider in any history", { timeout: 900_000 }, () => {
  it("never sends an expired token, exchanges twice at once, leaves a caller waiting, tears a pair or keeps a fiber", () =>
    expectNoViolation(history, 1_000, () => new ShakenScheduler(2_048)))

  it.each([1, 7, 13])(
    "does so in any order of fibers that yield after %i operations",
    (operations) => expectNoViolation(history, 200, shaken(operations))
  )

  it.each([1, 7, 13, 2_048])(
    "does so, ends every call in its type or in a masked defect, and closes, whatever parts of the user's do (yielding after %i operations)",
    (operations) => expectNoViolation(hostileHistory, 200, shaken(operations), true)
  )

  it(`exchanges at most ${exchangesPerHour} times in an hour of two searches a second, whatever the token route does`, async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.array(FastCheck.constantFrom(...plans), { minLength: 1, maxLength: 20 }),
        FastCheck.constantFrom(0, 1, 10, 100),
        FastCheck.constantFrom(3_600_000, 86_155_482),
        FastCheck.string(),
        async (pattern, forbiddenPercent, life, seed) => {
          await setImmediate()
          const world = new World(new ShakenScheduler(2_048), life, seed)
          for (let index = 0; index < 1_000; index++) {
            world.step({ _tag: "Plan", plan: pattern[index % pattern.length] ?? "issue" })
          }
          for (let second = 0; second < 3_600; second++) {
            world.step({ _tag: "Call", forbidden: second % 100 < forbiddenPercent })
            world.step({ _tag: "Call", forbidden: false })
            world.step({ _tag: "Pass", millis: 1_000 })
          }
          expect(world.violations).toEqual([])
          expect(world.exchanges).toBeLessThanOrEqual(exchangesPerHour)
        }
      ),
      { numRuns: runs(40) }
    )
  })
})
