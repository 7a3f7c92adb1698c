import { setImmediate } from "node:timers/promises"
import { expect, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, Layer } from "effect"
import { NutritionAdvisorError, Throttle } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { runs } from "../support/doubles/runs.js"
import { seeded } from "../support/doubles/runtime.js"
import { AdvisorWorld } from "../support/model/AdvisorWorld.js"
import { SteppedScheduler } from "../support/model/SteppedScheduler.js"
import { passGate } from "./AdvisorDouble.js"
import { histories, type History, leavesAfter, play } from "./histories.js"

type Outcome = "found" | "limit" | "fail" | "lost" | "die"

interface Search {
  readonly _tag: "Search"
  readonly outcome: Outcome
  readonly millis: number
  /** Milliseconds that the service below waits for a token before it sends; undefined if it doesn't pass the send gate. */
  readonly token: number | undefined
  readonly leavesAfter: number | undefined
}

const operation = "search"

const retryAfter = 3

/** How long the probe has for its response. */
const probeMillis = 5_000

const rate = { limit: 3, interval: 500 }

const search = FastCheck.record<Search>({
  _tag: FastCheck.constant("Search"),
  outcome: FastCheck.constantFrom<Outcome>("found", "found", "found", "limit", "fail", "lost", "die"),
  millis: FastCheck.constantFrom(1, 20, 700, 4_000, 7_000),
  token: FastCheck.constantFrom(undefined, undefined, 0, 10, 400),
  leavesAfter
})

const history = histories(search, [0, 1, 20, 499, 500, 1_000, 3_000])

const responses: Readonly<Record<Outcome, Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError>>> = {
  found: Effect.succeed("found"),
  limit: Effect.fail(new NutritionAdvisorError.TooManyRequests({ operation, status: 429, retryAfter })),
  fail: Effect.fail(new NutritionAdvisorError.ServerError({ operation, status: 500 })),
  lost: Effect.fail(new NutritionAdvisorError.TransportError({ operation, reason: "Timeout" })),
  die: Effect.die("a bug below")
}

/** A request that reached the service below. */
interface Sent {
  readonly arrival: number
  readonly token: number | undefined
  readonly at: number
  isOut: boolean
}

/**
 * Plays a history over a service below. Returns each broken rule of `play` and of Throttle: requests keep the rate and their order, none is
 * sent during a hold, and a probe goes first after it.
 */
const violationsOf = (scheduler: SteppedScheduler, { seed, steps }: History<Search>) => {
  const violations: Array<string> = []
  const sent: Array<Sent> = []
  const plans: Array<Search> = []
  /** The last 429: its time, and the number of requests that were sent before it. */
  let limited: { readonly at: number; readonly sent: number; isLifted: boolean } | undefined

  const judge = (arrival: number, token: number | undefined) => {
    const { now } = world.time
    if (sent.filter(({ at }) => at > now - rate.interval).length >= rate.limit) violations.push("more than the rate")
    const isDirect = !(token ?? 0) && sent.every((request) => !(request.token ?? 0))
    if (isDirect && arrival < (sent.at(-1)?.arrival ?? -1)) violations.push("out of order")
    if (limited === undefined || limited.isLifted) return
    if (now < limited.at + retryAfter * 1_000) violations.push("sent during a hold")
    if (sent.slice(limited.sent).some(({ at, isOut }) => isOut && now < at + probeMillis)) {
      violations.push("a second probe")
    }
  }

  const ended = (request: Sent, outcome: Outcome) => {
    request.isOut = false
    if (outcome === "limit") limited = { at: world.time.now, sent: sent.length, isLifted: false }
    else if (limited !== undefined && (outcome === "found" || outcome === "fail")) {
      limited.isLifted ||= sent.indexOf(request) >= limited.sent
    }
  }

  const below = NutritionAdvisorTest.layer({
    search: (term) =>
      Effect.gen(function*() {
        const arrival = Number(term)
        const { millis, outcome, token } = plans[arrival] ?? { millis: 0, outcome: "found", token: undefined }
        if (token !== undefined) yield* Effect.zipRight(Effect.sleep(token), passGate)
        return yield* Effect.acquireUseRelease(
          Effect.sync((): Sent => {
            judge(arrival, token)
            const request: Sent = { arrival, token, at: world.time.now, isOut: true }
            sent.push(request)
            return request
          }),
          () => Effect.zipRight(Effect.sleep(millis), responses[outcome]),
          (request, exit) => Effect.sync(() => ended(request, Exit.isInterrupted(exit) ? "lost" : outcome))
        )
      })
  })
  const throttle = Throttle.layer({ onTooManyRequests: "wait", maxWait: "20 days", rate })
  const world = new AdvisorWorld(Layer.provide(throttle, below), seed, scheduler)

  play(world, violations, steps, (search) => {
    plans.push(search)
    return world.run(world.advisor.search(`${plans.length - 1}`), search.leavesAfter)
  })
  return violations
}

it("Throttle model: its rules hold in random histories", () =>
  FastCheck.assert(
    FastCheck.asyncProperty(history, async (history) => {
      await setImmediate()
      expect(violationsOf(new SteppedScheduler(), history)).toEqual([])
    }),
    { numRuns: runs(1_000) }
  ))

/** The scheduler then decides which of several simultaneous requests is sent first, so the rules about their order don't apply. */
it("Throttle model: each caller gets an outcome (fibers yield after 7 operations)", () =>
  FastCheck.assert(
    FastCheck.asyncProperty(history, async (history) => {
      await setImmediate()
      const violations = violationsOf(new SteppedScheduler(7, seeded(history.seed).next), history)
      expect(violations.filter((violation) => !/order|hold|probe/.test(violation))).toEqual([])
    }),
    { numRuns: runs(300) }
  ))
