import { setImmediate } from "node:timers/promises"
import * as RateLimiter from "@effect/experimental/RateLimiter"
import { expect, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, FastCheck, type Fiber, Layer, Logger } from "effect"
import { NutritionAdvisorError, Throttle } from "effect-nutrition-advisor"
import { runs } from "./doubles/runs.js"
import { seeded } from "./doubles/runtime.js"
import { ShakenScheduler } from "./model/ShakenScheduler.js"
import * as AdvisorDouble from "./resilience/AdvisorDouble.js"
import { AdvisorWorld } from "./resilience/AdvisorWorld.js"

type Answer = Effect.Effect<RateLimiter.ConsumeResult, RateLimiter.RateLimiterError>

const granted = (remaining: number): Answer =>
  Effect.succeed({ delay: Duration.zero, limit: 9, remaining, resetAfter: Duration.seconds(1) })

const exceeded = (retryAfter: Duration.DurationInput): Answer =>
  Effect.fail(
    new RateLimiter.RateLimitExceeded({ key: "", limit: 9, remaining: 0, retryAfter: Duration.decode(retryAfter) })
  )

/** What a limiter may say. */
const spoken: Readonly<Record<string, Answer>> = {
  "grants": granted(8),
  "grants the last one": granted(0),
  "grants, and counts wrong": granted(Number.NaN),
  "refuses": exceeded("1 second"),
  "refuses for ever": exceeded(Duration.infinity),
  "refuses for no time": exceeded(0),
  "refuses for less than no time": Effect.fail(
    {
      reason: "Exceeded",
      retryAfter: Object.create(Duration.zero, { value: { value: { _tag: "Millis", millis: -5 } } })
    } as never
  ),
  "grants, and counts in words": granted("many" as never),
  "grants, and counts in nothing that is a number": granted(Symbol("many") as never)
}

/** How nobody can say who may begin. */
const silent: Readonly<Record<string, Answer>> = {
  "fails": Effect.fail(new RateLimiter.RateLimitStoreError({ message: "gone" })),
  "dies": Effect.die("a bug in a store"),
  "is interrupted": Effect.interrupt,
  "hangs": Effect.never,
  "hangs and can't be interrupted": Effect.uninterruptible(Effect.delay(Effect.never, "1 minute")),
  "says nothing": Effect.succeed(undefined as never),
  "fails with nothing": Effect.fail(null as never)
}

const answers = { ...spoken, ...silent }

const asked = (kinds: object) =>
  FastCheck.array(
    FastCheck.record({
      answer: FastCheck.constantFrom(...Object.keys(kinds)),
      millis: FastCheck.constantFrom(0, 5, 900)
    }),
    { minLength: 30, maxLength: 30, size: "max" }
  )

type Step =
  | { readonly _tag: "Search"; readonly isLimited: boolean }
  | { readonly _tag: "Leave"; readonly nth: number }
  | { readonly _tag: "Pass"; readonly millis: number }

const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  { arbitrary: FastCheck.nat(9).map((nth): Step => ({ _tag: "Search", isLimited: nth === 0 })), weight: 8 },
  { arbitrary: FastCheck.nat(9).map((nth): Step => ({ _tag: "Leave", nth })), weight: 2 },
  {
    arbitrary: FastCheck.constantFrom(0, 5, 100, 1_000, 5_000).map((millis): Step => ({ _tag: "Pass", millis })),
    weight: 5
  }
)

const history = FastCheck.record({
  steps: FastCheck.array(step, { minLength: 40, maxLength: 40, size: "max" }),
  asked: FastCheck.oneof(asked(answers), asked(silent)),
  onTooManyRequests: FastCheck.constantFrom("fail" as const, "wait" as const, "ignore" as const),
  operations: FastCheck.constantFrom(1, 3, 7, 13, 2_048),
  seed: FastCheck.string()
})

type History = typeof history extends FastCheck.Arbitrary<infer A> ? A : never

const maxWait = 5_000

const violationsOf = ({ asked, onTooManyRequests, operations, seed, steps }: History) => {
  const violations: Array<string> = []
  let questions = 0
  const limiter = Layer.succeed(RateLimiter.RateLimiter, {
    [RateLimiter.TypeId]: RateLimiter.TypeId,
    consume: () => {
      const { answer, millis } = asked[questions % asked.length] ?? { answer: "dies", millis: 0 }
      questions += 1
      return Effect.delay(answers[answer] ?? Effect.never, millis)
    }
  })
  const double = AdvisorDouble.make(({ what }) =>
    what === "limit"
      ? Effect.fail(new NutritionAdvisorError.TooManyRequests({ operation: "search", status: 429, retryAfter: 2 }))
      : Effect.succeed("found")
  )
  const throttle = Throttle.layerShared({ onTooManyRequests, rate: { limit: 9, interval: "1 second" }, maxWait })
  const scheduler = new ShakenScheduler(operations, seeded(seed).next)
  const world = new AdvisorWorld(
    Layer.provide(throttle, Layer.mergeAll(double.layer, limiter)),
    seed,
    scheduler
  )
  const callers: Array<{ readonly at: number; readonly fiber: Fiber.RuntimeFiber<unknown, unknown> }> = []
  const left = new Set<unknown>()
  const isSilent = asked.every(({ answer }) => answer in silent)

  const judge = () => {
    for (const { at, fiber } of callers) {
      const exit = fiber.unsafePoll()
      if (exit === null && world.now > at + maxWait) violations.push("waits for longer than maxWait")
      if (exit === null || Exit.isSuccess(exit) || left.has(fiber)) continue
      const error = Cause.squash(exit.cause)
      if (!(error instanceof NutritionAdvisorError.TooManyRequests)) violations.push(`ended in ${String(error)}`)
      else if (isSilent && onTooManyRequests === "ignore" && error.status === undefined) {
        violations.push("refused where nobody can say who may begin")
      }
    }
  }

  for (const step of steps) {
    if (step._tag === "Pass") world.pass(step.millis)
    else if (step._tag === "Search") {
      const search = Effect.provide(
        world.advisor.search(step.isLimited ? "limit" : "oats"),
        Logger.remove(Logger.defaultLogger)
      )
      callers.push({ at: world.now, fiber: world.run(search) })
    } else {
      const waiting = callers.filter(({ fiber }) => fiber.unsafePoll() === null)
      const leaving = waiting[step.nth % waiting.length]?.fiber
      if (leaving !== undefined) {
        left.add(leaving)
        world.interrupt(leaving)
      }
    }
    judge()
  }
  world.pass(maxWait + 1)
  judge()
  if (questions > 400) violations.push(`${questions} questions for ${callers.length} searches`)
  world.pass(120_000)
  world.close()
  const hangs = asked.some(({ answer }) => answer.startsWith("hangs and"))
  if (world.fibers > 0 && !hangs) violations.push("a fiber of a closed layer")
  if (world.time.pendingTimers > 0) violations.push("a timer of a closed layer")
  return violations
}

it(
  "Throttle.layerShared over any limiter, in any order of fibers: every search ends within maxWait, and nothing stays behind",
  { timeout: 600_000 },
  async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(history, async (history) => {
        await setImmediate()
        expect(violationsOf(history)).toEqual([])
      }),
      { numRuns: runs(1_000) }
    )
  }
)
