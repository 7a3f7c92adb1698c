import { setImmediate } from "node:timers/promises"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, FastCheck, type Fiber, Redacted } from "effect"
import {
  AccessToken,
  NutritionAdvisorError,
  RefreshPolicy,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"
import { runs } from "../support/doubles/runs.js"
import { seeded } from "../support/doubles/runtime.js"
import { SteppedScheduler } from "../support/model/SteppedScheduler.js"
import { VirtualRuntime } from "../support/model/VirtualRuntime.js"

const plans = ["issue", "fail", "refuse", "hang", "handBack", "retryAfter", "die", "stall", "late"] as const

/** How an exchange can end. */
type Plan = (typeof plans)[number]

type Step =
  | { readonly _tag: "Pass"; readonly millis: number }
  | { readonly _tag: "Call"; readonly forbidden: boolean }
  | { readonly _tag: "Leave" }
  | { readonly _tag: "Revoke" }
  | { readonly _tag: "Plan"; readonly plan: Plan }
  | { readonly _tag: "Jump"; readonly millis: number }
  | { readonly _tag: "Close" }

interface Issued {
  readonly token: AccessToken.AccessToken
  readonly diesAt: number
}

const timing = Either.getOrThrow(RefreshPolicy.make())

const exchangeMillis = 100

const requestMillis = 20

/** Longer than the timeout of an exchange. */
const lateMillis = 15_000

const { BadRequest, ServerError, TooManyRequests, TransportError } = NutritionAdvisorError

const failures: { readonly [P in Plan]?: NutritionAdvisorError.TokenError } = {
  fail: new ServerError({ operation: "token", status: 500 }),
  refuse: new BadRequest({ operation: "token", status: 400 }),
  retryAfter: new TooManyRequests({ operation: "token", retryAfter: 30 }),
  hang: new TransportError({ operation: "token", reason: "Timeout" })
}

/**
 * A service with its own clock, callers that search, and the TokenProvider between them. The service accepts a token until it
 * expires, or until all tokens are revoked.
 */
class World extends VirtualRuntime {
  readonly violations: Array<string> = []
  exchanges = 0
  private exchangesRunning = 0
  private readonly issued = new Map<string, Issued>()
  private plans: Array<Plan> = []
  private closing: Fiber.RuntimeFiber<void> | undefined
  private callers: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
  private readonly provider: TokenProvider.Service

  constructor(scheduler: SteppedScheduler, private readonly lifeMillis: number, seed: string) {
    super(seed, scheduler)
    this.provider = this.build(
      TokenProvider.make().pipe(
        Effect.provideService(TokenIssuer.TokenIssuer, { issue: () => this.exchange }),
        Effect.provideServiceEffect(TokenStore.TokenStore, TokenStore.make)
      )
    )
  }

  step(step: Step) {
    switch (step._tag) {
      case "Pass":
        return this.pass(step.millis)
      case "Call":
        return this.callers.push(this.run(this.search(step.forbidden)))
      case "Leave": {
        const leaving = this.callers.shift()
        return leaving && this.interrupt(leaving)
      }
      case "Revoke":
        return this.issued.clear()
      case "Plan":
        return this.plans.push(step.plan)
      case "Jump":
        return (this.time.clock.wallOffset += step.millis)
      case "Close":
        return (this.closing = this.close())
    }
  }

  /** Checks that every call ends within a minute after the last step, and that closing leaves nothing behind. */
  finish() {
    this.plans = []
    this.pass(60_000)
    const waiting = this.callers.filter((caller) => caller.unsafePoll() === null).length
    if (waiting > 0) this.violations.push(`${waiting} calls never ended`)
    if (this.closing === undefined) this.step({ _tag: "Close" })
    if (this.closing?.unsafePoll() === null) this.violations.push("closing did not end")
    this.pass(lateMillis)
    if (this.time.pendingTimers > 0) this.violations.push(`${this.time.pendingTimers} timers after the end`)
    if (this.fibers > 0) this.violations.push(`${this.fibers} fibers after the end`)
  }

  private token(life: number, value: string) {
    const receivedAt = this.time.clock.unsafeCurrentTimeMillis()
    return AccessToken.make({ value, serviceId: `customer of ${value}`, receivedAt, expiresAt: receivedAt + life })
  }

  private readonly exchange: Effect.Effect<AccessToken.AccessToken, NutritionAdvisorError.TokenError> = Effect
    .suspend(() => {
      this.exchanges += 1
      this.exchangesRunning += 1
      if (this.exchangesRunning > 1) this.violations.push("two exchanges at once")
      const plan = this.plans.shift() ?? "issue"
      if (plan === "late") {
        this.exchangesRunning -= 1
        return Effect.uninterruptible(Effect.sleep(lateMillis)).pipe(
          Effect.zipRight(Effect.suspend(() => this.carryOut("issue"))),
          Effect.ensuring(Effect.sync(() => {
            this.exchangesRunning += 1
          }))
        )
      }
      return Effect.zipRight(
        Effect.sleep(plan === "hang" ? "10 seconds" : exchangeMillis),
        Effect.suspend(() => this.carryOut(plan))
      )
    }).pipe(Effect.ensuring(Effect.sync(() => {
      this.exchangesRunning -= 1
    })))

  private carryOut(plan: Plan): Effect.Effect<AccessToken.AccessToken, NutritionAdvisorError.TokenError> {
    const failure = failures[plan]
    if (failure !== undefined) return Effect.fail(failure)
    if (plan === "die") return Effect.die(new Error("a bug"))
    if (plan === "stall") return Effect.never
    const last = [...this.issued.values()].findLast(({ diesAt }) => diesAt > this.time.now)
    if (plan === "handBack" && last !== undefined) {
      return Effect.succeed(this.token(last.diesAt - this.time.now, Redacted.value(last.token.value)))
    }
    const token = this.token(this.lifeMillis, `token ${this.exchanges}`)
    this.issued.set(Redacted.value(token.value), { token, diesAt: this.time.now + this.lifeMillis })
    return Effect.succeed(token)
  }

  private send(token: AccessToken.AccessToken, forbidden: boolean): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const value = Redacted.value(token.value)
      if (AccessToken.stateAt(token, this.time.clock.unsafeCurrentTimeMillis(), timing) === "expired") {
        this.violations.push("an expired token was sent")
      }
      if (Redacted.value(token.serviceId) !== `customer of ${value}`) this.violations.push("a pair was torn")
      return Effect.map(
        Effect.sleep(requestMillis),
        () => !forbidden && (this.issued.get(value)?.diesAt ?? 0) > this.time.now
      )
    })
  }

  private search(forbidden: boolean) {
    return Effect.gen(this, function*() {
      const first = yield* this.provider.get
      if (yield* this.send(first, forbidden)) return
      const renewed = yield* this.provider.renew(first)
      if (AccessToken.isSame(renewed, first)) this.violations.push("a rejected token was sent again")
      yield* this.send(renewed, forbidden)
    })
  }
}

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
          const world = new World(new SteppedScheduler(), hour, seed)
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
