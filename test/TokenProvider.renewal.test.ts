import { describe, expect } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Redacted } from "effect"
import type { NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "./doubles/arranged.js"
import { added } from "./doubles/counters.js"
import * as Issuer from "./doubles/IssuerDouble.js"
import { cold, coolingDown, fresh, issuer, provider, store } from "./doubles/situations.js"
import * as Time from "./doubles/Time.js"

const windowStart = 900_000

const { unavailable } = Issuer

const reasonOf = (error: NutritionAdvisorError.TokenError) => error._tag === "Forbidden" ? error.reason : error._tag

describe("renew", () => {
  fresh("exchanges for another token and stores it, and tells the issuer which one was rejected", function*({ first }) {
    const renewed = yield* provider.renew(first)
    expect([Issuer.valueOf(renewed), Option.getOrThrow(yield* store.current) === renewed, yield* issuer.replaced])
      .toEqual([Issuer.secretOf(2), true, [Option.none(), Option.some(first)]])
  })

  fresh("takes the token that a peer has put into the store, without an exchange", function*({ first }) {
    yield* store.put(Issuer.token(9, 0, 1_000_000))
    expect([Issuer.valueOf(yield* provider.renew(first)), yield* issuer.calls]).toEqual([Issuer.secretOf(9), 1])
  })

  fresh("takes no expired token from the store", function*({ first }) {
    yield* Time.set(10_000)
    yield* store.put(Issuer.token(9, 0, 10_000))
    expect([Issuer.valueOf(yield* provider.renew(first)), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  fresh("is an ordinary exchange where the store is empty", function*({ first }) {
    yield* store.invalidate(first)
    expect([Issuer.valueOf(yield* provider.renew(first)), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  fresh("compares by the value of the token, not by its object", function*() {
    yield* provider.renew(Issuer.token(1, 5, 7))
    expect(yield* issuer.calls).toBe(2)
  })

  fresh.each([13, 2_048])(
    "costs one exchange for 500 rejections that yield every %s operations",
    function*(operations, { first }) {
      yield* Effect.all(Effect.replicate(provider.renew(first), 500), { concurrency: "unbounded" }).pipe(
        Effect.withMaxOpsBeforeYield(operations)
      )
      expect(yield* issuer.calls).toBe(2)
    }
  )

  fresh("makes callers without a rejection wait for the new token, too", function*({ first }) {
    yield* issuer.setLatency("9 seconds")
    yield* Effect.fork(provider.renew(first))
    yield* Time.pass("1 second")
    const caller = yield* Effect.fork(provider.get)
    yield* Time.pass("9 seconds")
    expect([Issuer.valueOf(yield* Fiber.join(caller)), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  fresh("that failed ends in the error of its exchange, and leaves the rejected token to no one", function*({ first }) {
    yield* issuer.respondNext(Effect.fail(unavailable))
    expect([yield* Effect.flip(provider.renew(first)), yield* store.current, yield* Effect.flip(provider.get)])
      .toEqual([unavailable, Option.none(), unavailable])
  })

  fresh("that hands back the rejected token ends all who joined as TokenUnchanged, and costs one exchange", function*(
    { first }
  ) {
    yield* issuer.respondAlways(Issuer.issued(1, 1_000_000))
    yield* issuer.setLatency("100 millis")
    const renewals = yield* Effect.fork(
      Effect.all(Effect.replicate(Effect.flip(provider.renew(first)), 50), { concurrency: "unbounded" })
    )
    yield* Time.pass("100 millis")
    expect([new Set((yield* Fiber.join(renewals)).map(reasonOf)), yield* issuer.calls])
      .toEqual([new Set(["TokenUnchanged"]), 2])
  })

  fresh("that joins a refresh which hands back the rejected token exchanges once more", function*({ first }) {
    yield* Time.set(windowStart)
    yield* issuer.setLatency("100 millis")
    yield* issuer.respondNext(Issuer.issued(1, 1_000_000))
    yield* provider.get
    const renewed = yield* Effect.fork(provider.renew(first))
    yield* Time.pass("200 millis")
    expect([Issuer.valueOf(yield* Fiber.join(renewed)), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 3])
  })
})

describe("a cool-down", () => {
  coolingDown("keeps its token in the store", function*({ held }) {
    yield* Effect.flip(provider.renew(held))
    expect(Option.getOrThrow(yield* store.current)).toBe(held)
  })

  coolingDown("does not hold up a refresh of the token", function*({ calls }) {
    yield* Time.set(windowStart)
    yield* provider.get
    yield* Time.pass(0)
    expect(yield* issuer.calls).toBe(calls + 1)
  })

  coolingDown("does not hold up a rejection of an older token, for that costs nothing", function*({ first, held }) {
    expect(yield* provider.renew(first)).toBe(held)
  })

  coolingDown("tells the answer that the token was rejected with", function*({ held }) {
    expect(yield* Effect.flip(provider.renew(held, { operation: "search", status: 401 })))
      .toMatchObject({ _tag: "Forbidden", operation: "search", status: 401, reason: "CoolingDown" })
  })
})

describe("an exchange that must be one", () => {
  fresh("is asked for by the caller, and by no one else", function*({ first }) {
    const second = yield* provider.renew(first)
    yield* provider.renew(second, { operation: "request", status: 403, mustExchange: true })
    expect((yield* issuer.requests).map(({ mustExchange }) => mustExchange)).toEqual([false, false, true])
  })
})

const started = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const { httpClient, search } = yield* NutritionAdvisor.make({
    baseUrl: Simulator.baseUrl,
    licenseKey: Simulator.licenseKey,
    refresh: { background: false }
  })
  yield* search("oats")
  return { httpClient, search, simulator }
})

const search = arranged(started, Simulator.layerHttpClient())

const searchesOf = (simulator: Simulator.Service) =>
  Effect.map(
    simulator.requests,
    (requests) =>
      requests.filter(({ operation }) => operation === "search").map((request) => ({
        value: Redacted.value(Option.getOrThrow(request.authorization)),
        serviceId: Redacted.value(Option.getOrThrow(request.serviceId))
      }))
  )

describe("a search", () => {
  search(
    "whose rejection comes after another one was renewed is sent with that token, at no cost",
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

  search("after a renewal that failed is not sent with the rejected token", function*({ search, simulator }) {
    yield* simulator.revoke
    yield* simulator.respondAlways("token", { status: 400 })
    yield* Effect.all(Effect.replicate(Effect.flip(search("oats")), 20))
    const { exchanges, searches } = yield* simulator.counters
    expect([exchanges, searches]).toEqual([2, 2])
  })
})

describe("a 403 that is not about the token", () => {
  search("costs eight exchanges a minute at most, and leaves the others their answers", function*(services) {
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

  search("lets a true revocation wait for 15 s at most", function*({ httpClient, search, simulator }) {
    yield* simulator.respondAlways("request", { status: 403 })
    yield* Effect.replicateEffect(Effect.exit(httpClient.get("/v2/forbidden")), 3)
    yield* simulator.revoke
    const during = yield* Effect.flip(search("oats"))
    yield* Time.pass("15 seconds")
    expect([reasonOf(during), Exit.isSuccess(yield* Effect.exit(search("oats")))]).toEqual(["CoolingDown", true])
  })
})

describe("the counters", () => {
  cold("add up over success, stale serve, failure, same token and rejection", function*() {
    const script = Effect.gen(function*() {
      yield* issuer.respondNext(Effect.fail(unavailable))
      yield* Effect.flip(provider.get)
      yield* Time.pass("1 second")
      const first = yield* provider.get
      yield* Effect.repeatN(provider.get, 2)
      yield* Time.pass(windowStart)
      yield* issuer.respondNext(Issuer.issued(1, 100_000))
      yield* provider.get
      yield* Time.pass("10 seconds")
      yield* provider.get
      yield* Time.pass(0)
      const second = yield* provider.get
      yield* provider.renew(second)
      yield* provider.renew(first)
    })
    expect(yield* added(script)).toEqual({
      "token_exchanges_total ServerError failed missing": 1,
      "token_exchanges_total issued missing none": 1,
      "token_exchanges_total none refresh unchanged": 1,
      "token_exchanges_total issued none refresh": 1,
      "token_exchanges_total issued none rejection": 1
    })
  })

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
