import { describe, expect } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Layer, Logger, LogLevel, Option, Redacted, Scope } from "effect"
import { AccessToken, SharedTokenCache, SharedTokenIssuer, type TokenIssuer } from "effect-nutrition-advisor"
import { arranged } from "../support/doubles/arranged.js"
import * as Cache from "../support/doubles/CacheDouble.js"
import { quiet, settle } from "../support/doubles/CacheDouble.js"
import { added } from "../support/doubles/counters.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import * as ManualClock from "../support/doubles/ManualClock.js"
import { policyOf } from "../support/doubles/policy.js"
import * as Time from "../support/doubles/Time.js"

const life = 1_000_000

const hour = 3_600_000

const replica = (options: Partial<SharedTokenIssuer.Options> = {}) =>
  SharedTokenIssuer.make({ baseUrl: "https://advisor.example", licenseKey: Redacted.make("license-7f3a"), ...options })

const doubles = Effect.all({
  cache: Cache.CacheDouble,
  issuer: Issuer.IssuerDouble,
  shared: SharedTokenCache.SharedTokenCache
})

/** Closes what a test has opened while the clock goes on. */
const closing = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const exit = yield* Effect.exit(Scope.extend(test, scope))
    yield* settle(Scope.close(scope, exit))
    return yield* exit
  })

const test = arranged(doubles, Layer.merge(Issuer.layer, Cache.layer), closing)

const missing = (issuer: TokenIssuer.Service) => issuer.issue(Issuer.missing)

const got = (issuer: TokenIssuer.Service) => Effect.map(settle(missing(issuer)), Issuer.valueOf)

const newReplicaGot = Effect.flatMap(replica(), got)

const replacing = (token: AccessToken.AccessToken, request: Partial<TokenIssuer.ExchangeRequest> = {}) => ({
  reason: "rejection" as const,
  replacing: Option.some(token),
  ...request
})

/** The result, and the milliseconds that it took. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const result = yield* settle(effect)
    return [result, (yield* Clock.currentTimeMillis) - start] as const
  })

/** Someone has the lease for so long, and never does anything. */
const squat = (millis: number) =>
  Effect.gen(function*() {
    const { cache, issuer, shared } = yield* doubles
    yield* issuer.respondNext(Effect.fail(Issuer.unavailable))
    yield* Effect.flip(newReplicaGot)
    expect(yield* shared.lease(yield* cache.lastName, "squatter", millis)).toBe(true)
  })

/** Whether the lease is free. */
const isFree = Effect.gen(function*() {
  const { cache, shared } = yield* doubles
  yield* quiet
  const name = yield* cache.lastName
  const did = yield* shared.lease(name, "nobody", 1)
  yield* shared.release(name, "nobody")
  return did
})

/** One replica has the lease, and exchanges for half a second. */
const exchanging = Effect.gen(function*() {
  yield* Effect.flatMap(doubles, ({ issuer }) => issuer.setLatency(500))
  const scope = yield* Scope.make()
  const fiber = yield* Effect.fork(missing(yield* Scope.extend(replica(), scope)))
  yield* quiet
  return { fiber, close: Scope.close(scope, Exit.void) }
})

