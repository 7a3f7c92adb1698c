import { setImmediate } from "node:timers/promises"
import { expect, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, type Fiber, Layer } from "effect"
import { NutritionAdvisorError, SearchCache } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { runs } from "../support/doubles/runs.js"
import { seeded } from "../support/doubles/runtime.js"
import { AdvisorWorld } from "../support/model/AdvisorWorld.js"
import { SteppedScheduler } from "../support/model/SteppedScheduler.js"
import { histories, type History, leavesAfter, play } from "./histories.js"

/** How a request ends, and after how many milliseconds. */
interface Plan {
  readonly outcome: "payload" | "failure" | "defect"
  readonly millis: number
}

interface Search {
  readonly _tag: "Search"
  readonly term: string
  readonly plan: Plan
  readonly leavesAfter: number | undefined
}

const search = FastCheck.record<Search>({
  _tag: FastCheck.constant("Search"),
  term: FastCheck.constantFrom("oats", "rice", "milk"),
  plan: FastCheck.record({
    outcome: FastCheck.constantFrom<Plan["outcome"]>("payload", "payload", "failure", "defect"),
    millis: FastCheck.constantFrom(0, 100, 400, 2_000)
  }),
  leavesAfter
})

const timeToLive = 1_000

/** A payload, and when the service sent it. */
interface Found {
  term: string
  at: number
}

interface Caller {
  readonly term: string
  readonly since: number
  readonly fiber: Fiber.RuntimeFiber<unknown, unknown>
  isJudged: boolean
}

/**
 * Plays a history of callers that also change their payloads, over a service below. Returns each broken rule of `play` and of SearchCache:
 * one request is in flight while callers wait, failures are not kept, and no payload is too old.
 */
const violationsOf = (scheduler: SteppedScheduler, { seed, steps }: History<Search>) => {
  const violations: Array<string> = []
  const callers: Array<Caller> = []
  const requests: Array<{ readonly term: string; readonly plan: Plan; endedAt: number | undefined }> = []
  const plans = new Map<string, Plan>()

  const inFlight = (term: string) =>
    requests.filter((request) => request.term === term && request.endedAt === undefined).length

  const responseTo = (term: string, { outcome }: Plan) => {
    const found: Found = { term, at: world.time.now }
    if (outcome === "payload") return Effect.succeed(found)
    const error = new NutritionAdvisorError.ServerError({ operation: "search", status: 503 })
    return outcome === "failure" ? Effect.fail(error) : Effect.die("a bug below")
  }

  const below = NutritionAdvisorTest.layer({
    search: (term) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          if (inFlight(term) > 0) violations.push("two requests in flight for equal searches")
          const plan = plans.get(term) ?? { outcome: "payload", millis: 100 }
          const request = { term, plan, endedAt: undefined as number | undefined }
          requests.push(request)
          return request
        }),
        ({ plan }) => Effect.zipRight(Effect.sleep(plan.millis), Effect.suspend(() => responseTo(term, plan))),
        (request) => Effect.sync(() => request.endedAt = world.time.now)
      )
  })
  const cache = SearchCache.layer({ timeToLive, capacity: 2 })
  const world = new AdvisorWorld(Layer.provide(cache, below), seed, scheduler)

  const judge = ({ fiber, since, term }: Caller) => {
    const exit = fiber.unsafePoll()
    if (exit === null || Exit.isInterrupted(exit)) return exit !== null
    if (Exit.isSuccess(exit)) {
      const found = exit.value as Found
      if (found.term !== term) violations.push("a payload of another search, or one that a caller changed")
      if (found.at < since - timeToLive) violations.push("a payload that is too old")
      found.term = "changed by a caller"
    } else if (
      !requests.some((one) => one.term === term && one.plan.outcome !== "payload" && (one.endedAt ?? -1) >= since)
    ) violations.push("a failure that was not this caller's")
    return true
  }

  const begin = ({ leavesAfter, plan, term }: Search) => {
    plans.set(term, plan)
    const fiber = world.run(world.advisor.search(term), leavesAfter)
    callers.push({ term, since: world.time.now, fiber, isJudged: false })
    return fiber
  }

  play(world, violations, steps, begin, () => {
    for (const caller of callers) caller.isJudged ||= judge(caller)
    for (const { term } of callers) {
      const isWaitedFor = callers.some((caller) => caller.term === term && caller.fiber.unsafePoll() === null)
      if (isWaitedFor !== inFlight(term) > 0) violations.push(`${inFlight(term)} requests for ${isWaitedFor}`)
    }
  })
  return violations
}

it.each([2_048, 1, 7])(
  "SearchCache model: its rules hold in random histories (fibers yield after %i operations)",
  (operations) =>
    FastCheck.assert(
      FastCheck.asyncProperty(histories(search, [0, 1, 99, 100, 500, 999, 1_000]), async (history) => {
        await setImmediate()
        const next = operations === 2_048 ? undefined : seeded(history.seed).next
        expect(violationsOf(new SteppedScheduler(operations, next), history)).toEqual([])
      }),
      { numRuns: runs(150) }
    )
)
