import { setImmediate } from "node:timers/promises"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, type Fiber, Layer } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import * as Rate from "../src/internal/resilience/rate.js"
import * as Throttled from "../src/internal/resilience/throttle.js"
import { runs } from "./doubles/runs.js"
import { running, seeded } from "./doubles/runtime.js"
import { ShakenScheduler } from "./model/ShakenScheduler.js"
import { AdvisorWorld } from "./resilience/AdvisorWorld.js"

type Outcome = "found" | "limit" | "fail" | "lost" | "die"

type Step =
  | { readonly _tag: "Search"; readonly outcome: Outcome; readonly millis: number }
  | { readonly _tag: "Leave"; readonly nth: number }
  | { readonly _tag: "Pass"; readonly millis: number }

const operation = "search"

const retryAfter = 3

const rate = { limit: 3, interval: 500 }

const step = FastCheck.oneof(
  {
    arbitrary: FastCheck.record<Extract<Step, { readonly _tag: "Search" }>>({
      _tag: FastCheck.constant("Search"),
      outcome: FastCheck.constantFrom<Outcome>("found", "found", "found", "limit", "fail", "lost", "die"),
      millis: FastCheck.constantFrom(0, 20, 700, 4_000)
    }),
    weight: 8
  },
  { arbitrary: FastCheck.nat(9).map((nth): Step => ({ _tag: "Leave", nth })), weight: 2 },
  {
    arbitrary: FastCheck.constantFrom(0, 1, 20, 499, 500, 1_000, 3_000).map((millis): Step => ({
      _tag: "Pass",
      millis
    })),
    weight: 5
  }
)

const history = FastCheck.record({
  steps: FastCheck.array(step, { minLength: 40, maxLength: 40, size: "max" }),
  seed: FastCheck.string()
})

interface History {
  readonly steps: ReadonlyArray<Step>
  readonly seed: string
}

/** A request from the moment in which the throttle let it go; it is sent in the same instant, but maybe after other fibers ran. */
interface Begun {
  readonly arrival: number
  readonly at: number
  isSent: boolean
  isOut: boolean
}

const answers: Readonly<Record<Outcome, Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError>>> = {
  found: Effect.succeed("found"),
  limit: Effect.fail(new NutritionAdvisorError.TooManyRequests({ operation, status: 429, retryAfter })),
  fail: Effect.fail(new NutritionAdvisorError.ServerError({ operation, status: 500 })),
  lost: Effect.fail(new NutritionAdvisorError.TransportError({ operation, reason: "Timeout" })),
  die: Effect.die("a bug below")
}

/**
 * Lets nobody else run between an answer of the service and the moment in which the throttle hears of it, so that the judge
 * knows of it no sooner than the throttle. An answer that the throttle hears later is for it one that comes later.
 */
class AnswerScheduler extends ShakenScheduler {
  readonly answered = new Set<unknown>()

  protected override yields(operations: number, fiber: Fiber.RuntimeFiber<unknown, unknown>) {
    return !this.answered.has(fiber) && super.yields(operations, fiber)
  }
}

