import { inspect } from "node:util"
import * as RateLimiter from "@effect/experimental/RateLimiter"
import { describe, expect, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Logger } from "effect"
import { NutritionAdvisorError, Throttle } from "effect-nutrition-advisor"
import * as AdvisorDouble from "./resilience/AdvisorDouble.js"
import { AdvisorWorld, outcomeOf } from "./resilience/AdvisorWorld.js"

const operation = "search"

const heldBack = (retryAfter: number) => new NutritionAdvisorError.TooManyRequests({ operation, retryAfter })

const found = Effect.succeed("found")

/** What throws when it is read. */
const unreadable = new Proxy<{ readonly remaining?: unknown }>({}, {
  get: () => {
    throw new Error("unreadable")
  }
})

const granted = (remaining: number) =>
  Effect.succeed({ delay: Duration.zero, limit: 1, remaining, resetAfter: Duration.zero })

const exceeded = (millis: number) =>
  Effect.fail(
    new RateLimiter.RateLimitExceeded({ key: "ours", limit: 1, remaining: 0, retryAfter: Duration.millis(millis) })
  )

const storeError = Effect.fail(new RateLimiter.RateLimitStoreError({ message: "gone" }))

/** A limiter that does one thing, and notes what it is asked. */
const limiterOf = (
  consume: (asked: number) => Effect.Effect<RateLimiter.ConsumeResult, RateLimiter.RateLimiterError>
) => {
  const asked: Array<Parameters<RateLimiter.RateLimiter["consume"]>[0]> = []
  const layer = Layer.succeed(RateLimiter.RateLimiter, {
    [RateLimiter.TypeId]: RateLimiter.TypeId,
    consume: (options) =>
      Effect.suspend(() => {
        asked.push(options)
        return consume(asked.length)
      })
  })
  return { asked, layer }
}

const memory = Layer.provide(RateLimiter.layer, RateLimiter.layerStoreMemory)

const away = (millis: number) =>
  Layer.map(memory, (context) => {
    const limiter = Context.get(context, RateLimiter.RateLimiter)
    return Context.make(RateLimiter.RateLimiter, {
      ...limiter,
      consume: (options) => Effect.delay(limiter.consume(options), millis)
    })
  })

const worldOver = (
  double: AdvisorDouble.AdvisorDouble,
  limiter: Layer.Layer<RateLimiter.RateLimiter>,
  options: Throttle.SharedOptions = {}
) =>
  new AdvisorWorld(
    Throttle.layerShared({ rate: { limit: 10, interval: "1 second" }, ...options }).pipe(
      Layer.provide(double.layer),
      Layer.provide(limiter)
    )
  )

const searches = (world: AdvisorWorld, count: number) =>
  Array.from({ length: count }, (_, index) => world.search(`${index}`))

