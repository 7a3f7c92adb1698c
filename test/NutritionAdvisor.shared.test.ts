import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Fiber, Layer, Option, Redacted, Stream } from "effect"
import type { SharedTokenCache, TokenProvider } from "effect-nutrition-advisor"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "./doubles/arranged.js"
import * as Cache from "./doubles/CacheDouble.js"
import { quiet, settle } from "./doubles/CacheDouble.js"
import { untilHeldUp } from "./doubles/coolDown.js"
import { added } from "./doubles/counters.js"
import * as Time from "./doubles/Time.js"
import * as Secrets from "./leaks/secrets.js"
import { observe } from "./leaks/sinks.js"

const defaults: NutritionAdvisor.SharedOptions = {
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  refresh: { background: false }
}

type Replica = Context.Context<NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider>

const replica = (options: Partial<NutritionAdvisor.SharedOptions> = {}) =>
  Layer.build(Layer.fresh(NutritionAdvisor.layerShared({ ...defaults, ...options })))

const replicas = (count: number) => Effect.all(Effect.replicate(replica(), count))

const service = (options: Simulator.Options = {}) => Layer.merge(Simulator.layerHttpClient(options), Cache.layer)

const doubles = Effect.all({ cache: Cache.CacheDouble, simulator: Simulator.Simulator })

const test = arranged(doubles, service())

const from = (replica: Replica) => settle(Effect.provide(NutritionAdvisor.search("apple"), replica))

const endOf = (replica: Replica) =>
  Effect.map(Effect.either(from(replica)), (end) => end._tag === "Right" ? "success" : end.left)

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
const both = Effect.tap(Effect.all([replica(), replica()]), (two) => Effect.forEach(two, from))

/** Two replicas: the token of the second was revoked, and the cache has the one that the first got in its place. */
const renewedByFirst = Effect.tap(both, ([first]) => Effect.zipRight(revoke, from(first)))

/** A replica that has T1, and a cache with a T2 that the service accepts no more either. */
const outdated = Effect.gen(function*() {
  const [first, second] = yield* renewedByFirst
  yield* revoke
  return { ...(yield* doubles), first, second }
})

describe("replicas that share a token", () => {
  test("start cold with one exchange for all of their searches", function*({ simulator }) {
    yield* simulator.setLatency("token", "2 seconds")
    const all = yield* replicas(5)
    const searches = all.flatMap((replica) =>
      Effect.replicate(Effect.provide(NutritionAdvisor.search("x"), replica), 10)
    )
    yield* settle(Effect.all(searches, { concurrency: "unbounded" }))
    expect(yield* counters).toMatchObject({ exchanges: 1, searches: 50, rejections: 0 })
  })

  test("spend one exchange on a token that grows old", function*() {
    const all = yield* replicas(5)
    yield* Effect.forEach(all, from)
    yield* Time.set(3_600_000 - 100_000)
    const { exchanges } = yield* spent(
      Effect.zipRight(
        settle(Effect.forEach(all, (replica) => Effect.provide(NutritionAdvisor.search("apple"), replica), {
          concurrency: "unbounded"
        })),
        Cache.pass(1_000)
      )
    )
    expect(exchanges).toBe(1)
  }, service({ tokenLifetime: 3_600 }))

  test("send the identifier that came with the shared token", function*({ simulator }) {
    const [first, second] = yield* Effect.all([replica(), replica()])
    yield* from(first)
    yield* simulator.setCustomerId("another-customer")
    expect(yield* endOf(second)).toBe("success")
  })

  test("find what a peer has exchanged after one 403, without an exchange, revocation after revocation", function*() {
    const [first, second] = yield* both
    const ends = yield* Effect.forEach(Array.from({ length: 6 }), () =>
      Effect.gen(function*() {
        yield* Time.pass("1 hour")
        yield* revoke
        yield* from(first)
        return yield* spent(endOf(second))
      }))
    expect(ends).toEqual(ends.map(() => ({ result: "success", exchanges: 0, sends: 2 })))
  })

  test("do not touch the cache while they have a token that is fresh", function*({ cache }) {
    const here = yield* replica()
    yield* from(here)
    yield* Effect.forEach(Cache.operations, (operation) => cache.behaveAlways(operation, Cache.hangs))
    const before = (yield* cache.calls).length
    const start = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
    yield* from(here)
    const end = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
    expect([(yield* cache.calls).length - before, end - start]).toEqual([0, 0])
  })

  test("share nothing across two license keys", function*() {
    const one = yield* replica({ licenseKey: Redacted.make("license-1f2e") })
    const two = yield* replica({ licenseKey: Redacted.make("license-8b2c") })
    yield* from(one)
    yield* from(two)
    const { requests } = yield* Simulator.Simulator
    const sent = (yield* requests).flatMap(({ authorization }) =>
      Option.toArray(Option.map(authorization, Redacted.value))
    )
    expect(sent).toEqual(["Bearer simulated-1-1", "Bearer simulated-2-2"])
  }, service({ licenseKeys: ["license-1f2e", "license-8b2c"] }))

  test("wait for a peer that dies as long as its lease, which is longer than tokenTimeout", function*({ cache }) {
    yield* cache.squat(15_000)
    expect(yield* Effect.flatMap(replica(), endOf)).toBe("success")
  })

  test("end a wait for a peer's exchange with the scope", function*({ cache }) {
    yield* cache.squat(15_000)
    const error = yield* settle(
      Effect.scoped(Effect.gen(function*() {
        const here = yield* replica()
        const search = yield* Effect.forkDaemon(Effect.provide(NutritionAdvisor.search("apple"), here))
        yield* quiet
        return search
      })).pipe(Effect.flatMap((search) => Effect.flip(Fiber.join(search))))
    )
    expect(error).toMatchObject({ _tag: "TransportError", reason: "Aborted" })
  })
})

