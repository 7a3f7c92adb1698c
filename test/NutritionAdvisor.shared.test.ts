import { HttpClientRequest } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import type { Context } from "effect"
import { ConfigProvider, Effect, Either, Fiber, Layer, Redacted, Stream } from "effect"
import { NutritionAdvisor, SharedTokenCache, type TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "./doubles/arranged.js"
import * as Cache from "./doubles/CacheDouble.js"
import { quiet, settle } from "./doubles/CacheDouble.js"
import { added } from "./doubles/counters.js"
import * as Time from "./doubles/Time.js"

const defaults: NutritionAdvisor.SharedOptions = {
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  refresh: { background: false }
}

type Replica = Context.Context<NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider>

const replica = (options: Partial<NutritionAdvisor.SharedOptions> = {}) =>
  Layer.build(NutritionAdvisor.layerShared({ ...defaults, ...options }))

const replicas = (count: number) => Effect.replicateEffect(Effect.suspend(() => replica()), count)

const service = (options: Simulator.Options = {}) => Layer.merge(Simulator.layerHttpClient(options), Cache.layer)

const doubles = Effect.all({ cache: Cache.CacheDouble, simulator: Simulator.Simulator })

const test = arranged(doubles, service())

const searchOf = (replica: Replica) => Effect.provide(NutritionAdvisor.search("apple"), replica)

const from = (replica: Replica) => settle(searchOf(replica))

const endOf = (replica: Replica) =>
  Effect.map(Effect.either(from(replica)), Either.match({ onLeft: (error) => error, onRight: () => "success" }))

const counters = Effect.flatMap(Simulator.Simulator, (simulator) => simulator.counters)

/** The calls of the service that an effect makes. */
const spent = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = yield* counters
    const result = yield* effect
    const after = yield* counters
    return {
      result,
      exchanges: after.exchanges - before.exchanges,
      sends: after.searches - before.searches + after.requests - before.requests
    }
  })

const revoke = Effect.flatMap(Simulator.Simulator, (simulator) => simulator.revoke)

/** Two replicas that have the same token. */
const both = Effect.gen(function*() {
  const [first, second] = [yield* replica(), yield* replica()]
  yield* from(first)
  yield* from(second)
  return { first, second }
})

/** The second has a token that was revoked, and the cache has one that the first got then and that was revoked too. */
const outdated = Effect.gen(function*() {
  const { first, second } = yield* both
  yield* revoke
  yield* from(first)
  yield* revoke
  return { ...(yield* doubles), first, second }
})

describe("Replicas that share a token", () => {
  test("start cold with one exchange for all of their searches", function*({ simulator }) {
    yield* simulator.setLatency("token", "200 millis")
    const searches = (yield* replicas(4)).flatMap((replica) => Effect.replicate(searchOf(replica), 10))
    yield* settle(Effect.all(searches, { concurrency: "unbounded" }))
    expect(yield* counters).toMatchObject({ exchanges: 1, searches: 40, rejections: 0 })
  })

  test("spend one exchange on a token that grows old", function*() {
    const all = yield* replicas(4)
    yield* Effect.forEach(all, from)
    yield* Time.set(3_600_000 - 100_000)
    const { exchanges } = yield* spent(
      Effect.zipRight(settle(Effect.forEach(all, searchOf, { concurrency: "unbounded" })), Cache.pass(500))
    )
    expect(exchanges).toBe(1)
  }, service({ tokenLifetime: 3_600 }))

  test("send the identifier that came with the shared token", function*({ simulator }) {
    const [first, second] = [yield* replica(), yield* replica()]
    yield* from(first)
    yield* simulator.setCustomerId("another-customer")
    expect(yield* endOf(second)).toBe("success")
  })

  test("find what a peer has exchanged after one rejection, without an exchange, revocation after revocation", function*() {
    const { first, second } = yield* both
    for (let revocations = 0; revocations < 4; revocations += 1) {
      yield* Time.pass("1 hour")
      yield* revoke
      yield* from(first)
      expect(yield* spent(endOf(second))).toEqual({ result: "success", exchanges: 0, sends: 2 })
    }
  })

  test("do not touch the cache while they have a token that is fresh", function*({ cache }) {
    const here = yield* replica()
    yield* from(here)
    const before = (yield* cache.calls).length
    yield* from(here)
    expect((yield* cache.calls).length).toBe(before)
  })

  test("share nothing across two license keys", function*() {
    const [one, two] = ["license-1f2e", "license-8b2c"].map((key) => replica({ licenseKey: Redacted.make(key) }))
    if (one !== undefined) yield* from(yield* one)
    if (two !== undefined) yield* from(yield* two)
    expect(yield* counters).toMatchObject({ exchanges: 2, rejections: 0 })
  }, service({ licenseKeys: ["license-1f2e", "license-8b2c"] }))

  test(
    "wait for a lease that is never free, and then exchange: a flight has the time for both",
    function*({ cache, simulator }) {
      yield* simulator.setLatency("token", "8 seconds")
      const dying = yield* Effect.fork(searchOf(yield* replica()))
      yield* quiet
      yield* Effect.flatMap(
        SharedTokenCache.SharedTokenCache,
        (shared) =>
          Effect.flatMap(
            cache.lastName,
            (name) => cache.behaveNext("release", Cache.comesAfter(shared.release(name, "nobody")))
          )
      )
      yield* cache.behaveAlways("write", Cache.fails)
      yield* cache.behaveAlways("release", Cache.fails)
      const slow = yield* replica({ lease: 11_000, tokenTimeout: 10_000, refresh: { background: false, attempts: 1 } })
      expect(yield* endOf(slow)).toBe("success")
      expect(yield* counters).toMatchObject({ exchanges: 2 })
      yield* Fiber.interrupt(dying)
    }
  )

  test("end a wait for a peer's exchange with their scope", function*({ simulator }) {
    yield* simulator.setLatency("token", "8 seconds")
    yield* Effect.fork(searchOf(yield* replica()))
    yield* quiet
    const search = yield* settle(Effect.scoped(Effect.tap(
      Effect.flatMap(replica(), (here) => Effect.forkDaemon(searchOf(here))),
      () => quiet
    )))
    expect(yield* Effect.flip(Fiber.join(search))).toMatchObject({ _tag: "TransportError", reason: "Aborted" })
  })
})

