import { expect } from "@effect/vitest"
import { Effect, Exit, Fiber, Predicate, Record, Redacted, TestClock } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import { counterChanges } from "../support/doubles/metrics.js"
import { advisor } from "../support/doubles/simulatedAdvisor.js"
import {
  arrange,
  failures,
  type ForbiddenCall,
  forbiddenCalls,
  rejectedStatuses,
  responseOf,
  search as forbiddenSearch,
  statusesOf
} from "../support/tables/forbiddenCalls.js"

/** A client that has searched once. */
const test = arranged(
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const { httpClient, search } = yield* NutritionAdvisor.NutritionAdvisor
    yield* search("oats")
    return { httpClient, search, simulator }
  }),
  advisor()
)

test("renewal: while the token route is down, a 403 that is not about the token fails one search", function*(services) {
  const { httpClient, search, simulator } = services
  yield* simulator.respondAlways("token", { status: 503 })
  yield* simulator.respondNext("request", { status: 403 })
  const rejected = yield* Effect.fork(Effect.flip(httpClient.get("/v2/plan")))
  yield* TestClock.adjust("10 seconds")
  expect(yield* Fiber.join(rejected)).toMatchObject({ _tag: "ServerError", operation: "token" })
  const oncePerMinute = Effect.zipLeft(Effect.exit(search("oats")), TestClock.adjust("1 minute"))
  expect((yield* Effect.replicateEffect(oncePerMinute, 30)).filter(Exit.isFailure)).toEqual([])
})

test(
  "renewal: at most eight exchanges a minute follow a 403 that is not about the token, and other searches succeed",
  function*({ httpClient, search, simulator }) {
    yield* simulator.respondAlways("request", { status: 403 })
    const forbidden = Effect.all(Effect.replicate(Effect.exit(httpClient.get("/v2/forbidden")), 50), {
      concurrency: 50
    })
    const round = Effect.zipLeft(Effect.zipRight(forbidden, Effect.exit(search("oats"))), TestClock.adjust("3 seconds"))
    const exits = yield* Effect.all(Effect.replicate(round, 20))
    expect(exits.filter(Exit.isFailure)).toEqual([])
    expect((yield* simulator.counters).exchanges - 1).toBeLessThanOrEqual(8)
  }
)

test.each(Object.entries(forbiddenCalls))(
  "renewal: a request fails with the same reason of Forbidden if it gets an ordinary 403 first: %s",
  function*([reason, forbiddenCall], { simulator }) {
    yield* Effect.all([
      simulator.respondNext("search", { status: 403 }),
      simulator.respondNext("request", { status: 403 })
    ])
    yield* arrange(simulator, forbiddenCall)
    expect((yield* failures(forbiddenCall)).at(-1)).toMatchObject({ _tag: "Forbidden", reason })
  }
)

const rejections = Object.entries(forbiddenCalls).flatMap(([reason, forbiddenCall]) =>
  statusesOf(forbiddenCall).map((status) => [reason, status, forbiddenCall] as const)
)

test.each(rejections)(
  "renewal: a Forbidden has the status and the body of the response: %s with status %i",
  function*([reason, status, forbiddenCall], { simulator }) {
    const { body = { note: "rejected" }, ...others } = { ...forbiddenCall.response, status }
    yield* arrange(simulator, forbiddenCall, { ...others, body })
    const error = (yield* failures(forbiddenCall)).at(-1)
    expect(error).toMatchObject({ _tag: "Forbidden", reason, status })
    const text = error?._tag === "Forbidden" && error.body ? Redacted.value(error.body) : undefined
    expect(text).toBe(JSON.stringify(body))
  }
)

const forbiddenSearches = Object.entries(forbiddenCalls).filter(([, { call }]) => call === forbiddenSearch)

test.each(forbiddenSearches)(
  "renewal: a request through httpClient fails with the same reason of Forbidden as a search: %s",
  function*([reason, forbiddenCall], { httpClient, simulator }) {
    yield* arrange(simulator, forbiddenCall)
    const errors = yield* failures({ ...forbiddenCall, call: httpClient.get("/v2/plan") })
    expect(errors.at(-1)).toMatchObject({ _tag: "Forbidden", reason })
  }
)

test.each([{ status: 401 }, { status: 403 }, { status: 403, body: null }, { status: 403, body: "<html></html>" }])(
  "renewal: after an ordinary rejection, a search and a request succeed with a new token: %j",
  function*(rejection, { httpClient, search, simulator }) {
    yield* simulator.respondNext("search", rejection)
    yield* search("oats")
    yield* simulator.respondNext("request", rejection, { status: 204 })
    yield* httpClient.get("/v2/plan")
    expect((yield* simulator.counters).exchanges).toBe(3)
  }
)

const withOthers = (given: unknown) => Predicate.isRecord(given) ? Record.map(given, () => "another") : undefined

/** The response of a row, with other values in its headers and fields. */
const withOtherValues = ({ response = {} }: ForbiddenCall) => ({
  headers: withOthers(response.headers),
  body: withOthers(response.body)
})

test.each(Object.entries(forbiddenCalls))(
  "renewal: the response of %s, but with another status code or other values, is an ordinary rejection",
  function*([, row], { search, simulator }) {
    for (const status of rejectedStatuses) {
      const content = statusesOf(row).includes(status) ? withOtherValues(row) : row.response
      yield* simulator.respondNext("search", { ...content, status })
      yield* search("oats")
    }
    expect((yield* simulator.counters).exchanges).toBe(3)
  }
)

test.each(Object.entries(forbiddenCalls))(
  "renewal: with status 500, the response of %s is a ServerError and renews no token",
  function*([, row], { httpClient, search, simulator }) {
    const response = { ...responseOf(row), status: 500 }
    yield* simulator.respondNext("search", response)
    yield* simulator.respondNext("request", response)
    const errors = [yield* Effect.flip(search("oats")), yield* Effect.flip(httpClient.get("/v2/plan"))]
    expect(errors.map(({ _tag }) => _tag)).toEqual(["ServerError", "ServerError"])
    expect((yield* simulator.counters).exchanges).toBe(1)
  }
)

test.each<readonly [outcome: string, operation: "token" | "search", response: Simulator.SimulatedResponse]>([
  ["RenewalFailed", "token", { status: 400 }],
  ["RenewalFailed", "token", { status: 403 }],
  ["AcceptedAfterRenewal", "search", { status: 404 }],
  ["RetryFailed", "search", { status: 429 }],
  ["RetryFailed", "search", { status: 500 }],
  ["RetryFailed", "search", "drop"]
])(
  "metrics: a rejection counts as %s if the next %s call gets %j",
  function*([outcome, operation, response], { search, simulator }) {
    yield* simulator.respondNext("search", { status: 403 })
    yield* simulator.respondNext(operation, response)
    expect(yield* counterChanges(Effect.flip(search("oats")), "rejections_total")).toEqual({ [outcome]: 1 })
  }
)
