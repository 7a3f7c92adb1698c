import { inspect } from "node:util"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Clock, type Context, Effect, Exit, Fiber, Layer, Option, Random, Stream, TestClock } from "effect"
import { NutritionAdvisor, type TokenProvider } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import * as Cache from "../support/doubles/CacheDouble.js"
import { settle } from "../support/doubles/CacheDouble.js"
import { describeExit } from "../support/doubles/describeExit.js"
import { logged } from "../support/doubles/logs.js"
import * as ManualClock from "../support/doubles/ManualClock.js"
import { counterChanges } from "../support/doubles/metrics.js"
import { execute, settings } from "../support/doubles/simulatedAdvisor.js"

type Replica = Context.Context<NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider>

const replica = (options: Partial<NutritionAdvisor.SharedOptions> = {}) =>
  Layer.build(NutritionAdvisor.layerShared({ ...settings, ...options }))

const service = (options: Simulator.Options = {}) => Layer.merge(Simulator.layerHttpClient(options), Cache.layer)

const doubles = Effect.all({ cache: Cache.CacheDouble, simulator: Simulator.Simulator })

const test = arranged(doubles, service(), Cache.around)

const searchOf = (replica: Replica) => Effect.provide(NutritionAdvisor.search("apple"), replica)

const from = (replica: Replica) => settle(searchOf(replica))

const searchEnd = (replica: Replica) => Effect.map(Effect.exit(from(replica)), describeExit)

/** The calls of the service that an effect makes. */
const spent = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const { simulator } = yield* doubles
    const before = yield* simulator.counters
    const result = yield* effect
    const after = yield* simulator.counters
    return {
      result,
      exchanges: after.exchanges - before.exchanges,
      sends: after.searches - before.searches + after.requests - before.requests
    }
  })

/** Two replicas that have the same token. */
const both = Effect.gen(function*() {
  const [first, second] = [yield* replica(), yield* replica()]
  yield* from(first)
  yield* from(second)
  return { first, second }
})

/** Two replicas with revoked tokens: the second has the older one, and the cache has the one of the first. */
const outdated = Effect.gen(function*() {
  const { cache, simulator } = yield* doubles
  const { first, second } = yield* both
  yield* simulator.revoke
  yield* from(first)
  yield* simulator.revoke
  return { cache, simulator, first, second }
})

test("sharing: if an exchange hangs, a peer takes over after tokenTimeout", function*({ simulator }) {
  yield* simulator.respondNext("token", "hang")
  const [first, second] = [yield* replica(), yield* replica()]
  const hanging = yield* Effect.fork(Effect.flip(searchOf(first)))
  yield* TestClock.adjust(0)
  const waiting = yield* Effect.fork(searchOf(second))
  yield* TestClock.adjust(9_500)
  expect(yield* Fiber.poll(hanging)).toEqual(Option.none())
  yield* TestClock.adjust(1_500)
  expect(Option.isSome(yield* Fiber.poll(hanging))).toBe(true)
  expect(yield* Fiber.join(hanging)).toMatchObject({ _tag: "TransportError", operation: "token", reason: "Timeout" })
  yield* Fiber.join(waiting)
  expect(yield* simulator.counters).toMatchObject({ exchanges: 2 })
})

test(
  "sharing: a search waits for at most lease + 2 x tokenTimeout + 3 x cacheTimeout",
  function*({ cache, simulator }) {
    const before = yield* Effect.withRandom(replica(), Random.fixed([0.5]))
    yield* from(before)
    const name = cache.lastName()
    yield* simulator.revoke
    yield* cache.lease(name, "a replica that hangs", 60_000)
    for (const operation of Cache.operations) cache.always.set(operation, Cache.takes(900))
    yield* simulator.setLatency("token", "9.9 seconds")
    const started = yield* Clock.currentTimeMillis
    expect(yield* searchEnd(before)).toBe("Success")
    const waited = (yield* Clock.currentTimeMillis) - started
    expect(waited).toBeGreaterThan(34_000)
    expect(waited).toBeLessThanOrEqual(38_000)
  }
)

