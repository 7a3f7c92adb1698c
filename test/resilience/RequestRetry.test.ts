import { HttpClientRequest } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, Random, Schema, TestClock } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, RequestRetry } from "effect-nutrition-advisor"
import { test } from "../support/doubles/arranged.js"
import { counterChanges } from "../support/doubles/metrics.js"
import { AdvisorWorld, outcomeOf } from "../support/model/AdvisorWorld.js"
import * as AdvisorDouble from "./AdvisorDouble.js"

const { BadRequest, ServerError, TooManyRequests, TransportError } = NutritionAdvisorError

type Operation = NutritionAdvisorError.Operation

const unavailable = (retryAfter?: number, operation: Operation = "search") =>
  Effect.fail(new ServerError({ operation, status: 503, ...retryAfter !== undefined && { retryAfter } }))

const cutOff = (reason: "Timeout" | "Connection" | "Aborted", operation: Operation = "search") =>
  Effect.fail(new TransportError({ operation, reason }))

const payload = Effect.succeed({ results: ["oats"] })

const provided = (double: AdvisorDouble.AdvisorDouble, options?: RequestRetry.Options) =>
  RequestRetry.layer(options).pipe(Layer.provide(double.layer))

const request = (method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE") =>
  Effect.flatMap(
    NutritionAdvisor.NutritionAdvisor,
    ({ httpClient }) => httpClient.execute(HttpClientRequest.make(method)("/v2/plan"))
  )

/** The exit of an effect after all delays have passed. */
const ended = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(self)
    yield* TestClock.adjust("1 minute")
    return yield* Effect.exit(Fiber.join(fiber))
  })

const endedOver = <A, E>(
  double: AdvisorDouble.AdvisorDouble,
  self: Effect.Effect<A, E, NutritionAdvisor.NutritionAdvisor>,
  options?: RequestRetry.Options
) => Effect.provide(ended(self), provided(double, options))

const search = NutritionAdvisor.search("oats")

/** The times of the requests, in milliseconds after the first one. */
const timesOf = ({ sent }: AdvisorDouble.AdvisorDouble) => sent.map(({ at }) => at - (sent[0]?.at ?? 0))

const failureOf = (exit: Exit.Exit<unknown, unknown>) => Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined

test("RequestRetry: if every request fails, the search fails with the last error", function*() {
  const double = AdvisorDouble.responding(unavailable(), cutOff("Timeout"), cutOff("Aborted"), payload)
  const exit = yield* endedOver(double, search)
  expect(failureOf(exit)).toEqual(new TransportError({ operation: "search", reason: "Aborted" }))
  expect(double.sent).toHaveLength(3)
})

test.each([
  new BadRequest({ operation: "search", status: 400 }),
  new TooManyRequests({ operation: "search", status: 429, retryAfter: 1 }),
  new ServerError({ operation: "token", status: 503 }),
  new TransportError({ operation: "token", reason: "Timeout" })
])("RequestRetry: a search is not retried after %s", function*(error) {
  const double = AdvisorDouble.responding(Effect.fail(error), payload)
  expect(failureOf(yield* endedOver(double, search))).toBe(error)
  expect(double.sent).toHaveLength(1)
})

test("RequestRetry: searches that wait for a retry fail with TransportError \"Closed\" when the layer closes", function*() {
  const double = AdvisorDouble.responding(unavailable(4))
  const world = new AdvisorWorld(provided(double))
  const callers = [world.search("oats"), world.run(Effect.uninterruptible(world.advisor.search("oats")))]
  expect(outcomeOf(world.close())).toBeUndefined()
  expect(callers.map(outcomeOf)).toEqual(Array(2).fill(new TransportError({ operation: "search", reason: "Closed" })))
  expect(double.sent).toHaveLength(2)
})

test.each(["GET", "HEAD"] as const)("RequestRetry: a %s of httpClient is retried", function*(method) {
  const double = AdvisorDouble.responding(unavailable(0, "request"), cutOff("Connection", "request"), payload)
  expect(Exit.isSuccess(yield* endedOver(double, request(method)))).toBe(true)
  expect(double.sent.map(({ what }) => what)).toEqual(Array.from({ length: 3 }, () => `${method} /v2/plan`))
})

