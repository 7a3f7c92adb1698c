import { describe, expect } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Layer, Option, Random, Redacted, Scope, TestClock } from "effect"
import { AccessToken, RefreshPolicy, SharedTokenIssuer, type TokenIssuer } from "effect-nutrition-advisor"
import { arranged } from "../support/doubles/arranged.js"
import * as Cache from "../support/doubles/CacheDouble.js"
import { settle } from "../support/doubles/CacheDouble.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { logged } from "../support/doubles/logs.js"
import * as ManualClock from "../support/doubles/ManualClock.js"
import { counterChanges } from "../support/doubles/metrics.js"

type Options = SharedTokenIssuer.Options

const life = 1_000_000

const hour = 3_600_000

const replica = (options: Partial<Options> = {}) =>
  SharedTokenIssuer.make({ baseUrl: "https://advisor.example", licenseKey: Redacted.make("license-7f3a"), ...options })

const doubles = Effect.all({ cache: Cache.CacheDouble, issuer: Issuer.IssuerDouble })

const test = arranged(doubles, Layer.merge(Issuer.layer, Cache.layer), Cache.around)

const hanging = Effect.uninterruptible(Effect.never)

const tokenFrom = (issuer: TokenIssuer.Service) => issuer.issue(Issuer.missing)

const valueFrom = (issuer: TokenIssuer.Service) => Effect.map(settle(tokenFrom(issuer)), Issuer.valueOf)

const fromNewReplica = Effect.flatMap(replica(), valueFrom)

const failedExchange = settle(Effect.flip(Effect.flatMap(replica(), tokenFrom)))

const replacing = (token: AccessToken.AccessToken, request: Partial<TokenIssuer.ExchangeRequest> = {}) => ({
  reason: "rejection" as const,
  replacing: Option.some(token),
  ...request
})

/** Changes the entry that a call to the cache returned, if it is one: the types of many drivers allow any value. */
const changedBy = (change: (entry: string) => unknown) => <A>(result: A): A =>
  Option.isOption(result) ? Option.map(result, (entry) => change(`${entry}`)) as A : result

/** The result, and the milliseconds that it took. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const result = yield* settle(effect)
    return [result, (yield* Clock.currentTimeMillis) - start] as const
  })

/** Takes the lease for a number of milliseconds, and never releases it. */
const squat = (millis: number) =>
  Effect.gen(function*() {
    const { cache, issuer } = yield* doubles
    yield* issuer.respondNext(Effect.fail(Issuer.unavailable))
    yield* failedExchange
    expect(yield* cache.lease(cache.lastName(), "squatter", millis)).toBe(true)
  })

const isLeaseFree = Effect.gen(function*() {
  const { cache } = yield* doubles
  yield* TestClock.adjust(0)
  const name = cache.lastName()
  const isGranted = yield* cache.lease(name, "nobody", 1)
  yield* cache.release(name, "nobody")
  return isGranted
})

/** A replica that has the lease, during an exchange of half a second. */
const exchanging = Effect.gen(function*() {
  yield* Effect.flatMap(doubles, ({ issuer }) => issuer.setLatency(500))
  const scope = yield* Scope.make()
  const here = yield* Scope.extend(replica(), scope)
  const fiber = yield* Effect.fork(tokenFrom(here))
  yield* TestClock.adjust(0)
  return { here, fiber, close: Scope.close(scope, Exit.void) }
})

test("sharing: a cold start of five replicas counts one exchange and four tokens from a peer", function*({ issuer }) {
  yield* issuer.setLatency("2 seconds")
  const replicas = yield* Effect.replicateEffect(replica(), 5)
  const coldStart = settle(Effect.forEach(replicas, tokenFrom, { concurrency: "unbounded" }))
  expect(yield* counterChanges(coldStart, "shared_")).toEqual({
    "tokens_total Exchanged": 1,
    "tokens_total HandedOver": 4
  })
})

