import { HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, type Fiber, Layer, Metric, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, Throttle } from "effect-nutrition-advisor"
import { test } from "./doubles/arranged.js"
import { added } from "./doubles/counters.js"
import * as AdvisorDouble from "./resilience/AdvisorDouble.js"
import { AdvisorWorld, outcomeOf } from "./resilience/AdvisorWorld.js"

const { BadRequest, Forbidden, MissingServiceId, ServerError, TooManyRequests, TransportError, UnexpectedResponse } =
  NutritionAdvisorError

type Failure = NutritionAdvisorError.NutritionAdvisorError

const operation = "search"

const tooMany = (retryAfter?: number) =>
  new TooManyRequests({ operation, status: 429, ...(retryAfter === undefined ? {} : { retryAfter }) })

const heldBack = (retryAfter: number) => new TooManyRequests({ operation, retryAfter })

const found = Effect.succeed("found")

const unavailable = new ServerError({ operation, status: 500 })

const worldOver = (double: AdvisorDouble.AdvisorDouble, options?: Throttle.Options) =>
  new AdvisorWorld(Throttle.layer(options).pipe(Layer.provide(double.layer)))

/** Answers by what is searched for: a 429 to "limit", with its time to "limit 30", and so on. */
const byTerm = (millis = 0) =>
  AdvisorDouble.make(({ what }) => {
    const [kind, seconds] = what.split(" ")
    const answers: Readonly<Record<string, Effect.Effect<unknown, Failure>>> = {
      limit: Effect.fail(tooMany(seconds === undefined ? undefined : Number(seconds))),
      fail: Effect.fail(unavailable),
      hang: Effect.never,
      slow: Effect.delay(found, "10 seconds"),
      second: Effect.delay(found, "1 second"),
      overdue: Effect.delay(Effect.fail(tooMany(60)), 5_500)
    }
    const answer = answers[kind ?? ""] ?? found
    return millis === 0 ? answer : Effect.delay(answer, millis)
  })

const outcomesOf = (fibers: ReadonlyArray<Fiber.RuntimeFiber<unknown, unknown>>) => fibers.map(outcomeOf)

const termsOf = ({ sent }: AdvisorDouble.AdvisorDouble) => sent.map(({ what }) => what)

const timesOf = (double: AdvisorDouble.AdvisorDouble, world: AdvisorWorld) =>
  double.sent.map(({ at }) => at - (world.time.wallMillis - world.now))

const both = ["fail", "wait"] as const

describe("an hour of 429 without Retry-After", () => {
  it("is a second first, then twice as long each time, up to a minute", () => {
    const double = AdvisorDouble.answering(Effect.fail(tooMany()))
    const world = worldOver(double)
    const holds: Array<number> = []
    for (let hold = 0; hold < 9; hold++) {
      world.search("oats")
      const { retryAfter = 0 } = outcomeOf(world.search("oats")) as { readonly retryAfter?: number }
      holds.push(retryAfter)
      world.pass(retryAfter * 1_000)
    }
    expect(holds).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
    expect(double.sent).toHaveLength(9)
  })
})

describe("the time of a hold", () => {
  const doubling = ["slow", ...[1, 2, 4, 8].flatMap((seconds) => ["limit", seconds * 1_000]), "limit"]

  /** What is searched for, and milliseconds that pass; then the seconds left that the next search is told. */
  it.each<readonly [title: string, latency: number, ReadonlyArray<string | number>, left: number]>([
    ["is an hour at most", 0, ["limit 86400"], 3_600],
    ["is twice as long after another answer", 0, ["limit", 1_000, "fail", "limit"], 2],
    ["is a second again after a success of a request that began since", 0, ["limit", 1_000, "oats", "limit"], 1],
    ["goes on doubling where a request that began before has a success", 0, doubling, 16],
    ["does not start anew with a 429 of one that began before", 100, ["limit", "limit 0.5", "limit", 100], 1],
    ["is that of the first 429 at first", 100, ["limit 5", 50, "limit 20", 50], 5],
    ["becomes longer with a longer one of one that began before", 100, ["limit 5", 50, "limit 20", 100], 20],
    ["doubles only with holds", 100, [...Array<string>(10).fill("limit"), 1_100, "limit", 100], 2],
    ["is not over with an answer to one that began before", 0, ["slow", "limit 5", 9_999, "hang", 1], 1],
    ["comes back with a longer time of one that began before", 0, ["overdue", "limit 5", 5_000, "second", 1_000], 59.5]
  ])("%s", (_, latency, steps, left) => {
    const world = worldOver(byTerm(latency))
    for (const step of steps) {
      if (typeof step === "number") world.pass(step)
      else world.search(step)
    }
    expect(outcomeOf(world.search("oats"))).toEqual(heldBack(left))
  })
})