describe("a token that was handed over and is rejected", () => {
  test("is followed by one exchange, and the request is sent a last time", function*() {
    const { second } = yield* outdated
    expect(yield* spent(endOf(second))).toEqual({ result: "success", exchanges: 1, sends: 3 })
  })

  test("is taken out of the cache", function*() {
    const { cache, second } = yield* outdated
    yield* from(second)
    expect((yield* cache.callsOf("remove")).length).toBe(2)
  })

  test("costs the other replicas no exchange", function*() {
    const { first, second } = yield* outdated
    yield* from(second)
    expect(yield* spent(endOf(first))).toEqual({ result: "success", exchanges: 0, sends: 2 })
  })

  test("is followed by one exchange in a replica that has never had another", function*() {
    yield* outdated
    const third = yield* replica()
    expect(yield* spent(endOf(third))).toEqual({ result: "success", exchanges: 1, sends: 2 })
  })

  test("ends in Forbidden after three sendings and one exchange where every token is rejected", function*() {
    const { second, simulator } = yield* outdated
    yield* simulator.respondAlways("search", { status: 403 })
    expect(yield* spent(endOf(second))).toMatchObject({
      result: { _tag: "Forbidden", reason: "RejectedAgain" },
      exchanges: 1,
      sends: 3
    })
  })

  test("is followed by no second exchange where the token of the first is rejected too", function*({ simulator }) {
    const here = yield* replica()
    yield* from(here)
    yield* simulator.respondAlways("search", { status: 403 })
    expect(yield* spent(endOf(here))).toMatchObject({
      result: { _tag: "Forbidden", reason: "RejectedAgain" },
      exchanges: 1,
      sends: 2
    })
  })

  test("is followed by a cool-down where every token is rejected", function*() {
    const { second, simulator } = yield* outdated
    yield* simulator.respondAlways("search", { status: 403 })
    yield* Effect.flip(untilHeldUp(from(second)))
    expect(yield* spent(endOf(second))).toMatchObject({
      result: { _tag: "Forbidden", reason: "CoolingDown" },
      exchanges: 0,
      sends: 1
    })
  })

  test("costs a handful of exchanges at most in a minute where every token is rejected", function*() {
    const { first, second, simulator } = yield* outdated
    yield* simulator.respondAlways("search", { status: 403 })
    const { exchanges } = yield* spent(
      Effect.forEach(
        Array.from({ length: 60 }),
        () => Effect.all([endOf(first), endOf(second), Time.pass("1 second")])
      )
    )
    expect(exchanges).toBeLessThanOrEqual(10)
  })

  test("ends in Forbidden where the exchange hands back the very token", function*({ simulator }) {
    const [first, second] = yield* renewedByFirst
    yield* simulator.setHandsBackToken(true)
    yield* simulator.respondAlways("search", { status: 403 })
    yield* endOf(first)
    expect(yield* spent(endOf(second))).toMatchObject({ result: { _tag: "Forbidden" }, sends: 2 })
  })

  const plan = {
    routes: { "POST /v2/plan": ({ body }: Simulator.SeenRequest) => ({ status: 201, body: { received: body.length } }) }
  }

  const post = (replica: Replica, body: "bytes" | "stream") =>
    settle(Effect.catchAll(
      Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) =>
        httpClient.execute(
          body === "bytes"
            ? HttpClientRequest.post("/v2/plan").pipe(HttpClientRequest.bodyText("lunch"))
            : HttpClientRequest.post("/v2/plan").pipe(
              HttpClientRequest.bodyStream(Stream.make(new TextEncoder().encode("lunch")))
            )
        )).pipe(
          Effect.map(({ status }) => status),
          Effect.provide(replica)
        ),
      Effect.succeed
    ))

  test("is followed by a last sending of a body that can be sent again", function*() {
    const { second } = yield* outdated
    expect(yield* spent(post(second, "bytes"))).toMatchObject({ result: 201, exchanges: 1, sends: 3 })
  }, service(plan))

  test("is not even tried for a body that can be sent once only", function*() {
    const { second } = yield* outdated
    expect(yield* spent(post(second, "stream"))).toMatchObject({
      result: { _tag: "Forbidden", reason: "BodyNotReplayable" },
      exchanges: 0,
      sends: 1
    })
  }, service(plan))

  test("is replaced for the request that follows a body that can be sent once only", function*() {
    const { second } = yield* outdated
    yield* post(second, "stream")
    expect(yield* spent(post(second, "bytes"))).toMatchObject({ result: 201, exchanges: 1, sends: 2 })
  }, service(plan))
})