describe("sharing: token in the cache", () => {
  test.each([[999, 1], [1_001, 2]] as const)(
    "a cached token received at 1,000 replaces only a token that was received earlier: %i",
    function*([receivedAt, exchanges], { issuer }) {
      yield* TestClock.setTime(1_000)
      yield* fromNewReplica
      yield* settle((yield* replica()).issue(replacing(Issuer.token(9, receivedAt, life))))
      expect(yield* issuer.calls).toBe(exchanges)
    }
  )

  test.each([[life - 50_000, 1], [life - 10_000, 2]] as const)(
    "a stale token is used, but not within its margin: at %i",
    function*([at, exchanges], { issuer }) {
      yield* fromNewReplica
      yield* TestClock.setTime(at)
      yield* fromNewReplica
      expect(yield* issuer.calls).toBe(exchanges)
    }
  )

  test("the entry expires with the token", function*({ cache }) {
    yield* TestClock.setTime(5_000_000)
    yield* fromNewReplica
    expect(cache.callsOf("write").map(({ args: [, options] }) => options))
      .toEqual([{ owner: expect.any(String), timeToLive: life }])
  })

  test("the entry of a token that has just expired has a time to live above zero", function*({ cache, issuer }) {
    yield* TestClock.setTime(life)
    yield* issuer.respondNext(Effect.succeed(Issuer.token(1, 0, life)))
    yield* fromNewReplica
    expect(cache.callsOf("write").map(({ args: [, options] }) => options)).toMatchObject([{ timeToLive: 1 }])
  })

  test.each<readonly [string, (entry: string) => unknown]>([
    ["was truncated", (entry) => entry.slice(0, 100)],
    ["is a row without a prototype", (entry) => Object.assign(Object.create(null), { entry })],
    ["is null", () => null]
  ])("an entry that %s is logged once, ignored and overwritten", function*([, damage], { cache, issuer }) {
    yield* fromNewReplica
    cache.always.set("read", (call) => Effect.map(call, changedBy(damage)))
    const logging = Effect.map(
      logged(fromNewReplica),
      (lines) => expect(lines.map(({ message }) => message)).toEqual([expect.stringContaining("(UnreadableEntry)")])
    )
    const counted = { "cache_failures_total Unavailable": 1, "tokens_total Exchanged": 1 }
    expect(yield* counterChanges(logging, "shared_")).toEqual(counted)
    cache.always.clear()
    expect(yield* fromNewReplica).toBe(Issuer.secretOf(2))
    expect(yield* issuer.calls).toBe(2)
  })

  test("an entry that a driver returns as a Buffer is read as its text", function*({ cache, issuer }) {
    cache.always.set("read", (call) => Effect.map(call, changedBy((entry) => Buffer.from(entry))))
    yield* fromNewReplica
    expect(yield* fromNewReplica).toBe(Issuer.secretOf(1))
    expect(yield* issuer.calls).toBe(1)
  })

  test("peers use a renewed token, even if its replica's clock is behind", function*({ issuer }) {
    yield* TestClock.setTime(1_000)
    const here = yield* replica()
    const first = yield* settle(tokenFrom(here))
    const second = yield* settle(ManualClock.withOffset(-900, (yield* replica()).issue(replacing(first))))
    const found = yield* settle(here.issue(replacing(first)))
    expect(Issuer.valueOf(second)).toBe(Issuer.secretOf(2))
    expect(Issuer.valueOf(found)).toBe(Issuer.secretOf(2))
    expect(yield* issuer.calls).toBe(2)
    expect(second.receivedAt).toBe(100)
    expect(found).toEqual(Issuer.fromPeer(second, { receivedAt: first.receivedAt, expiresAt: first.receivedAt + life }))
  })

  test("a token from a peer whose clock is ahead is fresh and expires on time", function*() {
    const exchanged = yield* settle(ManualClock.withOffset(hour, tokenFrom(yield* replica())))
    const token = yield* settle(tokenFrom(yield* replica()))
    const now = yield* Clock.currentTimeMillis
    expect(token).toEqual(Issuer.fromPeer(exchanged, { receivedAt: now, expiresAt: now + life }))
    expect(AccessToken.stateAt(token, now, yield* RefreshPolicy.make())).toBe("fresh")
  })

  test("after a replica whose clock is far ahead, peers still share the tokens of the others", function*({ issuer }) {
    yield* settle(ManualClock.withOffset(2 * life, tokenFrom(yield* replica())))
    const here = yield* replica()
    yield* settle(here.issue(replacing(yield* settle(tokenFrom(here)))))
    expect(yield* fromNewReplica).toBe(Issuer.secretOf(2))
    expect(yield* issuer.calls).toBe(2)
  })
})

