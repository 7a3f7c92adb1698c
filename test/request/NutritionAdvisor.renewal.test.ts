import { describe, expect } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import { added } from "../support/doubles/counters.js"
import { advisor } from "../support/doubles/simulatedAdvisor.js"
import * as Time from "../support/doubles/Time.js"

/** There has been a search. */
const search = arranged(
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const { httpClient, search } = yield* NutritionAdvisor.NutritionAdvisor
    yield* search("oats")
    return { httpClient, search, simulator }
  }),
  advisor()
)

const searchesOf = (simulator: Simulator.Service) =>
  Effect.map(
    simulator.requests,
    (requests) =>
      requests.filter(({ operation }) => operation === "search").map((request) => ({
        value: Redacted.value(Option.getOrThrow(request.authorization)),
        serviceId: Redacted.value(Option.getOrThrow(request.serviceId))
      }))
  )

describe("renewal: a search", () => {
  search(
    "a rejection that arrives after another renewal is retried with that token, without an exchange",
    function*({ httpClient, search, simulator }) {
      yield* simulator.setLatency("request", "5 seconds")
      const slow = yield* Effect.fork(httpClient.get("/v2/plan"))
      yield* Time.pass("1 second")
      yield* simulator.revoke
      yield* search("oats")
      yield* simulator.respondNext("request", { status: 200, body: {} })
      yield* Time.pass("10 seconds")
      yield* Fiber.await(slow)
      const { exchanges, requests } = yield* simulator.counters
      const sent = (yield* simulator.requests).filter(({ operation }) => operation === "request").map((request) =>
        Redacted.value(Option.getOrThrow(request.authorization))
      )
      const values = (yield* searchesOf(simulator)).map(({ value }) => value)
      expect([sent, exchanges, requests]).toEqual([[values[0], values[2]], 2, 2])
    }
  )
})

describe("renewal: token route down for 30 minutes", () => {
  const oncePerMinute = (search: NutritionAdvisor.Service["search"]) =>
    Effect.replicateEffect(Effect.zipLeft(Effect.exit(search("oats")), Time.pass("1 minute")), 30)

  search("one 403 that is not about the token fails one search", function*({ httpClient, search, simulator }) {
    yield* simulator.respondAlways("token", { status: 503 })
    yield* simulator.respondNext("request", { status: 403 })
    const rejected = yield* Effect.fork(Effect.flip(httpClient.get("/v2/plan")))
    yield* Time.pass("10 seconds")
    expect(yield* Fiber.join(rejected)).toMatchObject({ _tag: "ServerError", operation: "token" })
    expect((yield* oncePerMinute(search)).filter(Exit.isFailure).length).toBe(0)
  })

  search("each search fails after a revocation until an exchange succeeds", function*(
    { search, simulator }
  ) {
    yield* simulator.respondAlways("token", { status: 400 })
    yield* simulator.revoke
    expect((yield* oncePerMinute(search)).filter(Exit.isSuccess).length).toBe(0)
    yield* simulator.recover
    yield* Time.pass("15 seconds")
    const healed = yield* Effect.all(Effect.replicate(Effect.exit(search("oats")), 20), { concurrency: "unbounded" })
    expect(healed.filter(Exit.isFailure).length).toBe(0)
  })
})

describe("renewal: a 403 that is not about the token", () => {
  search("it costs at most eight exchanges a minute, and other searches succeed", function*(services) {
    const { httpClient, search, simulator } = services
    yield* simulator.respondAlways("request", { status: 403 })
    const forbidden = Effect.all(Effect.replicate(Effect.exit(httpClient.get("/v2/forbidden")), 50), {
      concurrency: 50
    })
    const round = Effect.zipLeft(Effect.zipRight(forbidden, Effect.exit(search("oats"))), Time.pass("3 seconds"))
    const exits = yield* Effect.all(Effect.replicate(round, 20))
    expect(exits.filter(Exit.isFailure)).toEqual([])
    expect((yield* simulator.counters).exchanges - 1).toBeLessThanOrEqual(8)
  })

  search("it delays the renewal after a real revocation by at most 15 s", function*({ httpClient, search, simulator }) {
    yield* simulator.respondAlways("request", { status: 403 })
    yield* Effect.replicateEffect(Effect.exit(httpClient.get("/v2/forbidden")), 3)
    yield* simulator.revoke
    const during = yield* Effect.flip(search("oats"))
    yield* Time.pass("15 seconds")
    expect(during).toMatchObject({ reason: "CoolingDown" })
    expect(Exit.isSuccess(yield* Effect.exit(search("oats")))).toBe(true)
  })
})

describe("the counters", () => {
  search("add up over searches that succeed, fail and are rejected", function*({ search, simulator }) {
    const script = Effect.gen(function*() {
      yield* search("oats")
      yield* simulator.respondNext("search", { status: 500 })
      yield* Effect.flip(search("oats"))
      yield* simulator.revoke
      yield* search("oats")
      yield* simulator.respondNext("search", { status: 403 }, { status: 403 })
      yield* Effect.flip(search("oats"))
    })
    expect(yield* added(script)).toEqual({
      "token_exchanges_total issued none rejection": 2,
      "rejections_total AcceptedAfterRenewal": 1,
      "rejections_total RejectedAgain": 1,
      "requests_total Success request search": 2,
      "requests_total ServerError request search": 1,
      "requests_total Forbidden request search": 1
    })
  })

  search("count a rejection while renewals cool down, and no exchange", function*({ search, simulator }) {
    yield* simulator.respondAlways("search", { status: 401 })
    yield* Effect.replicateEffect(Effect.exit(search("oats")), 2)
    const third = Effect.map(
      Effect.flip(search("oats")),
      (error) => expect(error).toMatchObject({ _tag: "Forbidden", reason: "CoolingDown", status: 401 })
    )
    expect(yield* added(third)).toEqual({
      "rejections_total CoolingDown": 1,
      "requests_total Forbidden request search": 1
    })
  })

  search.each([400, 403])(
    "count a rejection of which the renewal was answered with %d",
    function*(status, { search, simulator }) {
      yield* simulator.revoke
      yield* simulator.respondNext("token", { status })
      expect(yield* added(Effect.flip(search("oats")), "rejections_total")).toEqual({ RenewalFailed: 1 })
    }
  )

  search.each([429, 500])(
    "count a rejection of which the second sending was answered with %d",
    function*(status, { search, simulator }) {
      yield* simulator.respondNext("search", { status: 403 }, { status })
      expect(yield* added(Effect.flip(search("oats")))).toMatchObject({ "rejections_total RetryFailed": 1 })
    }
  )

  search("count a rejection of which the second sending was not answered", function*({ search, simulator }) {
    yield* simulator.respondNext("search", { status: 403 })
    yield* simulator.provoke("search", "drop", 1)
    expect(yield* added(Effect.flip(search("oats")))).toMatchObject({ "rejections_total RetryFailed": 1 })
  })
})
