import { UrlParams } from "@effect/platform"
import { Effect, Exit, type Fiber, Layer, Option } from "effect"
import { NutritionAdvisorError, SearchCache } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import type { ShakenScheduler } from "../model/ShakenScheduler.js"
import { AdvisorWorld } from "./AdvisorWorld.js"

/** How a request ends, and after how many milliseconds. */
export interface Plan {
  readonly outcome: "payload" | "ServerError" | "TransportError" | "TooManyRequests" | "BadRequest" | "defect"
  readonly millis: number
}

export type Step =
  | { readonly _tag: "Search"; readonly term: string; readonly page: string | undefined }
  | { readonly _tag: "Leave"; readonly nth: number }
  | { readonly _tag: "Pass"; readonly millis: number }
  | { readonly _tag: "Plan"; readonly plan: Plan }

/** What the service found, and when. */
interface Found {
  term: string
  at: number
  readonly filling: string
}

interface Request {
  readonly key: string
  readonly plan: Plan
  endedAt: number | undefined
}

interface Caller {
  readonly key: string
  readonly since: number
  readonly fiber: Fiber.RuntimeFiber<unknown, NutritionAdvisorError.NutritionAdvisorError>
  isJudged: boolean
  hasLeft: boolean
}

export const timeToLive = 1_000

export const staleIfError = 500

const keyOf = (term: string, page: string | undefined) => `${term} ${page}`

const passing = ["ServerError", "TransportError", "TooManyRequests"]

/** Callers, the cache and a service below, which notes whatever breaks a promise of the cache. */
export class CacheWorld {
  readonly violations: Array<string> = []
  readonly requests: Array<Request> = []
  private readonly world: AdvisorWorld
  private readonly callers: Array<Caller> = []
  private plans: Array<Plan> = []

  constructor(scheduler: ShakenScheduler, private readonly memory: "kept" | "coalescing", seed: string) {
    const below = NutritionAdvisorTest.layer({
      search: (term, options) => {
        const page = UrlParams.getFirst(UrlParams.fromInput(options?.urlParams ?? []), "page")
        return this.answer(term, keyOf(term, Option.getOrUndefined(page)))
      }
    })
    const cache = memory === "coalescing"
      ? SearchCache.layerCoalescing
      : SearchCache.layer({ timeToLive, staleIfError, maxBytes: 700 })
    this.world = new AdvisorWorld(Layer.provide(cache, below), seed, scheduler)
  }

  step(step: Step) {
    switch (step._tag) {
      case "Search": {
        const { page, term } = step
        const fiber = this.world.search(term, page === undefined ? undefined : { urlParams: { page } })
        this.callers.push({ key: keyOf(term, page), since: this.world.now, fiber, isJudged: false, hasLeft: false })
        break
      }
      case "Leave": {
        const waiting = this.waiting()
        const caller = waiting[step.nth % waiting.length]
        if (caller !== undefined) {
          caller.hasLeft = true
          this.world.interrupt(caller.fiber)
        }
        break
      }
      case "Pass":
        this.world.pass(step.millis)
        break
      case "Plan":
        this.plans.push(step.plan)
        break
    }
    this.judge()
  }

  /** Everyone has an outcome once all requests have ended, and nothing is left of them. */
  finish() {
    this.world.pass(60_000)
    this.judge()
    if (this.waiting().length > 0) this.violations.push("a caller got no outcome")
    if (this.world.fibers > 0) this.violations.push(`${this.world.fibers} fibers at rest`)
    if (this.world.time.pendingTimers > 0) this.violations.push("a timer at rest")
  }

  private waiting() {
    return this.callers.filter(({ fiber }) => fiber.unsafePoll() === null)
  }

  private inFlight(key: string) {
    return this.requests.filter((request) => request.key === key && request.endedAt === undefined).length
  }

  private answer(term: string, key: string): Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError> {
    return Effect.suspend(() => {
      if (this.inFlight(key) > 0) this.violations.push("two requests under way for equal searches")
      const index = this.requests.length
      const request: Request = {
        key,
        plan: this.plans.shift() ?? { outcome: "payload", millis: 100 },
        endedAt: undefined
      }
      this.requests.push(request)
      return Effect.zipRight(
        Effect.sleep(request.plan.millis),
        Effect.suspend(() => this.carryOut(term, request.plan, index))
      ).pipe(Effect.ensuring(Effect.sync(() => {
        request.endedAt = this.world.now
      })))
    })
  }

  private carryOut(
    term: string,
    { outcome }: Plan,
    index: number
  ): Effect.Effect<Found, NutritionAdvisorError.NutritionAdvisorError> {
    const operation = "search"
    switch (outcome) {
      case "payload": {
        const found: Found = { term, at: this.world.now, filling: "x".repeat(index % 7 * 10) }
        return Effect.succeed(found)
      }
      case "ServerError":
        return Effect.fail(new NutritionAdvisorError.ServerError({ operation, status: 503, retryAfter: index }))
      case "TransportError":
        return Effect.fail(new NutritionAdvisorError.TransportError({ operation, reason: "Timeout" }))
      case "TooManyRequests":
        return Effect.fail(new NutritionAdvisorError.TooManyRequests({ operation, status: 429, retryAfter: index }))
      case "BadRequest":
        return Effect.fail(new NutritionAdvisorError.BadRequest({ operation, status: 400 }))
      case "defect":
        return Effect.die("a bug below")
    }
  }

  private judge() {
    for (const key of new Set(this.callers.map(({ key }) => key))) {
      const waiting = this.waiting().filter((caller) => caller.key === key).length
      if (waiting > 0 !== this.inFlight(key) > 0) {
        this.violations.push(`${waiting} callers wait for ${this.inFlight(key)} requests`)
      }
    }
    for (const caller of this.callers) {
      const exit = caller.fiber.unsafePoll()
      if (exit === null || caller.isJudged) continue
      caller.isJudged = true
      if (Exit.isSuccess(exit)) this.judgePayload(caller, exit.value as Found)
      else if (!caller.hasLeft) this.judgeFailure(caller, exit)
    }
  }

  /** Those that ended while the caller waited; a look may come after the caller has its outcome. */
  private awaitedBy({ key, since }: Caller) {
    return this.requests.filter((request) =>
      request.key === key && request.endedAt !== undefined && request.endedAt >= since
    )
  }

  private judgePayload(caller: Caller, found: Found) {
    const { since } = caller
    if (!caller.key.startsWith(`${found.term} `)) this.violations.push("a payload of another search")
    const isAnswer = found.at >= since
    const isFresh = this.memory === "kept" && since - found.at < timeToLive
    const ends = this.awaitedBy(caller).filter(({ plan }) => passing.includes(plan.outcome)).map(({ endedAt = 0 }) =>
      endedAt
    )
    const isStale = this.memory === "kept" && ends.some((end) => end - found.at <= timeToLive + staleIfError)
    if (!isAnswer && !isFresh && !isStale) this.violations.push(`a payload of ${found.at} for a search of ${since}`)
    found.term = "changed by a caller"
    found.at = Number.NaN
  }

  private judgeFailure(caller: Caller, exit: Exit.Failure<unknown, unknown>) {
    if (Exit.isInterrupted(exit)) this.violations.push("a caller was interrupted that did not leave")
    if (!this.awaitedBy(caller).some(({ plan }) => plan.outcome !== "payload")) {
      this.violations.push("a failure that was not this caller's")
    }
  }
}