type Sharing = "shares a token" | "doesn't share a token"

/** Another value of each option, and whether a replica with that value still shares the token of the others. */
const otherValues: { readonly [K in keyof Required<Options>]: readonly [value: Options[K], Sharing] } = {
  baseUrl: ["https://other.example", "doesn't share a token"],
  licenseKey: [Redacted.make("another-key"), "doesn't share a token"],
  tokenRoute: ["unified", "doesn't share a token"],
  serviceId: ["another-customer", "doesn't share a token"],
  allowInsecureHttp: [true, "shares a token"],
  userAgent: ["another-program/1", "shares a token"],
  refresh: [{ margin: "1 second" }, "shares a token"],
  tokenTimeout: ["5 seconds", "shares a token"],
  lease: ["20 seconds", "shares a token"],
  cacheTimeout: ["2 seconds", "shares a token"]
}

test.each([
  ...Object.entries(otherValues).map(([option, [value, sharing]]) => [option, sharing, { [option]: value }] as const),
  ["path of baseUrl", "doesn't share a token", { baseUrl: "https://advisor.example/proxy" }] as const
])("sharing: a replica with another %s %s", function*([, sharing, options], { issuer }) {
  yield* fromNewReplica
  const number = sharing === "shares a token" ? 1 : 2
  expect(yield* Effect.flatMap(replica(options), valueFrom)).toBe(Issuer.secretOf(number))
  expect(yield* issuer.calls).toBe(number)
})