describe("Throttle.layerShared", () => {
  it("lets at most twice limit begin in any interval, in order, and no fewer than the limit over time", () => {
    const double = AdvisorDouble.answering(found)
    const world = worldOver(double, memory)
    searches(world, 200)
    world.pass(25_000)
    const times = double.sent.map(({ at }) => at)
    for (const from of times) {
      expect(times.filter((time) => time >= from && time < from + 1_000).length).toBeLessThanOrEqual(20)
    }
    expect(double.sent.map(({ what }) => what)).toEqual(double.sent.map((_, index) => `${index}`))
    expect(double.sent).toHaveLength(200)
  })

  it.each([40, 200])(
    "lets at most twice limit begin in any interval where more arrive for longer than maxWait, over a limiter that is %i ms away",
    (millis) => {
      const double = AdvisorDouble.answering(found)
      const world = worldOver(double, away(millis), { maxWait: "1 second" })
      for (let at = 0; at < 5_000; at += 50) {
        searches(world, 2)
        world.pass(50)
      }
      const times = double.sent.map(({ at }) => at)
      for (const from of times) {
        expect(times.filter((time) => time >= from && time < from + 1_000).length).toBeLessThanOrEqual(20)
      }
    }
  )

  it.each([10, 200, 1_000])("uses a rate of %i a second over a limiter that is 5 ms away", (limit) => {
    const double = AdvisorDouble.answering(found)
    const world = worldOver(double, away(5), { rate: { limit, interval: "1 second" }, maxWait: "1 minute" })
    searches(world, limit * 10)
    world.pass(9_500)
    expect(double.sent.length).toBeGreaterThanOrEqual(limit * 9)
    expect(double.sent.map(({ what }) => what)).toEqual(double.sent.map((_, index) => `${index}`))
  })

  it("asks for an eighth of limit at most, for no more than wait, and for one where those were too many", () => {
    const { asked, layer } = limiterOf((asked) =>
      Effect.delay(
        asked === 3
          ? exceeded(1_000)
          : granted(80 - asked),
        5
      )
    )
    const double = AdvisorDouble.answering(found)
    const world = worldOver(double, layer, { rate: { limit: 80, interval: "1 second" } })
    searches(world, 24)
    world.pass(30)
    expect(asked.map(({ tokens }) => tokens)).toEqual([1, 10, 10, 1, 10, 2])
    expect(double.sent).toHaveLength(24)
  })

  it("leaves the turn of one who has left to the next one", () => {
    const { asked, layer } = limiterOf(() => Effect.delay(granted(0), 5))
    const double = AdvisorDouble.answering(found)
    const world = worldOver(double, layer)
    const [leaving = expect.fail()] = searches(world, 2)
    world.interrupt(leaving)
    world.pass(5)
    expect([asked.length, double.sent.map(({ what }) => what)]).toEqual([1, ["1"]])
  })

  it("uses no turn that was granted while nobody waited", () => {
    const { asked, layer } = limiterOf(() => Effect.delay(granted(0), 5))
    const world = worldOver(AdvisorDouble.answering(found), layer)
    world.interrupt(world.search("leaves"))
    world.pass(3_600_000)
    expect([outcomeOf(world.search("oats")), asked.length]).toEqual(["waits", 2])
  })

  it("asks in whole milliseconds for each request, with the key that is given", () => {
    const { asked, layer } = limiterOf(() => storeError)
    const world = worldOver(AdvisorDouble.answering(found), layer, { key: "ours", rate: { limit: 3, interval: 1_000 } })
    searches(world, 1)
    expect(asked).toMatchObject([{ algorithm: "fixed-window", onExceeded: "fail", key: "ours", limit: 3 }])
    expect(asked.map(({ window }) => Duration.toMillis(window))).toEqual([1_002])
  })

  it("is as a layer with no rate where none is given", () => {
    const { asked, layer } = limiterOf(() => Effect.never)
    const world = new AdvisorWorld(
      Throttle.layerShared({}).pipe(
        Layer.provide(AdvisorDouble.answering(found).layer),
        Layer.provide(layer)
      )
    )
    expect([outcomeOf(world.search("oats")), asked.length]).toEqual(["found", 0])
  })

  it("refuses at once what is known to wait longer than maxWait, and takes no turn for it", () => {
    const double = AdvisorDouble.answering(found)
    const world = worldOver(double, memory, { rate: { limit: 1, interval: "10 seconds" }, maxWait: "1 second" })
    expect(searches(world, 3).map(outcomeOf)).toEqual(["found", heldBack(10), heldBack(10)])
    world.pass(10_000)
    expect(outcomeOf(world.search("oats"))).toBe("found")
  })

  it("lets nobody begin during a hold with a turn from before it", () => {
    const double = AdvisorDouble.make(({ index }) =>
      index === 0
        ? Effect.delay(
          Effect.fail(new NutritionAdvisorError.TooManyRequests({ operation, status: 429, retryAfter: 5 })),
          50
        )
        : found
    )
    const { asked, layer } = limiterOf(() => Effect.delay(granted(0), 100))
    const world = worldOver(double, layer, { onTooManyRequests: "wait" })
    searches(world, 2)
    world.pass(5_000)
    expect(double.sent).toHaveLength(1)
    world.pass(400)
    expect([double.sent.length, asked.length]).toEqual([2, 3])
  })

  const remainders: ReadonlyArray<unknown> = [0, -1, Number.NaN, Infinity, "9", "many", 9n, Symbol("many"), null, {}]

  const times: ReadonlyArray<unknown> = [
    ...[0, -1, Number.NaN, "1 second", "soon", 5n, null, {}],
    ...[-5, Number.NaN].map((millis): unknown =>
      Object.create(Duration.zero, { value: { value: { _tag: "Millis", millis } } })
    )
  ]

  const nonsense: ReadonlyArray<readonly [string, () => unknown]> = [
    ...remainders.map((remaining) =>
      [
        `grants, and ${inspect(remaining)} remain`,
        () => Effect.succeed({ remaining })
      ] as const
    ),
    ...times.map((retryAfter) =>
      [
        `refuses, and says to come again after ${inspect(retryAfter)}`,
        () => Effect.fail({ reason: "Exceeded", retryAfter })
      ] as const
    ),
    ["grants nothing that can be read", () => Effect.succeed(unreadable)],
    ["fails with nothing that can be read", () => Effect.fail(unreadable)],
    ["gives a number in place of an effect", () => 5],
    ["throws", () => unreadable.remaining]
  ]

  it.each(nonsense)(
    "ends every search in its type within maxWait, and sleeps between questions, over a limiter that %s",
    (_, consume) => {
      const { asked, layer } = limiterOf((asked) => asked > 500 ? Effect.never : consume() as never)
      const world = worldOver(AdvisorDouble.answering(found), layer, { maxWait: "100 millis" })
      const fibers = searches(world, 50)
      world.pass(100)
      for (const outcome of fibers.map(outcomeOf)) {
        if (outcome !== "found") expect(outcome).toMatchObject({ _tag: "TooManyRequests", operation: "search" })
      }
      expect(asked.length).toBeLessThanOrEqual(210)
    }
  )

  const silent: ReadonlyArray<readonly [string, Effect.Effect<never, RateLimiter.RateLimiterError>, number]> = [
    ["fails", storeError, 0],
    ["dies", Effect.die("a bug in a store"), 0],
    ["never answers", Effect.never, 1_000],
    ["can't be interrupted", Effect.uninterruptible(Effect.never), 1_000]
  ]

  it.each(silent)(
    "lets all requests go on over a store that %s, those who came at the same time too",
    (_, consume, millis) => {
      const double = AdvisorDouble.answering(found)
      const world = worldOver(double, limiterOf(() => consume).layer, { maxWait: "1 second" })
      const fibers = searches(world, 50)
      world.pass(millis)
      expect(fibers.map(outcomeOf)).toEqual(fibers.map(() => "found"))
      const later = world.search("later")
      world.pass(millis)
      expect(outcomeOf(later)).toBe("found")
    }
  )

  it("lets those go on whose time is over while a store falls silent that had answered before", () => {
    const { layer } = limiterOf((asked) => asked === 1 ? exceeded(500) : Effect.never)
    const world = worldOver(AdvisorDouble.answering(found), layer, { maxWait: "1 second" })
    const fibers = searches(world, 5)
    world.pass(999)
    expect(fibers.map(outcomeOf)).toEqual(fibers.map(() => "waits"))
    world.pass(1)
    expect(fibers.map(outcomeOf)).toEqual(fibers.map(() => "found"))
  })

  it("refuses those whose time is over before the store had half of maxWait to answer, and lets the others go on then", () => {
    const { layer } = limiterOf((asked) => asked === 1 ? exceeded(900) : Effect.never)
    const world = worldOver(AdvisorDouble.answering(found), layer, { maxWait: "1 second" })
    const fibers = searches(world, 5)
    world.pass(900)
    const others = searches(world, 5)
    world.pass(100)
    expect([...fibers, ...others].map(outcomeOf)).toEqual([
      ...fibers.map(() => heldBack(1)),
      ...others.map(() => "waits")
    ])
    world.pass(400)
    expect(others.map(outcomeOf)).toEqual(others.map(() => "found"))
  })

  it("asks also for those who may not wait", () => {
    const double = AdvisorDouble.answering(found)
    const world = worldOver(double, memory, { rate: { limit: 1, interval: "1 second" }, maxWait: 0 })
    expect(searches(world, 3).map(outcomeOf)).toEqual(["found", heldBack(1), heldBack(1)])
  })

  it("does not ask a store again for as long as it has let wait", () => {
    const { asked, layer } = limiterOf(() => Effect.never)
    const world = worldOver(AdvisorDouble.answering(found), layer, { maxWait: "1 second" })
    searches(world, 1)
    world.pass(1_000)
    expect(outcomeOf(world.search("oats"))).toBe("found")
    world.pass(1_000)
    expect([outcomeOf(world.search("oats")), asked.length]).toEqual(["waits", 2])
  })

  it.effect("warns once a minute of a store that fails, with nothing of its error", () =>
    Effect.sync(() => {
      const lines: Array<unknown> = []
      const logger = Logger.make(({ message }) => lines.push(message))
      const advisor = Throttle.layerShared({ rate: { limit: 10, interval: "1 second" } }).pipe(
        Layer.provide(AdvisorDouble.answering(found).layer),
        Layer.provide(limiterOf(() => storeError).layer)
      )
      const world = new AdvisorWorld(advisor)
      const search = () =>
        world.run(Effect.provide(world.advisor.search("oats"), Logger.replace(Logger.defaultLogger, logger)))
      for (let second = 0; second < 120; second++) {
        search()
        world.pass(1_000)
      }
      expect(lines).toHaveLength(2)
      expect(String(lines[0])).toContain("shared rate")
      expect(String(lines)).not.toContain("gone")
    }))
})
