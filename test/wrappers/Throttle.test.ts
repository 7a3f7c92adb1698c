import { HttpClientRequest } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, FastCheck, Layer, Schema } from "effect"
import { NutritionAdvisorError, Throttle } from "effect-nutrition-advisor"
import { test } from "../support/doubles/arranged.js"
import { counterChanges } from "../support/doubles/metrics.js"
import { AdvisorWorld, outcomeOf } from "../support/model/AdvisorWorld.js"
import { epoch } from "../support/model/VirtualTime.js"
import * as AdvisorDouble from "./AdvisorDouble.js"

const { BadRequest, ServerError, TooManyRequests, TransportError } = NutritionAdvisorError

type Failure = NutritionAdvisorError.NutritionAdvisorError

const operation = "search"

const tooMany = (retryAfter?: number) =>
  new TooManyRequests({ operation, status: 429, ...(retryAfter === undefined ? {} : { retryAfter }) })

const heldBack = (retryAfter: number) => new TooManyRequests({ operation, retryAfter })

const found = Effect.succeed("found")

const worldOver = (double: AdvisorDouble.AdvisorDouble, options?: Throttle.Options) =>
  new AdvisorWorld(Throttle.layer(options).pipe(Layer.provide(double.layer)))

/** Responds by the term: to "limit" with a 429, to "limit 30" with a 429 and a Retry-After of 30 s, and so on. */
const byTerm = (millis = 0, tokenMillis?: (what: string) => number) =>
  AdvisorDouble.make(({ what }) => {
    const [kind, seconds] = what.split(" ")
    const responses: Readonly<Record<string, Effect.Effect<unknown, Failure>>> = {
      limit: Effect.fail(tooMany(seconds === undefined ? undefined : Number(seconds))),
      fail: Effect.fail(new ServerError({ operation, status: 500 })),
      hang: Effect.never,
      slow: Effect.delay(found, "10 seconds"),
      second: Effect.delay(found, "1 second"),
      overdue: Effect.delay(Effect.fail(tooMany(60)), 5_500)
    }
    const response = responses[kind ?? ""] ?? found
    return millis === 0 ? response : Effect.delay(response, millis)
  }, tokenMillis)

const termsOf = ({ sent }: AdvisorDouble.AdvisorDouble) => sent.map(({ what }) => what)

/** A search for a term that `byTerm` understands, or a number of milliseconds that pass. */
type Step = { readonly search: string } | { readonly wait: number }

/** `left` is the retryAfter of the next search, in seconds. */
it.each<readonly [title: string, latency: number, steps: ReadonlyArray<Step>, left: number]>([
  ["it lasts as long as Retry-After", 0, [{ search: "limit 30" }, { wait: 10_000 }], 20],
  ["it lasts at most an hour", 0, [{ search: "limit 86400" }], 3_600],
  [
    "each 429 without Retry-After starts a hold of one second",
    0,
    [{ search: "limit" }, { wait: 1_000 }, { search: "limit" }, { wait: 1_000 }, { search: "limit" }],
    1
  ],
  ["a 429 whose Retry-After is zero or in the past starts a hold of one second", 0, [{ search: "limit 0" }], 1],
  [
    "the longest of several holds applies",
    100,
    [{ search: "limit 5" }, { wait: 50 }, { search: "limit 20" }, { wait: 10 }, { search: "limit 1" }, { wait: 100 }],
    19.99
  ],
  [
    "a response to an earlier request doesn't end it",
    0,
    [{ search: "slow" }, { search: "limit 5" }, { wait: 9_999 }, { search: "hang" }, { wait: 1 }],
    4.999
  ],
  [
    "a 429 for an earlier request starts a new one",
    0,
    [{ search: "overdue" }, { search: "limit 5" }, { wait: 5_000 }, { search: "second" }, { wait: 1_000 }],
    59.5
  ],
  ["a 429 for its probe starts a new one", 0, [{ search: "limit 5" }, { wait: 5_000 }, { search: "limit 7" }], 7]
])("Throttle hold: %s", (_, latency, steps, left) => {
  const world = worldOver(byTerm(latency))
  for (const step of steps) {
    if ("search" in step) world.search(step.search)
    else world.pass(step.wait)
  }
  expect(outcomeOf(world.search("oats"))).toEqual(heldBack(left))
})