/** Callers that wait, the throttle, and a judge of each request that begins. */
const violationsOf = (scheduler: AnswerScheduler, { seed, steps }: History) => {
  const violations: Array<string> = []
  const begun: Array<Begun> = []
  const plans: Array<readonly [Outcome, number]> = []
  const arrivals = new Map<unknown, number>()
  const fibers: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
  let left = 0
  /** Of the last 429: when it came, and how many had begun by then. */
  let limited: { readonly at: number; readonly begun: number; isLifted: boolean } | undefined

  const judgeBeginning = (now: number, arrival: number) => {
    if (begun.filter(({ at }) => at > now - rate.interval).length >= rate.limit) violations.push("more than the rate")
    if (arrival < (begun.at(-1)?.arrival ?? -1)) violations.push("out of order")
    if (limited === undefined || limited.isLifted) return
    if (now < limited.at + retryAfter * 1_000) violations.push("begun during a hold")
    if (begun.slice(limited.begun).some(({ isOut }) => isOut)) violations.push("a second one went first")
  }

  const ended = (request: Begun, outcome: Outcome) => {
    scheduler.answered.add(running())
    request.isOut = false
    if (outcome === "limit") limited = { at: world.now, begun: begun.length, isLifted: false }
    else if (limited !== undefined && (outcome === "found" || outcome === "fail")) {
      limited.isLifted ||= begun.indexOf(request) >= limited.begun
    }
  }

  const below = NutritionAdvisorTest.layer({
    search: (term) =>
      Effect.suspend(() => {
        const arrival = Number(term)
        const [outcome, millis] = plans[arrival] ?? ["found", 0]
        const request = begun.find((one) => one.arrival === arrival)
        if (request === undefined || request.isSent || request.at !== world.now) {
          violations.push("sent at another time than it began")
          return answers[outcome]
        }
        request.isSent = true
        return Effect.onExit(
          Effect.zipRight(millis === 0 ? Effect.void : Effect.sleep(millis), answers[outcome]),
          (exit) => Effect.sync(() => ended(request, Exit.isInterrupted(exit) ? "lost" : outcome))
        )
      })
  })

  const localRate = Rate.make(rate.limit, rate.interval)
  const judgedRate: Rate.Rate = {
    wait: localRate.wait,
    begin: (now) => {
      const arrival = arrivals.get(running()) ?? -1
      judgeBeginning(now, arrival)
      begun.push({ arrival, at: now, isSent: false, isOut: true })
      localRate.begin(now)
    }
  }

  const throttle = Layer.scoped(
    NutritionAdvisor.NutritionAdvisor,
    Effect.gen(function*() {
      const advisor = yield* NutritionAdvisor.NutritionAdvisor
      const throttled = yield* Throttled.make({
        onTooManyRequests: "wait",
        maxWait: 20 * 86_400_000,
        rate: judgedRate
      })
      const search = (term: string) =>
        Effect.withFiberRuntime<unknown, NutritionAdvisorError.NutritionAdvisorError>((fiber) => {
          arrivals.set(fiber, Number(term))
          return throttled("search", advisor.search(term))
        })
      return { ...advisor, search }
    })
  )
  const world = new AdvisorWorld(Layer.provide(throttle, below), seed, scheduler)

  for (const step of steps) {
    if (step._tag === "Pass") {
      world.pass(step.millis)
    } else if (step._tag === "Search") {
      plans.push([step.outcome, step.millis])
      fibers.push(world.search(`${plans.length - 1}`))
    } else {
      const waiting = fibers.filter((fiber) => fiber.unsafePoll() === null)
      const leaving = waiting[step.nth % waiting.length]
      if (leaving !== undefined) {
        left += 1
        world.interrupt(leaving)
      }
    }
  }
  world.pass(1_000_000)
  const exits = fibers.map((fiber) => fiber.unsafePoll())
  if (exits.some((exit) => exit === null)) violations.push("a caller got no outcome")
  if (exits.filter((exit) => exit !== null && Exit.isInterrupted(exit)).length > left) violations.push("interrupted")
  if (begun.some(({ isSent }) => !isSent)) violations.push("begun and not sent")
  if (world.time.pendingTimers > 0) violations.push("a timer at rest")
  world.close()
  if (world.fibers > 0) violations.push("a fiber of a closed layer")
  return violations
}

const searches = (count: number, outcome: Outcome = "found", millis = 0): ReadonlyArray<Step> =>
  Array.from({ length: count }, () => ({ _tag: "Search", outcome, millis }))

/**
 * Three begin in one instant, and the first of them gets its 429 before the second, which has begun, is sent: a service that
 * counts what it is sent sees a request during the hold.
 */
const answeredBeforeTheNextIsSent: History = {
  steps: [
    ...searches(1),
    ...searches(1, "limit", 20),
    ...searches(1),
    { _tag: "Pass", millis: 1_000 },
    ...searches(1, "found", 4_000),
    ...searches(3),
    ...searches(1, "limit"),
    ...searches(10),
    { _tag: "Leave", nth: 5 },
    ...searches(5)
  ],
  seed: "$ "
}

const promises =
  "keeps the rate and the order, sends nothing during a hold, one request after it, leaves nobody waiting and nothing behind"

describe(
  "Throttle in any history of callers that come and leave, with any end of a request",
  { timeout: 600_000 },
  () => {
    it(promises, async () => {
      await FastCheck.assert(
        FastCheck.asyncProperty(history, async (history) => {
          await setImmediate()
          expect(violationsOf(new AnswerScheduler(2_048), history)).toEqual([])
        }),
        { numRuns: runs(3_000) }
      )
    })

    it.each([7, 13])("does so in any order of fibers that yield after %i operations", async (operations) => {
      await FastCheck.assert(
        FastCheck.asyncProperty(history, async (history) => {
          await setImmediate()
          const violations = violationsOf(new AnswerScheduler(operations, seeded(history.seed).next), history)
          expect(violations).toEqual([])
        }),
        { numRuns: runs(600), examples: [[answeredBeforeTheNextIsSent]] }
      )
    })
  }
)
