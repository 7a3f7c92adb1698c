import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as RetryBudget from "../../../src/internal/resilience/retryBudget.js"

type Step =
  | { readonly _tag: "Begin"; readonly count: number }
  | { readonly _tag: "Fail"; readonly pause: number }
  | { readonly _tag: "Leave"; readonly nth: number }
  | { readonly _tag: "Pass"; readonly millis: number }
  | { readonly _tag: "StandStill"; readonly millis: number }

const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  { arbitrary: FastCheck.integer({ min: 1, max: 30 }).map((count): Step => ({ _tag: "Begin", count })), weight: 3 },
  {
    arbitrary: FastCheck.constantFrom(0, 0, 50, 2_000, 15_000).map((pause): Step => ({ _tag: "Fail", pause })),
    weight: 12
  },
  { arbitrary: FastCheck.nat(9).map((nth): Step => ({ _tag: "Leave", nth })), weight: 1 },
  {
    arbitrary: FastCheck.constantFrom(1, 50, 1_999, 9_999, 10_000).map((millis): Step => ({ _tag: "Pass", millis })),
    weight: 4
  },
  {
    arbitrary: FastCheck.constantFrom(50, 9_999, 20_000).map((millis): Step => ({ _tag: "StandStill", millis })),
    weight: 1
  }
)

/** What each repeat is told, by a budget and by a list of all that ever happened. */
const histories = (steps: ReadonlyArray<Step>, share: number) => {
  const budget = RetryBudget.make(share)
  const begun: Array<number> = []
  const sent: Array<number> = []
  const due: Array<number> = []
  let now = 0
  const told: Array<boolean> = []
  const expected: Array<boolean> = []

  const within = (times: ReadonlyArray<number>, end: number) =>
    times.filter((time) => time > end - 10_000 && time <= end).length
  const isAllowed = (at: number) => within([...sent, ...due], at) < share * within(begun, now) + 10

  const wake = () => {
    const next = Math.min(...due)
    due.splice(due.indexOf(next), 1)
    now = Math.max(now, next)
    told.push(budget.send(next, now))
    expected.push(isAllowed(now))
    if (expected.at(-1) === true) sent.push(now)
  }

  for (const step of steps) {
    if (step._tag === "Begin") {
      for (let index = 0; index < step.count; index++) {
        budget.begin(now)
        begun.push(now)
      }
    } else if (step._tag === "Fail") {
      told.push(budget.plan(now, now + step.pause))
      expected.push(isAllowed(now + step.pause))
      if (expected.at(-1) === true) due.push(now + step.pause)
    } else if (step._tag === "Leave" && due.length > 0) {
      const [leaving = 0] = due.splice(step.nth % due.length, 1)
      budget.cancel(leaving)
    } else if (step._tag === "Pass") {
      const end = now + step.millis
      while (Math.min(...due) <= end) wake()
      now = end
    } else if (step._tag === "StandStill") {
      now += step.millis
    }
  }
  return { told, expected }
}

describe("the budget of repeats", () => {
  it("says what a list of all requests and repeats says, in any history", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(step, { minLength: 60, maxLength: 60, size: "max" }),
        FastCheck.constantFrom(0, 0.2, 1),
        (steps, share) => {
          const { expected, told } = histories(steps, share)
          expect(told).toEqual(expected)
        }
      ),
      { numRuns: 500 }
    )
  })

  it("sends no more repeats in ten seconds than are free, also where the process stood still for longer than that", () => {
    const budget = RetryBudget.make(0)
    const overdue = Array.from({ length: 10 }, (_, index) => 100 + index)
    for (const due of overdue) budget.plan(0, due)
    budget.plan(20_000, 20_100)
    const sent = overdue.filter((due) => budget.send(due, 20_000))
    const later = Array.from({ length: 20 }, () => budget.plan(20_200, 20_300) && budget.send(20_300, 20_300))
    expect([...sent, ...later.filter((isSent) => isSent)]).toHaveLength(10)
  })
})