describe("the counters", () => {
  test("of exchanges leave a token out that was handed over", function*() {
    const all = yield* replicas(3)
    expect(yield* added(Effect.forEach(all, from), "token_exchanges_total"))
      .toEqual({ "issued missing none": 1 })
  })

  test("of exchanges leave a token out that was handed over after a rejection", function*() {
    const all = yield* replicas(3)
    yield* Effect.forEach(all, from)
    yield* revoke
    expect(yield* added(Effect.forEach(all, from), "token_exchanges_total"))
      .toEqual({ "issued none rejection": 1 })
  })

  test("of rejections count a request once, however often it was sent", function*() {
    const { second } = yield* outdated
    expect(yield* added(from(second), "rejections_total")).toEqual({ AcceptedAfterRenewal: 1 })
  })
})

describe("settings", () => {
  const environment = {
    NUTRITION_ADVISOR_BASE_URL: `${Simulator.baseUrl}/proxy`,
    NUTRITION_ADVISOR_LICENSE_KEY: "license-1f2e",
    NUTRITION_ADVISOR_TOKEN_ROUTE: "unified",
    NUTRITION_ADVISOR_SERVICE_ID: "the-service-id",
    NUTRITION_ADVISOR_SERVICE_ID_HEADER: "X-Service"
  }

  const serviceOf = {
    licenseKeys: ["license-1f2e"],
    pathPrefix: "/proxy",
    customerId: "the-service-id",
    serviceIdHeader: "X-Service"
  }

  const seen = Effect.flatMap(
    Simulator.Simulator,
    ({ requests }) => Effect.map(requests, (all) => all.map(({ at: _at, ...request }) => request))
  )

  const searchWith = <E>(
    layer: Layer.Layer<
      NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider,
      E,
      HttpClient.HttpClient | SharedTokenCache.SharedTokenCache
    >,
    values: Readonly<Record<string, string>>
  ) =>
    settle(
      NutritionAdvisor.search("apple").pipe(
        Effect.provide(Layer.fresh(layer)),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(values))))
      )
    )

  test("of the environment are the same with and without the sharing", function*() {
    yield* searchWith(NutritionAdvisor.layerConfig(), environment)
    const alone = yield* seen
    yield* searchWith(NutritionAdvisor.layerSharedConfig(), environment)
    const shared = (yield* seen).slice(alone.length)
    const without = (requests: typeof alone) => requests.map(({ authorization: _token, ...request }) => request)
    expect([alone.length, without(shared)]).toEqual([2, without(alone)])
  }, service(serviceOf))

  test.each(["NUTRITION_ADVISOR_BASE_URL", "NUTRITION_ADVISOR_LICENSE_KEY"])(
    "end in a ConfigError without %s",
    function*(missing) {
      const values = Object.fromEntries(Object.entries(environment).filter(([name]) => name !== missing))
      const error = yield* Effect.flip(searchWith(NutritionAdvisor.layerSharedConfig(), values))
      expect(String(error)).toContain(missing)
    },
    service(serviceOf)
  )

  test("of the environment make replicas that share a token", function*() {
    yield* searchWith(NutritionAdvisor.layerSharedConfig(), environment)
    yield* searchWith(NutritionAdvisor.layerSharedConfig(), environment)
    expect(yield* counters).toMatchObject({ exchanges: 1, searches: 2 })
  }, service(serviceOf))
})