describe("sharing: lease", () => {
  test("each exchange has its own lease owner and writes the entry before the release", function*({ cache }) {
    const first = yield* replica({ lease: "20 seconds" })
    yield* settle(first.issue(replacing(yield* settle(tokenFrom(first)))))
    const leases = cache.callsOf("lease")
    expect(cache.calls.map(({ operation }) => operation))
      .toEqual([1, 2].flatMap(() => ["read", "lease", "read", "write", "release"]))
    expect(leases.map(({ args: [, duration] }) => duration)).toEqual([20_000, 20_000])
    expect(new Set(leases.map(({ args: [owner] }) => owner)).size).toBe(2)
    expect(leases.map(({ args: [owner], name }) => [name.length, String(owner).length])).toEqual([[43, 36], [43, 36]])
  })

  test("the cache is read again once the lease is taken, which can save an exchange", function*({ cache, issuer }) {
    const [peer, late] = yield* Effect.all([replica(), replica()])
    cache.next.set("lease", (call) => Effect.zipRight(Effect.orDie(tokenFrom(peer)), call))
    expect(yield* valueFrom(late)).toBe(Issuer.secretOf(1))
    expect(yield* issuer.calls).toBe(1)
    expect(yield* isLeaseFree).toBe(true)
  })

  test.each<readonly [string, Issuer.Outcome]>([
    ["fails", Effect.fail(Issuer.unavailable)],
    ["dies", Effect.die("a bug")]
  ])(
    "the lease is released if the exchange %s, and the caller gets its outcome",
    function*([, outcome], { issuer }) {
      yield* issuer.respondNext(outcome)
      const exit = yield* Effect.exit(fromNewReplica)
      expect(exit).toEqual(yield* Effect.exit(outcome))
      expect(yield* isLeaseFree).toBe(true)
    }
  )

  test("a failed exchange is not logged, because its caller gets the error", function*({ issuer }) {
    yield* issuer.respondNext(Effect.fail(Issuer.unavailable))
    expect(yield* logged(failedExchange)).toEqual([])
  })

  test("an exchange that interrupts itself doesn't fail with reason Closed", function*({ issuer }) {
    yield* issuer.respondNext(Effect.interrupt)
    expect(Exit.isInterrupted(yield* Effect.exit(fromNewReplica))).toBe(true)
  })

  test("a replica that is interrupted while it waits for its lease releases that lease", function*({ cache }) {
    cache.next.set("lease", Effect.zipLeft(Effect.sleep(300)))
    const here = yield* Effect.fork(Effect.flatMap(replica(), tokenFrom))
    yield* TestClock.adjust(100)
    const interrupting = yield* Effect.fork(Fiber.interrupt(here))
    yield* TestClock.adjust(400)
    yield* Fiber.join(interrupting)
    expect(yield* isLeaseFree).toBe(true)
  })

  test("a lease whose response was lost is released, although the replica exchanges alone", function*({ cache }) {
    cache.always.set("lease", Effect.zipLeft(Effect.never))
    expect(yield* counterChanges(fromNewReplica, "shared_tokens")).toEqual({ "_total ExchangedAlone": 1 })
    cache.always.delete("lease")
    expect(yield* isLeaseFree).toBe(true)
  })

  test("a lease that is granted after its timeout, and after its release, is released again", function*({ cache }) {
    cache.always.set("read", Cache.takes(600))
    cache.next.set("lease", Cache.getsLate(1_500))
    const [, millis] = yield* timed(fromNewReplica)
    expect(millis).toBeLessThan(10_000)
  })

  test("a late release doesn't end the lease of the next attempt", function*({ cache, issuer }) {
    yield* issuer.setLatency(500)
    cache.next.set("lease", Cache.fails).set("release", Cache.getsLate(300))
    expect([yield* fromNewReplica, yield* fromNewReplica]).toEqual([1, 1].map(Issuer.secretOf))
  })

  test(
    "if the lease is never free, a replica exchanges after `lease` + `tokenTimeout`, logs a warning, and does not share the token",
    function*({ cache }) {
      yield* squat(hour)
      const exchanged = Effect.map(
        timed(logged(Effect.flatMap(replica({ tokenTimeout: "5 seconds" }), tokenFrom))),
        ([lines, millis]) => {
          expect(lines).toMatchObject([{
            level: "WARN",
            message: expect.stringContaining("check whether leases expire")
          }])
          expect(millis).toBeGreaterThanOrEqual(20_000)
          expect(millis).toBeLessThan(20_500)
        }
      )
      const counted = yield* counterChanges(exchanged, "shared_")
      expect(counted).toEqual({ "tokens_total ExchangedAlone": 1 })
      expect(cache.callsOf("write")).toEqual([])
    }
  )

  test(
    "a lease that becomes free after this wait is not taken, because the exchange would end too late",
    function*({ cache }) {
      yield* squat(20_100)
      cache.always.set("read", Cache.takes(900))
      const exchanged = settle(Effect.flatMap(replica({ tokenTimeout: "5 seconds" }), tokenFrom))
      expect(yield* counterChanges(exchanged, "shared_")).toEqual({ "tokens_total ExchangedAlone": 1 })
    }
  )

  test("a replica that exchanges alone because the cache fails doesn't blame the lease", function*({ cache }) {
    yield* squat(hour)
    const failReads = Effect.sync(() => cache.always.set("read", Cache.fails))
    cache.next.set("lease", (call) => Effect.zipLeft(call, failReads))
    const lines = yield* settle(logged(Effect.flatMap(replica(), tokenFrom)))
    expect(lines.map(({ message }) => message)).toEqual([
      expect.stringContaining("The shared token cache could not be used")
    ])
  })

  test("a lease that is lost during the exchange is logged, and counts as ExchangedAlone", function*({ cache }) {
    const dropLease = () => cache.release(cache.lastName(), `${cache.callsOf("lease")[0]?.args[0]}`)
    cache.next.set("write", (call) => Effect.zipRight(Effect.suspend(dropLease), call))
    const message = expect.stringMatching(
      /\(LeaseLost\), .* Check whether the cache evicts or loses keys, .* of a custom cache returns true, and whether this process/
    )
    const logging = Effect.map(logged(fromNewReplica), (lines) => expect(lines).toMatchObject([{ message }]))
    const counted = { "cache_failures_total Unavailable": 1, "tokens_total ExchangedAlone": 1 }
    expect(yield* counterChanges(logging, "shared_")).toEqual(counted)
  })

  test("setting the clock forward does not end the wait for the lease", function*({ issuer }) {
    yield* exchanging
    const clock = ManualClock.over(yield* Effect.clock)
    const waiter = yield* Effect.fork(Effect.withClock(Effect.flatMap(replica(), tokenFrom), clock))
    yield* TestClock.adjust(100)
    clock.wallOffset = 60_000
    expect(Issuer.valueOf(yield* settle(Fiber.join(waiter)))).toBe(Issuer.secretOf(1))
    expect(yield* issuer.calls).toBe(1)
  })
})