/** Responds to the first call with a 429, and to the term "first" with an error. */
const firstFailing = (error: Failure) =>
  AdvisorDouble.make(({ index, what }) => {
    if (index === 0) return Effect.fail(tooMany(5))
    return what === "first" ? Effect.fail(error) : Effect.never
  })

/** A Throttle whose hold of 5 s is over, so that the next request is the probe. */
const afterHold = (onTooManyRequests: "fail" | "wait", double = byTerm()) => {
  const world = worldOver(double, { onTooManyRequests, maxWait: "2 minutes" })
  world.search("limit 5")
  world.pass(5_000)
  return { double, world }
}

it.each([
  new TransportError({ operation, reason: "Connection" }),
  new BadRequest({ operation, detail: "not sent" }),
  new TooManyRequests({ operation: "token", status: 429, retryAfter: 600 })
])("Throttle probe after a hold: a $_tag of $operation without a response doesn't end the hold", (error) => {
  const double = firstFailing(error)
  const { world } = afterHold("fail", double)
  expect(outcomeOf(world.search("first"))).toEqual(error)
  world.search("second")
  expect(outcomeOf(world.search("third"))).toEqual(heldBack(5))
  expect(termsOf(double)).toEqual(["limit 5", "first", "second"])
})

it("Throttle probe after a hold: if it is interrupted, the next request is sent immediately", () => {
  const { double, world } = afterHold("wait")
  const first = world.search("hang")
  for (const term of ["hang", "third"]) world.search(term)
  world.interrupt(first)
  expect(termsOf(double)).toEqual(["limit 5", "hang", "hang"])
})

it("Throttle probe after a hold: a late response lets the other requests follow", () => {
  const { double, world } = afterHold("wait")
  for (const term of ["slow", "hang", "hang", "hang"]) world.search(term)
  world.pass(9_999)
  expect(termsOf(double)).toEqual(["limit 5", "slow", "hang"])
  world.pass(1)
  expect(termsOf(double)).toEqual(["limit 5", "slow", "hang", "hang", "hang"])
})

it("Throttle probe after a hold: while its response is pending, retryAfter is the time until the next request can be sent", () => {
  const { world } = afterHold("fail")
  const outcomes = [1, 2_000, 2_998].map((millis) => {
    world.search("hang")
    world.pass(millis)
    return outcomeOf(world.search("oats"))
  })
  expect(outcomes).toEqual([heldBack(4.999), heldBack(2.999), heldBack(0.001)])
  world.pass(1)
  world.search("found")
  expect(outcomeOf(world.search("oats"))).toBe("found")
})

it.each([
  new ServerError({ operation, status: 503, retryAfter: 30 }),
  new BadRequest({ operation, status: 400 })
])("Throttle probe after a hold: a response with $_tag lets the other requests follow", (error) => {
  const double = firstFailing(error)
  const { world } = afterHold("fail", double)
  for (const term of ["first", "second", "third"]) world.search(term)
  expect(termsOf(double)).toEqual(["limit 5", "first", "second", "third"])
})

it("Throttle: a request that waits for the response to the probe fails after maxWait", () => {
  const world = worldOver(byTerm(), { onTooManyRequests: "wait", maxWait: "3 seconds" })
  world.search("limit 2")
  world.pass(2_000)
  world.search("hang")
  const other = world.search("oats")
  world.pass(2_999)
  expect(outcomeOf(other)).toBe("waits")
  world.pass(1)
  expect(outcomeOf(other)).toEqual(heldBack(2))
})

it("Throttle probe after a hold: its response releases the other requests, even if decoding never ends", () => {
  const world = worldOver(byTerm())
  const endless = Schema.transformOrFail(Schema.Unknown, Schema.Unknown, {
    decode: (): Effect.Effect<unknown> => Effect.never,
    encode: Effect.succeed
  })
  world.search("limit 1")
  world.pass(1_000)
  world.run(world.advisor.searchAs(endless)("oats"))
  expect(outcomeOf(world.search("oats"))).toBe("found")
})