test.each(["POST", "PUT", "DELETE"] as const)("RequestRetry: a %s of httpClient is not retried", function*(method) {
  const double = AdvisorDouble.responding(unavailable(0, "request"), payload)
  expect(failureOf(yield* endedOver(double, request(method)))).toBeInstanceOf(ServerError)
  expect(double.sent).toHaveLength(1)
})

test("RequestRetry: searchAs is retried", function*() {
  const Foods = Schema.Struct({ results: Schema.Array(Schema.String) })
  const double = AdvisorDouble.responding(unavailable(), payload)
  const found = yield* endedOver(double, NutritionAdvisor.searchAs(Foods)("oats"))
  expect(found).toEqual(Exit.succeed({ results: ["oats"] }))
  expect(double.sent).toHaveLength(2)
})

const jittered = (random: number, options: RequestRetry.Options) => {
  const double = AdvisorDouble.responding(unavailable())
  return Effect.as(endedOver(double, search, options), double).pipe(Effect.withRandom(Random.fixed([random])))
}

test("RequestRetry delay: with jitter, it is at least half of its nominal value", function*() {
  const double = yield* jittered(0, { times: 5, base: "100 millis", cap: "500 millis" })
  expect(timesOf(double)).toEqual([0, 50, 150, 350, 600, 850])
})

test("RequestRetry delay: it grows from 100 ms to 5 s by default", function*() {
  const double = yield* jittered(1 - Number.EPSILON, { times: 8 })
  const times = timesOf(double).map(Math.round)
  expect(times.slice(1).map((time, index) => time - (times[index] ?? 0)))
    .toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
})

test("RequestRetry delay: a Retry-After of 5 s is honored", function*() {
  const double = AdvisorDouble.responding(unavailable(5), payload)
  yield* endedOver(double, search)
  expect(timesOf(double)).toEqual([0, 5_000])
})

test("RequestRetry delay: if Retry-After is longer than cap, the search fails at once", function*() {
  const double = AdvisorDouble.responding(unavailable(5.001), payload)
  const error = yield* Effect.provide(Effect.flip(search), provided(double))
  expect(error).toEqual(new ServerError({ operation: "search", status: 503, retryAfter: 5.001 }))
})

/** How many retries are sent if so many searches start at once and all fail. The budget starts at 10, and holds at most 100. */
const retriesOf = (searches: number, options: RequestRetry.Options) => {
  const double = AdvisorDouble.responding(Effect.delay(unavailable(), 10))
  const world = new AdvisorWorld(provided(double, options))
  for (let search = 0; search < searches; search++) world.search("oats")
  world.pass(60_000)
  return double.sent.length - searches
}

it.each<readonly [searches: number, RequestRetry.Options, retries: number]>([
  [1, { times: 30, budget: 0 }, 10],
  [40, { times: 1, budget: 0 }, 10],
  [40, { times: 1 }, 18],
  [50, { times: 1, budget: 0.1 }, 15],
  [40, { times: 1, budget: 1_000 }, 40],
  [1_000, { times: 1 }, 100],
  [1_000, { times: 1, budget: 1 }, 100]
])(
  "RequestRetry budget: after failed searches, the number of retries is limited (failed searches: %i, options: %j, retries: %i)",
  (searches, options, retries) => {
    expect(retriesOf(searches, options)).toBe(retries)
  }
)

test("RequestRetry budget: requests of every method add to it", function*() {
  const double = AdvisorDouble.make(({ what }) => what.startsWith("POST") ? payload : unavailable())
  yield* Effect.gen(function*() {
    yield* Effect.forkScoped(Effect.exit(search))
    yield* TestClock.adjust("1 minute")
    yield* Effect.flip(search)
    expect(double.sent).toHaveLength(12)
    yield* Effect.repeatN(request("POST"), 4)
    yield* ended(Effect.exit(search))
    expect(double.sent).toHaveLength(12 + 5 + 2)
  }).pipe(Effect.provide(provided(double, { times: 10, budget: 0.2 })))
})

test("retries_total: retries are counted separately from failures that were not retried because the budget was used up", function*() {
  const double = AdvisorDouble.responding(unavailable())
  const searches = Effect.all(Array.from({ length: 12 }, () => Effect.exit(search)), { concurrency: "unbounded" })
  const grown = yield* counterChanges(endedOver(double, searches, { times: 1, budget: 0 }), "retries_total")
  expect(grown).toEqual({ Retried: 10, OutOfBudget: 2 })
})
