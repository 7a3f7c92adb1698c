import { HttpClientRequest } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Random, Schema } from "effect"
import { type NutritionAdvisor, NutritionAdvisorError, RequestRetry } from "effect-nutrition-advisor"
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

const worldOver = (double: AdvisorDouble.AdvisorDouble, options?: RequestRetry.Options) =>
  new AdvisorWorld(RequestRetry.layer(options).pipe(Layer.provide(double.layer)))

const request = (method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE") => ({ httpClient }: NutritionAdvisor.Service) =>
  httpClient.execute(HttpClientRequest.make(method)("/v2/plan"))

const search = ({ search }: NutritionAdvisor.Service) => search("oats")

/** The outcome of a call after all delays have passed. */
const outcomeOver = (
  double: AdvisorDouble.AdvisorDouble,
  call: (advisor: NutritionAdvisor.Service) => Effect.Effect<unknown, unknown>,
  options?: RequestRetry.Options
) => {
  const world = worldOver(double, options)
  const fiber = world.run(call(world.advisor))
  world.pass(60_000)
  return outcomeOf(fiber)
}

/** The times of the requests, in milliseconds after the first one. */
const timesOf = ({ sent }: AdvisorDouble.AdvisorDouble) => sent.map(({ at }) => at - (sent[0]?.at ?? 0))

it("RequestRetry: if every request fails, the search fails with the last error", () => {
  const double = AdvisorDouble.responding(unavailable(), cutOff("Timeout"), cutOff("Aborted"), payload)
  expect(outcomeOver(double, search)).toEqual(new TransportError({ operation: "search", reason: "Aborted" }))
  expect(double.sent).toHaveLength(3)
})

it.each([
  new BadRequest({ operation: "search", status: 400 }),
  new TooManyRequests({ operation: "search", status: 429, retryAfter: 1 }),
  new ServerError({ operation: "token", status: 503 }),
  new TransportError({ operation: "token", reason: "Timeout" })
])("RequestRetry: a search is not retried after %s", (error) => {
  const double = AdvisorDouble.responding(Effect.fail(error), payload)
  expect(outcomeOver(double, search)).toBe(error)
  expect(double.sent).toHaveLength(1)
})

it("RequestRetry: searches that wait for a retry fail with TransportError \"Closed\" when the layer closes", () => {
  const double = AdvisorDouble.responding(unavailable(4))
  const world = worldOver(double)
  const callers = [world.search("oats"), world.run(Effect.uninterruptible(world.advisor.search("oats")))]
  expect(outcomeOf(world.close())).toBeUndefined()
  expect(callers.map(outcomeOf)).toEqual(Array(2).fill(new TransportError({ operation: "search", reason: "Closed" })))
  expect(double.sent).toHaveLength(2)
})

it.each(["GET", "HEAD"] as const)("RequestRetry: a %s of httpClient is retried", (method) => {
  const double = AdvisorDouble.responding(unavailable(0, "request"), cutOff("Connection", "request"), payload)
  expect(outcomeOver(double, request(method))).toHaveProperty("status", 200)
  expect(double.sent.map(({ what }) => what)).toEqual(Array.from({ length: 3 }, () => `${method} /v2/plan`))
})

it.each(["POST", "PUT", "DELETE"] as const)("RequestRetry: a %s of httpClient is not retried", (method) => {
  const double = AdvisorDouble.responding(unavailable(0, "request"), payload)
  expect(outcomeOver(double, request(method))).toBeInstanceOf(ServerError)
  expect(double.sent).toHaveLength(1)
})

it("RequestRetry: searchAs is retried", () => {
  const Foods = Schema.Struct({ results: Schema.Array(Schema.String) })
  const double = AdvisorDouble.responding(unavailable(), payload)
  expect(outcomeOver(double, ({ searchAs }) => searchAs(Foods)("oats"))).toEqual({ results: ["oats"] })
  expect(double.sent).toHaveLength(2)
})

/** The times of the requests of a search, with the same random number for each delay. */
const jittered = (random: number, options: RequestRetry.Options) => {
  const double = AdvisorDouble.responding(unavailable())
  outcomeOver(double, (advisor) => Effect.withRandom(search(advisor), Random.fixed([random])), options)
  return timesOf(double)
}

it("RequestRetry delay: with jitter, it is at least half of its nominal value", () => {
  expect(jittered(0, { times: 5, base: "100 millis", cap: "500 millis" })).toEqual([0, 50, 150, 350, 600, 850])
})

it("RequestRetry delay: it grows from 100 ms to 5 s by default", () => {
  const times = jittered(1 - Number.EPSILON, { times: 8 }).map(Math.round)
  expect(times.slice(1).map((time, index) => time - (times[index] ?? 0)))
    .toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
})

it("RequestRetry delay: a Retry-After of 5 s is honored", () => {
  const double = AdvisorDouble.responding(unavailable(5), payload)
  outcomeOver(double, search)
  expect(timesOf(double)).toEqual([0, 5_000])
})

it("RequestRetry delay: if Retry-After is longer than cap, the search fails immediately", () => {
  const world = worldOver(AdvisorDouble.responding(unavailable(5.001), payload))
  expect(outcomeOf(world.search("oats")))
    .toEqual(new ServerError({ operation: "search", status: 503, retryAfter: 5.001 }))
})

/** How many retries are sent if so many searches start at once and all fail. The budget starts at 10, and holds at most 100. */
const retriesOf = (searches: number, options: RequestRetry.Options) => {
  const double = AdvisorDouble.responding(Effect.delay(unavailable(), 10))
  const world = worldOver(double, options)
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

it("RequestRetry budget: requests of every method add to it", () => {
  const double = AdvisorDouble.make(({ what }) => what.startsWith("POST") ? payload : unavailable())
  const world = worldOver(double, { times: 10, budget: 0.2 })
  world.search("oats")
  world.pass(60_000)
  world.search("oats")
  expect(double.sent).toHaveLength(12)
  for (let post = 0; post < 5; post++) world.run(request("POST")(world.advisor))
  world.search("oats")
  world.pass(60_000)
  expect(double.sent).toHaveLength(12 + 5 + 2)
})

test("retries_total: retries are counted separately from failures that were not retried because the budget was used up", function*() {
  const searches = Effect.sync(() => retriesOf(12, { times: 1, budget: 0 }))
  expect(yield* counterChanges(searches, "retries_total")).toEqual({ Retried: 10, OutOfBudget: 2 })
})