/** How many milliseconds after the start each request was sent. */
const timesOf = ({ sent }: AdvisorDouble.AdvisorDouble) => sent.map(({ at }) => at - epoch)

it("Throttle: if a request waits for a token, the interval to the next request is measured from when the first one is sent", () => {
  const double = AdvisorDouble.make(() => found, (what) => what === "slow" ? 30 : 0)
  const world = worldOver(double, { rate: { limit: 20, interval: "1 second" } })
  world.search("slow")
  world.pass(40)
  world.search("oats")
  world.pass(100)
  expect(timesOf(double)).toEqual([30, 80])
})

it("Throttle: a request that is sent again at once, as after a renewal, takes another permit", () => {
  const world = worldOver(AdvisorDouble.make(() => Effect.as(AdvisorDouble.passGate, "found")), {
    rate: { limit: 20, interval: "1 second" }
  })
  const search = world.search("oats")
  world.pass(49)
  expect(outcomeOf(search)).toBe("waits")
  world.pass(1)
  expect(outcomeOf(search)).toBe("found")
})

it("Throttle: a request that waits for its token until a hold is over is the probe after it", () => {
  const double = AdvisorDouble.make(
    ({ what }) => Effect.delay(what === "limit" ? Effect.fail(tooMany(2)) : found, 1_000),
    (what) => what === "late" ? 4_000 : 0
  )
  const world = worldOver(double, { onTooManyRequests: "wait" })
  for (const term of ["limit", "late"]) world.search(term)
  world.pass(4_000)
  world.search("oats")
  world.pass(2_000)
  expect(timesOf(double)).toEqual([0, 4_000, 5_000])
})

it.each([[3_499, heldBack(1.5)], [3_500, "found"]])(
  "Throttle: maxWait, here %i ms, limits the sum of 2 s before the start and 1.5 s before the send",
  (maxWait, outcome) => {
    const responses = {
      first: Effect.fail(tooMany(2)),
      second: Effect.delay(Effect.fail(tooMany(2)), 2_500),
      third: found
    }
    const double = AdvisorDouble.make(
      ({ what }) => responses[what as keyof typeof responses],
      (what) => what === "third" ? 1_000 : 0
    )
    const world = worldOver(double, { onTooManyRequests: "wait", maxWait })
    world.pass(3_600_000)
    for (const term of ["second", "first"]) world.search(term)
    const waiting = world.search("third")
    world.pass(2_999)
    expect(outcomeOf(waiting)).toBe("waits")
    world.pass(1_501)
    expect(outcomeOf(waiting)).toEqual(outcome)
  }
)

it("Throttle: httpClient and searches share one hold", () => {
  const limited = new TooManyRequests({ operation: "request", status: 429, retryAfter: 30 })
  const double = AdvisorDouble.responding(Effect.fail(limited), found)
  const world = worldOver(double)
  const request = (method: "GET" | "POST") =>
    world.run(world.advisor.httpClient.execute(HttpClientRequest.make(method)("/v2/plan")))
  expect(outcomeOf(request("POST"))).toEqual(limited)
  expect(outcomeOf(world.search("oats"))).toEqual(heldBack(30))
  expect(outcomeOf(request("GET"))).toEqual(new TooManyRequests({ operation: "request", retryAfter: 30 }))
})

const arrivals = FastCheck.array(FastCheck.constantFrom(0, 0, 0, 1, 3, 10, 40, 400), {
  minLength: 300,
  maxLength: 300,
  size: "max"
})

/** The times at which requests are sent that arrive after these gaps. */
const sentAfter = (gaps: ReadonlyArray<number>, rate: { readonly limit: number; readonly interval: number }) => {
  const double = byTerm()
  const world = worldOver(double, { rate, maxWait: "20 days" })
  for (const [index, gap] of gaps.entries()) {
    world.pass(gap)
    world.search(`${index}`)
  }
  world.pass(1_100_000)
  expect(termsOf(double)).toEqual(gaps.map((_, index) => `${index}`))
  return timesOf(double)
}