describe("sharing: a cache that", () => {
  const rows = Cache.operations.flatMap((operation) =>
    [
      ["fails", operation, { behavior: Cache.fails, reason: "Unavailable", longest: 0 }],
      ["hangs", operation, { behavior: () => Effect.never, reason: "Timeout", longest: 1_000 }],
      ["hangs uninterruptibly", operation, { behavior: () => hanging, reason: "Timeout", longest: 1_000 }]
    ] as const
  )

  test.each(rows)("%s at %s delays the token by one call", function*([, operation, { behavior, longest }], { cache }) {
    cache.next.set(operation, behavior)
    const [token, millis] = yield* timed(Effect.flatMap(replica(), tokenFrom))
    expect(Issuer.valueOf(token)).toBe(Issuer.secretOf(1))
    expect(millis).toBeLessThanOrEqual(longest + 250)
  })

  test.each(rows)("%s at %s is counted and logged once", function*([, operation, { behavior, reason }], { cache }) {
    cache.next.set(operation, behavior)
    const message = expect.stringMatching(/^The shared token cache .* exchanges the license key by itself\.$/)
    const logging = Effect.map(logged(fromNewReplica), (all) => expect(all).toMatchObject([{ level: "WARN", message }]))
    const outcome = operation === "write" ? "ExchangedAlone" : "Exchanged"
    const counted = { [`cache_failures_total ${reason}`]: 1, [`tokens_total ${outcome}`]: 1 }
    expect(yield* counterChanges(logging, "shared_")).toEqual(counted)
  })
})

test(
  "sharing: a replica that waits for the lease logs only the first failure of its cache, and counts each one",
  function*({ cache }) {
    yield* squat(hour)
    // With these random numbers, the replica waits 2.5 seconds for a failing cache.
    const waiting = Effect.withRandom(Effect.flatMap(replica(), tokenFrom), Random.fixed([0.5]))
    const failing = Effect.gen(function*() {
      yield* Effect.fork(waiting)
      for (const behavior of [Cache.fails, undefined, Cache.fails]) {
        cache.always.set("read", behavior)
        yield* TestClock.adjust("2 seconds")
      }
    })
    const counted = yield* counterChanges(
      Effect.map(logged(failing), (lines) => expect(lines).toHaveLength(1)),
      "shared_cache_failures_total"
    )
    expect(counted["Unavailable"]).toBeGreaterThan(5)
  }
)

test.each(
  [
    ["refresh", "as long as the token is usable", 8_000, 8_000],
    ["refresh", "`lease` at most", hour, 15_000],
    ["rejection", "half of tokenTimeout", hour, 5_000]
  ] as const
)("sharing: an exchange for a %s waits for a failing cache, for %s", function*(row, { cache, issuer }) {
  const [reason, , usable, waits] = row
  for (const operation of Cache.operations) cache.always.set(operation, Cache.fails)
  const now = yield* Clock.currentTimeMillis
  // The margin of a token is a hundredth of its life.
  const stale = Issuer.token(1, now, usable / 0.99)
  const issued = Effect.flatMap(replica(), ({ issue }) => issue(replacing(stale, { reason })))
  yield* settle(Effect.withRandom(issued, Random.fixed([1])))
  expect((yield* issuer.starts).map((startedAt) => startedAt - now)).toEqual([waits])
})

test.each(
  [
    ["fails", Cache.fails],
    ["takes longer than cacheTimeout", () => hanging],
    ["dies with a defect", () => Effect.die("a bug")]
  ] as const
)("sharing: the lease is released even if writing the token %s", function*([, behavior], { cache }) {
  cache.next.set("write", behavior)
  yield* Effect.exit(fromNewReplica)
  expect(yield* isLeaseFree).toBe(true)
})