describe("the request that goes first when the time is over", () => {
  const over = (onTooManyRequests: "fail" | "wait", double = byTerm()) => {
    const world = worldOver(double, { onTooManyRequests, maxWait: "2 minutes" })
    world.search("limit 5")
    world.pass(5_000)
    return { double, world }
  }

  it.each([
    new TransportError({ operation, reason: "Connection" }),
    new BadRequest({ operation, detail: "not sent" }),
    new MissingServiceId({ operation }),
    new TransportError({ operation: "token", reason: "Timeout" }),
    new TooManyRequests({ operation: "token", status: 429, retryAfter: 600 }),
    heldBack(600)
  ])("lifts nothing where it was not answered: $_tag of $operation", (error) => {
    const double = AdvisorDouble.make(({ index, what }) =>
      index === 0 ? Effect.fail(tooMany(5)) : what === "first" ? Effect.fail(error) : Effect.never
    )
    const { world } = over("fail", double)
    expect(outcomeOf(world.search("first"))).toEqual(error)
    world.search("second")
    expect(outcomeOf(world.search("third"))).toEqual(heldBack(1))
    expect(termsOf(double)).toEqual(["limit 5", "first", "second"])
  })

  it.each([
    new ServerError({ operation, status: 503, retryAfter: 30 }),
    new BadRequest({ operation, status: 400 }),
    new Forbidden({ operation, status: 403, reason: "RejectedAgain" }),
    new UnexpectedResponse({ operation, status: 404, reason: "Status" })
  ])("lets the others follow with any answer but 429: $_tag", (error) => {
    const double = AdvisorDouble.make(({ index, what }) =>
      index === 0 ? Effect.fail(tooMany(5)) : what === "first" ? Effect.fail(error) : Effect.never
    )
    const { world } = over("fail", double)
    for (const term of ["first", "second", "third"]) world.search(term)
    expect(termsOf(double)).toEqual(["limit 5", "first", "second", "third"])
  })

  it.each(both)("starts the hold anew with a 429, which its caller gets: %s", (onTooManyRequests) => {
    const { double, world } = over(onTooManyRequests)
    const first = world.search("limit 7")
    const second = world.search("oats")
    expect(outcomeOf(first)).toEqual(tooMany(7))
    expect(outcomeOf(second)).toEqual(onTooManyRequests === "fail" ? heldBack(7) : "waits")
    world.pass(6_999)
    expect(double.sent).toHaveLength(2)
    world.pass(1)
    expect(double.sent).toHaveLength(onTooManyRequests === "fail" ? 2 : 3)
  })
})

describe("who waits", () => {
  it("waits no longer than maxWait, and is told at once where the time is known to be longer", () => {
    const double = byTerm()
    const world = worldOver(double, { onTooManyRequests: "wait", maxWait: "10 seconds" })
    world.search("limit 10.5")
    const early = world.search("early")
    expect(outcomeOf(early)).toEqual(heldBack(10.5))
    world.pass(500)
    const late = world.search("late")
    world.pass(10_000)
    expect(outcomeOf(late)).toBe("found")
  })

  it("ends once maxWait is over while the first one is out", () => {
    const world = worldOver(byTerm(), { onTooManyRequests: "wait", maxWait: "10 seconds" })
    world.search("limit 5")
    world.pass(5_000)
    world.search("hang")
    const other = world.search("oats")
    world.pass(9_999)
    expect(outcomeOf(other)).toBe("waits")
    world.pass(1)
    expect(outcomeOf(other)).toEqual(heldBack(1))
  })

  it("ends with an answer to the first one, though its schema takes for ever or refuses it", () => {
    const world = worldOver(byTerm())
    const forEver = Schema.transformOrFail(Schema.Unknown, Schema.Unknown, {
      decode: (): Effect.Effect<unknown> => Effect.never,
      encode: Effect.succeed
    })
    const refusing = Schema.Unknown.pipe(Schema.filter(() => false))
    for (const schema of [forEver, refusing]) {
      expect(outcomeOf(world.search("limit 1"))).toEqual(tooMany(1))
      world.pass(1_000)
      world.run(world.advisor.searchAs(schema)("oats"))
      expect(outcomeOf(world.search("oats"))).toBe("found")
    }
  })

  it("may be in a region that can't be interrupted", () => {
    const world = worldOver(byTerm(), { onTooManyRequests: "wait" })
    world.search("limit 5")
    const waiting = world.run(Effect.uninterruptible(world.advisor.search("oats")))
    world.pass(5_000)
    expect(outcomeOf(waiting)).toBe("found")
  })
})

describe("httpClient", () => {
  it("is held with the searches, and holds them, for every method", () => {
    const limited = new TooManyRequests({ operation: "request", status: 429, retryAfter: 30 })
    const double = AdvisorDouble.answering(Effect.fail(limited), found)
    const world = worldOver(double)
    const request = (method: "GET" | "POST") =>
      world.run(world.advisor.httpClient.execute(HttpClientRequest.make(method)("/v2/plan")))
    expect(outcomeOf(request("POST"))).toEqual(limited)
    expect(outcomeOf(world.search("oats"))).toEqual(heldBack(30))
    expect(outcomeOf(request("GET"))).toEqual(new TooManyRequests({ operation: "request", retryAfter: 30 }))
  })

  it.effect("keeps its other members working", () =>
    Effect.gen(function*() {
      const { httpClient } = yield* NutritionAdvisor.NutritionAdvisor
      const response = yield* httpClient.get("/v2/plan", { urlParams: { day: 1 } })
      expect(yield* response.json).toEqual({ day: 1 })
      expect(response.request.url).toBe("/v2/plan")
    }).pipe(
      Effect.provide(
        Layer.provide(Throttle.layer(), AdvisorDouble.answering(Effect.succeed({ day: 1 })).layer)
      )
    ))
})