it("Throttle rate: requests are sent in order at even intervals, as early as possible", () =>
  FastCheck.assert(
    FastCheck.property(arrivals, FastCheck.integer({ min: 1, max: 50 }), (gaps, distance) => {
      const expected: Array<number> = []
      let at = 0
      for (const gap of gaps) {
        at += gap
        expected.push(Math.max(at, (expected.at(-1) ?? -distance) + distance))
      }
      expect(sentAfter(gaps, { limit: 20, interval: 20 * distance })).toEqual(expected)
    }),
    { numRuns: 8, endOnFailure: true }
  ))

it("Throttle rate: two requests that get their permits in the same millisecond each need only one", () => {
  expect(sentAfter(Array(7).fill(0), { limit: 2_000, interval: 1_000 })).toEqual([0, 1, 1, 2, 2, 3, 3])
})

it("Throttle rate: the distances of requests in a row are rounded only once", () => {
  expect(sentAfter(Array(7).fill(0), { limit: 3, interval: 1_000 })).toEqual([0, 334, 667, 1_000, 1_334, 1_667, 2_000])
})

it("Throttle rate: a request that would wait longer than maxWait for its permit fails immediately", () => {
  const double = byTerm()
  const world = worldOver(double, { rate: { limit: 10, interval: "1 second" }, maxWait: "3 seconds" })
  const fibers = Array.from({ length: 60 }, (_, index) => world.search(`${index}`))
  expect(fibers.slice(31).map(outcomeOf)).toEqual(Array(29).fill(heldBack(3.1)))
  world.pass(3_000)
  expect(fibers.slice(0, 31).map(outcomeOf)).toEqual(Array(31).fill("found"))
  expect(double.sent).toHaveLength(31)
})

it("Throttle rate: a request that is interrupted while it waits takes no permit", () => {
  const double = byTerm()
  const world = worldOver(double, { rate: { limit: 1, interval: "1 second" } })
  world.search("first")
  world.interrupt(world.search("second"))
  world.search("third")
  world.pass(1_000)
  expect(termsOf(double)).toEqual(["first", "third"])
})

it("Throttle rate: while a probe is pending, a request that the rate alone delays beyond maxWait fails immediately", () => {
  const rate = { limit: 1, interval: "10 seconds" } as const
  const world = worldOver(byTerm(), { onTooManyRequests: "wait", rate, maxWait: "8 seconds" })
  world.search("limit 10")
  world.pass(10_000)
  world.search("hang")
  expect(outcomeOf(world.search("oats"))).toEqual(heldBack(10))
})

it("Throttle rate: with onTooManyRequests: \"fail\", a 429 immediately fails requests that wait for the rate", () => {
  const double = AdvisorDouble.make(() => Effect.delay(Effect.fail(tooMany(5)), 10))
  const world = worldOver(double, { rate: { limit: 1, interval: "1 second" } })
  const fibers = Array.from({ length: 3 }, (_, index) => world.search(`${index}`))
  world.pass(10)
  expect(fibers.map(outcomeOf)).toEqual([tooMany(5), heldBack(5), heldBack(5)])
})

test("held_requests_total: each held request is counted once, with its first reason", function*() {
  const grown = yield* counterChanges(
    Effect.sync(() => {
      const double = byTerm(0, (what) => what === "again" ? 1_500 : 0)
      const world = worldOver(double, { onTooManyRequests: "wait", rate: { limit: 1, interval: "1 second" } })
      world.search("limit 5")
      world.search("both")
      world.search("both")
      world.pass(20_000)
      for (const term of ["neither", "again", "rate"]) world.search(term)
      world.pass(20_000)
    }),
    "held_requests_total"
  )
  expect(grown).toEqual({ TooManyRequests: 2, Rate: 2 })
})

test("Throttle: waiting and later requests fail with TransportError \"Closed\" when the layer closes", function*() {
  const world = worldOver(byTerm(0, (what) => what === "late" ? 1_000 : 0), { onTooManyRequests: "wait" })
  const late = world.search("late")
  world.search("limit 5")
  world.pass(1_000)
  const waiting = [late, world.search("oats")]
  expect(outcomeOf(world.close())).toBeUndefined()
  for (const search of [...waiting, world.search("oats")]) {
    expect(outcomeOf(search)).toEqual(new TransportError({ operation, reason: "Closed" }))
  }
})