describe("no secret shows", () => {
  const issued = {
    access_token: Secrets.token,
    customer_id: Secrets.customerId,
    expires_in: 3_600,
    token_type: "Bearer"
  }

  const service = (status: number) =>
    Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make((request, url) =>
        Effect.sync(() =>
          HttpClientResponse.fromWeb(
            request,
            url.pathname.startsWith("/v2/token-cache/")
              ? Response.json(issued)
              : Response.json({ headers: request.headers, url: url.href }, { status })
          )
        )
      )
    )

  const secretive = new Error(`${Secrets.key} ${Secrets.token} ${Secrets.customerId}`)

  const manners: ReadonlyArray<readonly [string, Cache.Manner | undefined]> = [
    ["works", undefined],
    ["fails", Cache.fails],
    ["never answers", Cache.hangs],
    ["dies of what it should not know", () => Effect.die(secretive)]
  ]

  const cacheThat = (manner: Cache.Manner | undefined) =>
    Layer.tap(Cache.layer, (context) =>
      Effect.forEach(
        Cache.operations,
        (operation) => Context.get(context, Cache.CacheDouble).behaveAlways(operation, manner)
      ))

  for (const [title, manner] of manners) {
    for (const status of [403, 400]) {
      it.live(`in any rendering where the cache ${title} and the search ends with ${status}`, () =>
        Effect.gen(function*() {
          const layer = NutritionAdvisor.layerShared({
            baseUrl: "https://advisor.example",
            licenseKey: Redacted.make(Secrets.key),
            cacheTimeout: manner === Cache.hangs ? "50 millis" : "30 seconds"
          })
          const { exit, sinks } = yield* observe({
            layer: Layer.provide(layer, [service(status), cacheThat(manner)]),
            program: NutritionAdvisor.search("apple"),
            printed: [layer],
            sent: () => []
          })
          const leaks = [...sinks].flatMap(([sink, text]) =>
            Secrets.shownIn(text).slice(0, 1).map((secret) => `${sink} shows ${secret}`)
          )
          const isWarned = (sinks.get("Logger.stringLogger") ?? "").includes("The shared token cache")
          expect([Exit.isFailure(exit), isWarned, leaks]).toEqual([true, manner !== undefined, []])
        }))
    }
  }
})