describe("sharing: a rejected token of a peer", () => {
  test("the request is sent a third time, after one exchange", function*() {
    const { second } = yield* outdated
    const counted = yield* counterChanges(
      Effect.map(spent(searchEnd(second)), (all) => expect(all).toEqual({ result: "Success", exchanges: 1, sends: 3 })),
      "rejections_total"
    )
    expect(counted).toEqual({ AcceptedAfterRenewal: 1 })
  })

  test("if every token is rejected, a search fails with Forbidden after three requests and one exchange", function*() {
    const { second, simulator } = yield* outdated
    yield* simulator.respondAlways("search", { status: 403 })
    expect(yield* spent(searchEnd(second))).toEqual({ result: "Forbidden RejectedAgain", exchanges: 1, sends: 3 })
    expect(yield* spent(searchEnd(second))).toEqual({ result: "Forbidden CoolingDown", exchanges: 0, sends: 1 })
  })

  const post = (replica: Replica, request: HttpClientRequest.HttpClientRequest) =>
    settle(Effect.provide(execute(request), replica))

  test("if a body can be sent only once, the next request uses a new token", function*() {
    const { second } = yield* outdated
    const plan = HttpClientRequest.post("/v2/plan")
    const once = HttpClientRequest.bodyStream(plan, Stream.make(new TextEncoder().encode("lunch")))
    expect(yield* Effect.flip(post(second, once))).toMatchObject({ _tag: "Forbidden", reason: "BodyNotReplayable" })
    expect(yield* post(second, HttpClientRequest.bodyText(plan, "lunch"))).toMatchObject({ status: 201 })
  }, service({ routes: { "POST /v2/plan": () => ({ status: 201, body: {} }) } }))
})

test("sharing: a token from a peer is not counted as an exchange", function*({ simulator }) {
  const all = yield* Effect.replicateEffect(replica(), 3)
  const counted = yield* counterChanges(
    Effect.zipRight(Effect.forEach(all, from), Effect.zipRight(simulator.revoke, Effect.forEach(all, from))),
    "token_exchanges_total"
  )
  expect(counted).toEqual({ "issued missing none": 1, "issued none rejection": 1 })
})

test("sharing: a Redis that rejects commands is skipped, and its password is not logged", function*() {
  const error = Object.assign(new Error("WRONGPASS invalid"), { command: { name: "auth", args: ["redis-word"] } })
  const redis = RedisTokenCache.layerFromClient({ call: () => Promise.reject(error) })
  const lines = yield* logged(Effect.flatMap(Effect.provide(replica(), redis), from))
  expect(inspect(lines, { depth: 9 })).toContain("(WRONGPASS)")
  expect(inspect(lines, { depth: 9 })).not.toContain("redis-word")
})

/** The end of a search whose process is stopped for a minute during its exchange: both clocks go on, and no timer fires. */
const searchWhileStopped = Effect.gen(function*() {
  const clock = ManualClock.over(yield* Effect.clock)
  const times = { tokenTimeout: "1 second", lease: "1500 millis", cacheTimeout: "100 millis" } as const
  const stopped = yield* Effect.withClock(replica(times), clock)
  const searching = yield* Effect.fork(Effect.withClock(Effect.exit(searchOf(stopped)), clock))
  yield* TestClock.adjust(100)
  ManualClock.suspend(clock, 60_000)
  yield* TestClock.adjust(10_000)
  return yield* Fiber.join(searching)
})

const uninterruptible = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, HttpClient.transformResponse(Effect.uninterruptible))
)

describe("sharing: a process that is suspended during an exchange", () => {
  test("the exchange is repeated if it can be interrupted", function*({ simulator }) {
    yield* simulator.respondNext("token", "hang")
    expect(Exit.isSuccess(yield* searchWhileStopped)).toBe(true)
    expect(yield* simulator.counters).toMatchObject({ exchanges: 2, exchangesAtOnce: 1 })
  })

  test("no second exchange starts while an uninterruptible one runs", function*({ simulator }) {
    yield* simulator.setLatency("token", "5 seconds")
    expect(Exit.isFailure(yield* Effect.provide(searchWhileStopped, uninterruptible))).toBe(true)
    expect(yield* simulator.counters).toMatchObject({ exchangesAtOnce: 1 })
  })
})