/** The levels and texts that are logged meanwhile. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (LogLevel.greaterThan(logLevel, LogLevel.Debug)) lines.push(`${logLevel.label} ${String(message)}`)
    })
    yield* Effect.provide(effect, Logger.replace(Logger.defaultLogger, logger))
    return lines
  })

describe("sharing: cold start", () => {
  test(
    "five replicas make one exchange, and all get the token with its identifier",
    function*({ issuer }) {
      yield* issuer.setLatency("2 seconds")
      const replicas = yield* Effect.replicateEffect(replica(), 5)
      const counted = added(
        Effect.tap(
          settle(Effect.forEach(replicas, missing, { concurrency: "unbounded" })),
          (tokens) =>
            Effect.sync(() => {
              const pairs = tokens.map(({ serviceId, value }) =>
                `${Redacted.value(value)} ${Redacted.value(serviceId)}`
              )
              expect(new Set(pairs)).toEqual(new Set([`${Issuer.secretOf(1)} ${Issuer.customerOf(1)}`]))
            })
        ),
        "shared_"
      )
      expect([yield* counted, yield* issuer.calls])
        .toEqual([{ "tokens_total Exchanged": 1, "tokens_total HandedOver": 4 }, 1])
    }
  )
})

describe("SharedTokenIssuer: closing", () => {
  test("fails exchanges under way and later ones with TransportError \"Closed\"", function*({ issuer }) {
    const closed = { _tag: "TransportError", operation: "token", reason: "Closed" }
    yield* issuer.setLatency("5 seconds")
    const scope = yield* Scope.make()
    const here = yield* Scope.extend(replica(), scope)
    const waiting = yield* Effect.fork(Effect.flip(missing(here)))
    yield* quiet
    yield* settle(Scope.close(scope, Exit.void))
    expect(yield* settle(Fiber.join(waiting))).toMatchObject(closed)
    expect(yield* settle(Effect.flip(missing(here)))).toMatchObject(closed)
  })
})

describe("sharing: token in the cache", () => {
  test("it is returned after one cache call, with the times of the peer's exchange", function*({ cache, issuer }) {
    const first = yield* settle(missing(yield* replica()))
    yield* Time.pass("1 minute")
    const before = (yield* cache.calls).length
    const { expiresAt, receivedAt } = yield* settle(missing(yield* replica()))
    expect([receivedAt, expiresAt]).toEqual([first.receivedAt, first.expiresAt])
    expect((yield* cache.calls).slice(before).map(({ operation }) => operation)).toEqual(["read"])
    expect(yield* issuer.calls).toBe(1)
  })

  test("it is ignored if it is the token to be replaced", function*({ issuer }) {
    const first = yield* settle(missing(yield* replica()))
    yield* settle((yield* replica()).issue(replacing(first, { reason: "refresh" })))
    expect(yield* issuer.calls).toBe(2)
  })

  test.each([[999, 1], [1_001, 2]] as const)(
    "a token received at 1,000 is used only if the replaced one was received before: %i",
    function*([receivedAt, exchanges], { issuer }) {
      yield* Time.set(1_000)
      yield* newReplicaGot
      yield* settle((yield* replica()).issue(replacing(Issuer.token(9, receivedAt, life))))
      expect(yield* issuer.calls).toBe(exchanges)
    }
  )

  test(
    "a peer's token that replaced a rejected one and is rejected within the cool-down costs one exchange for all replicas",
    function*({ issuer }) {
      const replicas = yield* Effect.replicateEffect(replica(), 2)
      const renewAll = (rejected: AccessToken.AccessToken) =>
        settle(Effect.forEach(replicas, ({ issue }) => issue(replacing(rejected)), { concurrency: "unbounded" }))
      yield* Time.set(1_000)
      yield* newReplicaGot
      const [handedOver = Issuer.token(0, 0, life)] = yield* renewAll(Issuer.token(9, 0, life))
      yield* Time.pass("1 second")
      yield* issuer.setLatency("1 second")
      const tokens = yield* renewAll(handedOver)
      expect([Issuer.valueOf(handedOver), tokens.map(Issuer.valueOf), yield* issuer.calls])
        .toEqual([Issuer.secretOf(1), Array(2).fill(Issuer.secretOf(2)), 2])
    }
  )

  test.each([[life - 50_000, 1], [life - 10_000, 2]] as const)(
    "is handed over while it is stale, and not within its margin: at %i",
    function*([at, exchanges], { issuer }) {
      yield* newReplicaGot
      yield* Time.set(at)
      yield* newReplicaGot
      expect(yield* issuer.calls).toBe(exchanges)
    }
  )

  test("its entry is written with the lifetime of the token", function*({ cache }) {
    yield* Time.set(5_000_000)
    yield* newReplicaGot
    expect((yield* cache.callsOf("write")).map(({ args: [, options] }) => options))
      .toEqual([{ owner: expect.any(String), timeToLive: life }])
  })

  test("an unreadable entry counts as none, and is overwritten", function*({ cache, issuer, shared }) {
    yield* newReplicaGot
    const name = yield* cache.lastName
    yield* shared.lease(name, "stranger", 1)
    yield* shared.write(name, "v1.text of someone else's.", { owner: "stranger", timeToLive: life })
    yield* shared.release(name, "stranger")
    expect([yield* newReplicaGot, yield* newReplicaGot, yield* issuer.calls])
      .toEqual([Issuer.secretOf(2), Issuer.secretOf(2), 2])
  })

  test(
    "sharing: a token that replaces another one counts for peers, though the clock of its replica is behind",
    function*({ issuer }) {
      yield* Time.set(1_000)
      const here = yield* replica()
      const first = yield* settle(missing(here))
      const behind = ManualClock.besides(yield* Effect.clock)
      behind.wall = -900
      const second = yield* settle(Effect.withClock((yield* replica()).issue(replacing(first)), behind))
      const found = yield* settle(here.issue(replacing(first)))
      expect([Issuer.valueOf(second), Issuer.valueOf(found), yield* issuer.calls])
        .toEqual([Issuer.secretOf(2), Issuer.secretOf(2), 2])
      expect([second.receivedAt, found.expiresAt]).toEqual([100, second.expiresAt])
    }
  )

  test("a token of a peer whose clock is ahead is fresh, and expires no later", function*() {
    const ahead = ManualClock.besides(yield* Effect.clock)
    ahead.wall = hour
    yield* settle(Effect.withClock(missing(yield* replica()), ahead))
    const token = yield* settle(missing(yield* replica()))
    const now = yield* Clock.currentTimeMillis
    expect([token.receivedAt, token.expiresAt, AccessToken.stateAt(token, now, policyOf())])
      .toEqual([now, now + life, "fresh"])
  })
})

describe("sharing: lease", () => {
  test(
    "each exchange takes it with another owner, and writes the entry before the release",
    function*({ cache }) {
      const first = yield* replica({ lease: "20 seconds" })
      yield* settle(first.issue(replacing(yield* settle(missing(first)))))
      const calls = yield* cache.calls
      const leases = yield* cache.callsOf("lease")
      expect(calls.map(({ operation }) => operation))
        .toEqual([1, 2].flatMap(() => ["read", "lease", "read", "write", "release"]))
      expect(leases.map(({ args: [, duration] }) => duration)).toEqual([20_000, 20_000])
      expect(new Set(leases.map(({ args: [owner] }) => owner)).size).toBe(2)
    }
  )

  test(
    "a second read follows it, so that a token written in the meantime costs no exchange",
    function*({ cache, issuer }) {
      const [peer, late] = yield* Effect.all([replica(), replica()])
      yield* cache.behaveNext("lease", Cache.comesAfter(missing(peer)))
      expect([yield* got(late), yield* issuer.calls, yield* isFree]).toEqual([Issuer.secretOf(1), 1, true])
    }
  )

  test.each<readonly [string, Issuer.Outcome]>([
    ["fails", Effect.fail(Issuer.unavailable)],
    ["dies", Effect.die("an issuer that was written in a hurry")]
  ])(
    "it is released if the exchange %s, and the caller gets the outcome of the exchange",
    function*([, outcome], { issuer }) {
      yield* issuer.respondNext(outcome)
      const exit = yield* Effect.exit(newReplicaGot)
      expect([exit, yield* isFree]).toEqual([yield* Effect.exit(outcome), true])
    }
  )

  test("it is released by a replica that is interrupted after any number of steps", function*({ cache, issuer }) {
    yield* issuer.setLatency(1)
    const here = yield* replica()
    yield* squat(1)
    yield* Time.pass(1)
    for (let steps = 0; steps < 60; steps += 1) {
      const fiber = yield* Effect.fork(here.issue(replacing(Issuer.token(steps, hour, life))))
      for (let step = 0; step < steps; step += 1) yield* step % 10 === 9 ? Time.pass(1) : Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      expect([steps, yield* isFree]).toEqual([steps, true])
    }
    expect((yield* cache.callsOf("lease")).length).toBeGreaterThan(70)
  })

  test("it is released if the cache granted it but the response was lost", function*({ cache, issuer }) {
    yield* cache.behaveNext("lease", Cache.losesAnswer)
    expect([yield* newReplicaGot, yield* isFree, yield* issuer.calls]).toEqual([Issuer.secretOf(1), true, 1])
  })

  test("if its owner has died, the others wait for its end, and one of them takes it", function*({ issuer }) {
    yield* squat(400)
    const replicas = yield* Effect.replicateEffect(replica(), 3)
    const before = yield* issuer.calls
    const [, millis] = yield* timed(Effect.forEach(replicas, missing, { concurrency: "unbounded" }))
    expect((yield* issuer.calls) - before).toBe(1)
    expect(millis).toBeGreaterThanOrEqual(400)
    expect(millis).toBeLessThan(2_400)
  })

  test(
    "if it is never free, a replica waits for `lease` and `tokenTimeout`, then exchanges alone and publishes nothing",
    function*({ cache }) {
      yield* squat(hour)
      const counted = yield* added(
        Effect.map(timed(Effect.flatMap(replica({ tokenTimeout: "5 seconds" }), missing)), ([, millis]) => {
          expect(millis).toBeGreaterThanOrEqual(20_000)
          expect(millis).toBeLessThan(20_500)
        }),
        "shared_"
      )
      expect([counted, yield* cache.callsOf("write")]).toEqual([{ "tokens_total ExchangedAlone": 1 }, []])
    }
  )

  test("sharing: a clock that is set forward does not end the wait for a peer", function*({ issuer }) {
    yield* exchanging
    const clock = ManualClock.besides(yield* Effect.clock)
    const waiter = yield* Effect.fork(Effect.withClock(Effect.flatMap(replica(), missing), clock))
    yield* Cache.pass(100)
    clock.wall = 60_000
    expect([Issuer.valueOf(yield* settle(Fiber.join(waiter))), yield* issuer.calls]).toEqual([Issuer.secretOf(1), 1])
  })

  test(
    "that ended during the exchange is not written under: the entry of the next holder stays",
    function*({ cache, issuer }) {
      yield* issuer.setLatency("6 seconds")
      const slow = yield* Effect.fork(missing(yield* replica()))
      yield* Cache.pass(1_000)
      const shared = yield* SharedTokenCache.SharedTokenCache
      for (const { args, name } of yield* cache.callsOf("lease")) yield* shared.release(name, String(args[0]))
      yield* issuer.setLatency(0)
      const next = yield* newReplicaGot
      expect([next, Issuer.valueOf(yield* settle(Fiber.join(slow))), yield* newReplicaGot]).toEqual([
        Issuer.secretOf(1),
        Issuer.secretOf(2),
        Issuer.secretOf(1)
      ])
    }
  )
})

describe("sharing: a cache that", () => {
  const manners = [["fails", Cache.fails, "Unavailable", 0], ["hangs", Cache.hangs, "Timeout", 1_000], [
    "hangs and can't be interrupted",
    Cache.hangsUninterruptibly,
    "Timeout",
    1_000
  ]] as const

  test.each(Cache.operations.flatMap((operation) => manners.map((manner) => [manner[0], operation, manner] as const)))(
    "%s at %s costs the time of one call, a warning and a metric, but no token",
    function*([, operation, [, manner, reason, longest]], { cache }) {
      yield* cache.behaveNext(operation, manner)
      const here = yield* replica()
      let lines: ReadonlyArray<string> = []
      const counted = yield* added(
        Effect.gen(function*() {
          const [token, millis] = yield* timed(missing(here))
          expect(Issuer.valueOf(token)).toBe(Issuer.secretOf(1))
          expect(millis).toBeLessThanOrEqual(longest + 250)
        }).pipe(logged, Effect.map((all) => lines = all)),
        "shared_cache_failures_total"
      )
      expect(
        lines.filter((line) => /^WARN The shared token cache .* exchanges the license key by itself\.$/.test(line))
      )
        .toHaveLength(1)
      expect([lines.length, counted]).toEqual([1, { [reason]: 1 }])
    }
  )
})

test("sharing: the lease is released even if writing the token fails", function*({ cache }) {
  yield* cache.behaveNext("write", Cache.fails)
  yield* newReplicaGot
  expect(yield* isFree).toBe(true)
})

describe("sharing: closing the layer", () => {
  test("it ends a running exchange, and releases its lease", function*({ issuer }) {
    const { close, fiber } = yield* exchanging
    yield* settle(close)
    expect([Exit.isFailure(yield* Fiber.await(fiber)), yield* isFree, yield* issuer.interrupted])
      .toEqual([true, true, 1])
  })

  test.each(
    [
      ["waits for a publication and a release", Cache.takes(300), 600, true],
      ["does not wait longer than for one call", Cache.hangsUninterruptibly, 1_000, false]
    ] as const
  )("it %s in progress", function*([, manner, longest, isPublished], { cache }) {
    const { close } = yield* exchanging
    yield* cache.behaveNext("write", manner)
    yield* cache.behaveNext("release", Cache.takes(300))
    yield* Cache.pass(500)
    const [, millis] = yield* timed(close)
    expect(millis).toBeGreaterThan(longest - 100)
    expect(millis).toBeLessThanOrEqual(longest + 100)
    const { issuer } = yield* doubles
    yield* issuer.setLatency(0)
    const value = isPublished ? yield* newReplicaGot : Issuer.secretOf(1)
    expect([value, yield* issuer.calls]).toEqual([Issuer.secretOf(1), 1])
  })
})

describe("sharing: license key", () => {
  test("it is read once for each token", function*() {
    let reads = 0
    const licenseKey = Effect.sync(() => Redacted.make(`license-${reads += 1}`))
    const here = yield* replica({ licenseKey })
    yield* got(here)
    yield* got(here)
    expect(reads).toBe(2)
  })

  test(
    "another key finds no entry of the previous one, and the previous one still finds its own",
    function*({ issuer }) {
      let key = "october"
      const here = yield* replica({ licenseKey: Effect.sync(() => Redacted.make(key)) })
      const values: Array<string> = []
      for (key of ["october", "november", "october"]) values.push(yield* got(here))
      expect([values, yield* issuer.calls]).toEqual([[1, 2, 1].map(Issuer.secretOf), 2])
    }
  )

  test.each<readonly [string, SharedTokenIssuer.Options["licenseKey"], object]>([
    ["that does not come in time", Effect.never, { _tag: "TransportError", reason: "Timeout" }],
    ["that is blank", Effect.succeed(Redacted.make(" ")), { _tag: "LicenseKeyUnavailable" }]
  ])("%s ends the exchange", function*([, licenseKey, error]) {
    expect(yield* Effect.flip(Effect.flatMap(replica({ licenseKey, tokenTimeout: 100 }), got))).toMatchObject(error)
  })
})