describe("sharing: closing the layer", () => {
  test("pending and later exchanges fail with reason Closed", function*() {
    const closed = { _tag: "TransportError", operation: "token", reason: "Closed" }
    const { close, fiber, here } = yield* exchanging
    yield* settle(close)
    expect(yield* settle(Effect.flip(Fiber.join(fiber)))).toMatchObject(closed)
    expect(yield* settle(Effect.flip(tokenFrom(here)))).toMatchObject(closed)
  })

  test("a running exchange ends and its lease is released", function*({ issuer }) {
    const { close } = yield* exchanging
    yield* settle(close)
    expect(yield* isLeaseFree).toBe(true)
    expect(yield* issuer.interrupted).toBe(1)
  })

  test.each(["lease", "write"] as const)("the lease is released if %s hangs on close", function*(operation, { cache }) {
    cache.next.set(operation, (call) => Effect.zipLeft(call, hanging))
    const { close } = yield* exchanging
    yield* TestClock.adjust(500)
    yield* settle(close)
    yield* TestClock.adjust(1_000)
    expect(yield* isLeaseFree).toBe(true)
  })

  test("closing doesn't wait until a lease whose call failed is released again", function*({ cache }) {
    cache.next.set("lease", () => hanging)
    const scope = yield* Scope.make()
    yield* settle(tokenFrom(yield* Scope.extend(replica(), scope)))
    const [, millis] = yield* timed(Scope.close(scope, Exit.void))
    expect(millis).toBeLessThan(100)
  })

  test("closing waits for a pending write and release", function*({ cache, issuer }) {
    const { close } = yield* exchanging
    cache.next.set("write", Cache.takes(300)).set("release", Cache.takes(300))
    yield* TestClock.adjust(500)
    const [, millis] = yield* timed(close)
    expect(millis).toBeGreaterThan(500)
    expect(yield* fromNewReplica).toBe(Issuer.secretOf(1))
    expect(yield* issuer.calls).toBe(1)
  })

  test("closing waits for at most cacheTimeout, even if a lease and its release take longer", function*({ cache }) {
    cache.always.set("lease", Cache.takes(900)).set("release", Cache.takes(900))
    const { close } = yield* exchanging
    const [, millis] = yield* timed(close)
    expect(millis).toBeGreaterThan(900)
    expect(millis).toBeLessThanOrEqual(1_100)
  })
})

describe("sharing: license key", () => {
  test("the key is read once per token", function*() {
    let reads = 0
    const licenseKey = Effect.sync(() => Redacted.make(`license-${reads += 1}`))
    const here = yield* replica({ licenseKey })
    yield* valueFrom(here)
    yield* valueFrom(here)
    expect(reads).toBe(2)
  })

  test("an exchange fails with Timeout if the effect of its key hangs", function*() {
    const here = yield* replica({ licenseKey: Effect.never, tokenTimeout: 100 })
    expect(yield* Effect.flip(valueFrom(here))).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
  })
})

describe("sharing: WebCrypto that hangs", () => {
  /** The cache's test double restores it. */
  const hang = (method: string) => Object.assign(globalThis.crypto.subtle, { [method]: () => new Promise(() => {}) })

  test.each(["importKey", "sign", "deriveKey"] as const)("an exchange fails with Timeout: %s", function*(method) {
    hang(method)
    const here = yield* replica({ tokenTimeout: 100 })
    expect(yield* Effect.flip(valueFrom(here))).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
  })

  test.each(["encrypt", "decrypt"] as const)(
    "each replica exchanges the key by itself: %s",
    function*(method, { issuer }) {
      hang(method)
      const fromReplica = Effect.flatMap(replica({ cacheTimeout: 100, tokenTimeout: 100, lease: 300 }), valueFrom)
      expect([yield* fromReplica, yield* fromReplica]).toEqual([1, 2].map(Issuer.secretOf))
      expect(yield* issuer.calls).toBe(2)
    }
  )
})