describe("the rate", () => {
  it(
    "lets no more than limit begin in any interval, in their order and as early as that allows: 10,000 random arrivals",
    () => {
      FastCheck.assert(
        FastCheck.property(
          FastCheck.array(FastCheck.constantFrom(0, 0, 0, 1, 3, 10, 40, 400), {
            minLength: 1_000,
            maxLength: 1_000,
            size: "max"
          }),
          FastCheck.integer({ min: 1, max: 50 }),
          FastCheck.constantFrom(100, 1_000),
          (gaps, limit, interval) => {
            const double = byTerm()
            const world = worldOver(double, { rate: { limit, interval }, maxWait: "20 days" })
            const expected: Array<number> = []
            let at = 0
            gaps.forEach((gap, index) => {
              at += gap
              world.pass(at - world.now)
              world.search(`${index}`)
              expected.push(Math.max(at, expected[index - 1] ?? 0, (expected[index - limit] ?? -interval) + interval))
            })
            world.pass(1_100_000)
            const times = timesOf(double, world)
            expect(termsOf(double)).toEqual(gaps.map((_, index) => `${index}`))
            expect(times).toEqual(expected)
          }
        ),
        { numRuns: 10, endOnFailure: true }
      )
    }
  )

  it("holds by maxWait, at once where others before make the wait longer", () => {
    const double = byTerm()
    const world = worldOver(double, { rate: { limit: 10, interval: "1 second" }, maxWait: "3 seconds" })
    const fibers = Array.from({ length: 60 }, (_, index) => world.search(`${index}`))
    expect(outcomesOf(fibers).filter((outcome) => outcome === "found")).toHaveLength(10)
    expect(outcomesOf(fibers.slice(40))).toEqual(Array(20).fill(heldBack(4)))
    world.pass(3_000)
    expect(outcomesOf(fibers.slice(0, 40))).toEqual(Array(40).fill("found"))
    expect(double.sent).toHaveLength(40)
  })

  it("ends who waits for it at once where a hold begins and the others fail", () => {
    const double = AdvisorDouble.make(() => Effect.delay(Effect.fail(tooMany(5)), 10))
    const world = worldOver(double, { rate: { limit: 1, interval: "1 second" } })
    const fibers = Array.from({ length: 3 }, (_, index) => world.search(`${index}`))
    world.pass(10)
    expect(outcomesOf(fibers)).toEqual([tooMany(5), heldBack(5), heldBack(5)])
  })
})

describe("what Throttle shows", () => {
  const holdSeconds = Effect.map(
    Metric.value(Metric.gauge("nutrition_advisor_hold_seconds", {
      description: "Seconds for which requests are still held after a 429 of the service"
    })),
    ({ value }) => value
  )

  test("is each held request, once a reason", function*() {
    const grown = yield* added(
      Effect.sync(() => {
        const world = worldOver(byTerm(), { onTooManyRequests: "wait", rate: { limit: 1, interval: "1 second" } })
        world.search("limit 5")
        world.search("both")
        world.search("both")
        world.pass(20_000)
        world.search("neither")
      }),
      "held_requests_total"
    )
    expect(grown).toEqual({ TooManyRequests: 2, Rate: 1 })
  })

  test.each<readonly [Throttle.Options, Readonly<Record<string, number>>]>([
    [{}, { TooManyRequests: 2 }],
    [{ onTooManyRequests: "wait", maxWait: "8 seconds" }, {}],
    [{ onTooManyRequests: "wait", maxWait: "4 seconds" }, { TooManyRequests: 2 }],
    [{ onTooManyRequests: "ignore", rate: { limit: 1, interval: "5 seconds" }, maxWait: 0 }, { Rate: 2 }]
  ])("under %j is each search that was refused, and none that waited", function*([options, refused]) {
    const grown = yield* added(
      Effect.sync(() => {
        const world = worldOver(byTerm(), options)
        for (const term of ["limit 5", "oats", "rice"]) world.search(term)
        world.pass(20_000)
      }),
      "refused_requests_total"
    )
    expect(grown).toEqual(refused)
  })

  test("is the seconds left at each 429 and each held request, and zero once the time is over, whether one comes or not", function*() {
    const world = worldOver(byTerm())
    world.search("limit 30")
    expect(yield* holdSeconds).toBe(30)
    world.pass(10_000)
    world.search("oats")
    expect(yield* holdSeconds).toBe(20)
    world.pass(20_000)
    expect(yield* holdSeconds).toBe(0)
  })
})