describe("A token that a peer left and that is rejected", () => {
  test("is followed by one exchange, and the request is sent a last time", function*() {
    const { second } = yield* outdated
    const counted = yield* added(
      Effect.map(spent(endOf(second)), (all) => expect(all).toEqual({ result: "success", exchanges: 1, sends: 3 })),
      "rejections_total"
    )
    expect(counted).toEqual({ AcceptedAfterRenewal: 1 })
  })

  test("costs the other replicas no exchange", function*() {
    const { first, second } = yield* outdated
    yield* from(second)
    expect(yield* spent(endOf(first))).toEqual({ result: "success", exchanges: 0, sends: 2 })
  })

  test("is followed by one exchange in a replica that has never had another", function*() {
    yield* outdated
    expect(yield* spent(Effect.flatMap(replica(), endOf))).toEqual({ result: "success", exchanges: 1, sends: 2 })
  })

  test("ends in Forbidden after three sendings and one exchange where every token is rejected", function*() {
    const { second, simulator } = yield* outdated
    yield* simulator.respondAlways("search", { status: 403 })
    expect(yield* spent(endOf(second))).toMatchObject({
      result: { _tag: "Forbidden", reason: "RejectedAgain" },
      exchanges: 1,
      sends: 3
    })
    expect(yield* spent(endOf(second))).toMatchObject({ result: { reason: "CoolingDown" }, exchanges: 0, sends: 1 })
  })

  test("costs each replica eight exchanges a minute at most where every token is rejected", function*() {
    const { first, second, simulator } = yield* outdated
    yield* simulator.respondAlways("search", { status: 403 })
    const { exchanges } = yield* spent(
      Effect.forEach(
        Array.from({ length: 30 }),
        () => Effect.all([endOf(first), endOf(second), Time.pass("2 seconds")])
      )
    )
    expect(exchanges).toBeLessThanOrEqual(16)
  })

  const post = (replica: Replica, request: HttpClientRequest.HttpClientRequest) =>
    settle(Effect.provide(
      Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.execute(request)),
      replica
    ))

  test("is replaced for the request that follows a body that can be sent once only", function*() {
    const { second } = yield* outdated
    const plan = HttpClientRequest.post("/v2/plan")
    const once = HttpClientRequest.bodyStream(plan, Stream.make(new TextEncoder().encode("lunch")))
    expect(yield* Effect.flip(post(second, once))).toMatchObject({ _tag: "Forbidden", reason: "BodyNotReplayable" })
    expect(yield* post(second, HttpClientRequest.bodyText(plan, "lunch"))).toMatchObject({ status: 201 })
  }, service({ routes: { "POST /v2/plan": () => ({ status: 201, body: {} }) } }))
})

describe("The counters of exchanges", () => {
  test("leave a token out that was handed over", function*() {
    const all = yield* replicas(3)
    const counted = yield* added(
      Effect.zipRight(Effect.forEach(all, from), Effect.zipRight(revoke, Effect.forEach(all, from))),
      "token_exchanges_total"
    )
    expect(counted).toEqual({ "issued missing none": 1, "issued none rejection": 1 })
  })
})

describe("layerSharedConfig", () => {
  const variables = {
    NUTRITION_ADVISOR_BASE_URL: Simulator.baseUrl,
    NUTRITION_ADVISOR_LICENSE_KEY: Redacted.value(Simulator.licenseKey),
    NUTRITION_ADVISOR_LEASE: "20 seconds",
    NUTRITION_ADVISOR_CACHE_TIMEOUT: " "
  }

  const searchWith = (values: Readonly<Record<string, string>>) =>
    settle(
      NutritionAdvisor.search("apple").pipe(
        Effect.provide(Layer.fresh(NutritionAdvisor.layerSharedConfig())),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(values))))
      )
    )

  test(
    "reads the variables of layerConfig and its own two, and makes replicas that share a token",
    function*({ cache }) {
      yield* searchWith(variables)
      yield* searchWith(variables)
      expect(yield* counters).toMatchObject({ exchanges: 1, searches: 2 })
      expect((yield* cache.callsOf("lease")).map(({ args: [, duration] }) => duration)).toEqual([20_000])
    }
  )

  test("names the variable whose value makes no sense", function*() {
    const error = yield* Effect.flip(searchWith({ ...variables, NUTRITION_ADVISOR_LEASE: "5 seconds" }))
    expect(error).toMatchObject({ _tag: "ConfigurationError", field: "lease", variable: "NUTRITION_ADVISOR_LEASE" })
  })
})
