import { describe, expect } from "@effect/vitest"
import {
  Array as Arr,
  Cause,
  Clock,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Option,
  Redacted,
  Ref,
  Scope,
  Stream,
  TestClock
} from "effect"
import {
  AccessToken,
  NutritionAdvisorError,
  SharedTokenCache,
  SharedTokenIssuer,
  TokenIssuer
} from "effect-nutrition-advisor"
import { vi } from "vitest"
import { OwnDeadline } from "../src/internal/exchange/issue.js"
import { arranged } from "./doubles/arranged.js"
import * as Cache from "./doubles/CacheDouble.js"
import { quiet, settle } from "./doubles/CacheDouble.js"
import { added } from "./doubles/counters.js"
import * as Issuer from "./doubles/IssuerDouble.js"
import * as ManualClock from "./doubles/ManualClock.js"
import { policyOf } from "./doubles/policy.js"
import * as Time from "./doubles/Time.js"
import { rendered } from "./leaks/rendering.js"
import * as Secrets from "./leaks/secrets.js"

const life = 1_000_000

const hour = 3_600_000

const unavailable = new NutritionAdvisorError.ServerError({ operation: "token", status: 503 })

const replica = (options: Partial<SharedTokenIssuer.Options> = {}) =>
  SharedTokenIssuer.make({
    baseUrl: "https://advisor.example",
    licenseKey: Redacted.make("license-7f3a"),
    ...options
  })

const replicas = (count: number) => Effect.all(Effect.replicate(replica(), count))

const doubles = Effect.all({
  cache: Cache.CacheDouble,
  issuer: Issuer.IssuerDouble,
  shared: SharedTokenCache.SharedTokenCache
})

/** Closes what a test has opened while the clock goes on: an exchange that is left is given a moment. */
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

const replacing = (
  token: AccessToken.AccessToken,
  reason: TokenIssuer.ExchangeRequest["reason"]
): TokenIssuer.ExchangeRequest => ({ reason, replacing: Option.some(token), mustExchange: false })

const replace = (
  issuer: TokenIssuer.Service,
  token: AccessToken.AccessToken,
  reason: TokenIssuer.ExchangeRequest["reason"]
) => settle(issuer.issue(replacing(token, reason)))

/** What a replica that has no token yet finds in the cache; "nothing" where it has to exchange. */
const found = Effect.gen(function*() {
  const { issuer } = yield* doubles
  const calls = yield* issuer.calls
  const value = yield* Effect.flatMap(replica(), got)
  return (yield* issuer.calls) === calls ? value : "nothing"
})

/** Who would get the lease now: "nobody" holds it where this one does. */
const holder = Effect.gen(function*() {
  const { cache, shared } = yield* doubles
  const held = yield* shared.lease(yield* cache.lastName, "nobody", 1)
  yield* shared.release(yield* cache.lastName, "nobody")
  return held.owner
})

/** What a row of a table lets happen. */
type Step = Effect.Effect<
  unknown,
  unknown,
  Effect.Effect.Context<typeof doubles> | TokenIssuer.TokenIssuer | Scope.Scope
>

/** One replica holds the lease, and exchanges for five seconds. */
const held = Effect.gen(function*() {
  const { cache, issuer } = yield* doubles
  yield* issuer.setLatency("5 seconds")
  const caller = yield* Effect.fork(missing(yield* replica()))
  yield* quiet
  const owner = yield* holder
  expect([[owner], yield* issuer.calls])
    .toEqual([(yield* cache.callsOf("lease")).slice(0, 1).map(({ args }) => args[0]), 1])
  return { caller, owner }
})

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const result = yield* settle(effect)
    return [result, (yield* Clock.currentTimeMillis) - start] as const
  })

const addedToSharing = <A, E, R>(effect: Effect.Effect<A, E, R>) => added(effect, "shared_")

/** What is logged meanwhile. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const logger = Logger.make(({ cause, logLevel, message }) => {
      lines.push([logLevel.label, String(message), Cause.isEmpty(cause) ? "" : Cause.pretty(cause)].join(" ").trim())
    })
    yield* Effect.provide(effect, Logger.replace(Logger.defaultLogger, logger))
    return lines
  })

describe("a cold start", () => {
  test("of ten replicas costs one exchange, and gives all of them its pair", function*({ issuer }) {
    yield* issuer.setLatency("2 seconds")
    const tokens = yield* settle(Effect.forEach(yield* replicas(10), missing, { concurrency: "unbounded" }))
    const pairs = tokens.map(({ serviceId, value }) => `${Redacted.value(value)} ${Redacted.value(serviceId)}`)
    expect([new Set(pairs), yield* issuer.calls])
      .toEqual([new Set([`${Issuer.secretOf(1)} ${Issuer.customerOf(1)}`]), 1])
  })

  /** Whether one who waits for a peer's exchange of 1,010 ms is answered after so many. */
  const isAnsweredAfter = (millis: number) =>
    Effect.gen(function*() {
      const { issuer } = yield* doubles
      yield* issuer.setLatency(1_010)
      const [first, second] = yield* Effect.all([replica(), replica()])
      yield* Effect.fork(missing(first))
      yield* quiet
      const waiter = yield* Effect.fork(missing(second))
      yield* Cache.pass(millis, 10)
      return Option.isSome(yield* Fiber.poll(waiter))
    })

  test("wakes those who wait when the token is written", function*() {
    expect(yield* isAnsweredAfter(1_010)).toBe(true)
  })

  test.each([Cache.hangs, Cache.fails, Cache.dies])(
    "lets those who wait look four times a second where no change is told (case %#)",
    function*(manner, { cache }) {
      yield* cache.behaveAlways("changes", manner)
      expect(yield* isAnsweredAfter(1_260)).toBe(true)
    }
  )

  test("asks the cache a handful of times a second at most while it waits", function*({ cache, issuer }) {
    yield* issuer.setLatency("9 seconds")
    yield* settle(Effect.forEach(yield* replicas(2), missing, { concurrency: "unbounded" }))
    expect((yield* cache.callsOf("read")).length).toBeLessThan(50)
  })
})

describe("a cached token", () => {
  const cached = Effect.gen(function*() {
    const first = yield* Effect.flatMap(replica(), (peer) => settle(missing(peer)))
    return { ...(yield* doubles), first }
  })

  test("keeps the times that its peer saw", function*() {
    const { first } = yield* cached
    yield* Time.pass("1 minute")
    const { expiresAt, receivedAt } = yield* Effect.flatMap(replica(), (issuer) => settle(missing(issuer)))
    expect([receivedAt, expiresAt]).toEqual([first.receivedAt, first.expiresAt])
  })

  test("is handed over for one look into the cache, without an exchange", function*() {
    const { cache, issuer } = yield* cached
    const before = (yield* cache.calls).length
    const value = yield* Effect.flatMap(replica(), got)
    expect([value, yield* issuer.calls, (yield* cache.calls).slice(before).map(({ operation }) => operation)])
      .toEqual([Issuer.secretOf(1), 1, ["read"]])
  })

  const reasons = ["refresh", "rejection", "missing"] as const

  test.each(reasons)("does not count where it is the one being replaced, with reason %s", function*(reason) {
    const { first } = yield* cached
    const next = yield* Effect.flatMap(replica(), (issuer) => replace(issuer, first, reason))
    expect(Issuer.valueOf(next)).toBe(Issuer.secretOf(2))
  })

  test.each(
    [
      ...reasons.map((reason) => ["counts where it was received after", reason, 0, 1] as const),
      ["does not count where it was received before", "refresh", 1_001, 2],
      ["does not count where it was received before", "rejection", 1_001, 2]
    ] as const
  )("%s the one being replaced, with reason %s", function*([, reason, receivedAt, exchanges]) {
    yield* Time.set(1_000)
    const { issuer } = yield* cached
    const replaced = Issuer.token(9, receivedAt, life)
    const next = yield* Effect.flatMap(replica(), (here) => replace(here, replaced, reason))
    expect([Issuer.valueOf(next), yield* issuer.calls]).toEqual([Issuer.secretOf(exchanges), exchanges])
  })

  test("does not count where the key must be exchanged, though it is newer than the one being replaced", function*() {
    yield* Time.set(1_000)
    const { issuer } = yield* cached
    yield* Time.pass("1 second")
    const here = yield* replica()
    const next = yield* settle(here.issue({ ...replacing(Issuer.token(9, 0, life), "rejection"), mustExchange: true }))
    expect([Issuer.valueOf(next), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  test.each<readonly [string, number, Partial<SharedTokenIssuer.Options>, number]>([
    ["is handed over while it is stale", life - 50_000, {}, 1],
    ["is not handed over within its margin", life - 10_000, {}, 2],
    ["is handed over up to a margin of one's own", life - 5_000, { refresh: { margin: "1 second" } }, 1],
    ["is never served past its expiry though the cache still has it, and is written over", 2 * life, {}, 2]
  ])("%s", function*([, at, options, exchanges], { cache, issuer }) {
    yield* cache.keepForEver
    yield* cached
    yield* Time.set(at)
    const values = yield* Effect.replicateEffect(Effect.flatMap(replica(options), got), 2)
    expect([values, yield* issuer.calls]).toEqual([Array(2).fill(Issuer.secretOf(exchanges)), exchanges])
  })

  test("is kept in the cache until it expires, whatever the time is when it comes", function*() {
    yield* Time.set(5_000_000)
    const { cache } = yield* cached
    expect((yield* cache.callsOf("write")).map(({ args: [, options] }) => options)).toEqual([
      { over: Option.none(), timeToLive: life }
    ])
  })

  test("is one that nobody can read where it is text of someone else's", function*({ cache, shared }) {
    yield* Effect.flatMap(replica(), got)
    const name = yield* cache.lastName
    const entry = Option.getOrThrow(yield* shared.read(name))
    yield* shared.write(name, "text of someone else's", { over: Option.some(entry), timeToLive: life })
    expect([yield* found, yield* found]).toEqual(["nothing", Issuer.secretOf(2)])
  })

  test("is fresh here where the clock of its peer is an hour ahead", function*() {
    const clock = yield* Effect.clock
    const ahead = ManualClock.besides(clock)
    ahead.wall = hour
    const peers = yield* Effect.flatMap(replica(), (peer) => settle(Effect.withClock(missing(peer), ahead)))
    const token = yield* Effect.flatMap(replica(), (issuer) => settle(missing(issuer)))
    const now = yield* Clock.currentTimeMillis
    expect([peers.receivedAt, token.receivedAt, token.expiresAt, AccessToken.stateAt(token, now, policyOf())])
      .toEqual([hour, 0, life, "fresh"])
  })

  test("of a peer whose clock is an hour ahead can be replaced by the peer's next", function*() {
    const ahead = ManualClock.besides(yield* Effect.clock)
    ahead.wall = hour
    const [peer, here] = yield* Effect.all([replica(), replica()])
    const peers = yield* settle(Effect.withClock(missing(peer), ahead))
    const token = yield* settle(missing(here))
    yield* Time.pass("1 minute")
    yield* settle(Effect.withClock(peer.issue(replacing(peers, "rejection")), ahead))
    expect(Issuer.valueOf(yield* replace(here, token, "rejection"))).toBe(Issuer.secretOf(2))
  })
})

describe("the lease", () => {
  test.each<readonly [string, number, Partial<SharedTokenIssuer.Options>]>([
    ["15 seconds where nothing else is said", 15_000, {}],
    ["as long as one says", 3_000, { tokenTimeout: "2 seconds", lease: "3 seconds" }]
  ])("is taken for %s", function*([, millis, options], { cache }) {
    yield* Effect.flatMap(replica(options), got)
    expect((yield* cache.callsOf("lease")).map(({ args: [, duration] }) => duration)).toEqual([millis])
  })

  test("has another owner each time", function*({ cache }) {
    const issuer = yield* replica()
    yield* replace(issuer, yield* settle(missing(issuer)), "refresh")
    expect(new Set((yield* cache.callsOf("lease")).map(({ args: [owner] }) => owner)).size).toBe(2)
  })

  const tokenWrittenMeanwhile = Effect.gen(function*() {
    const { cache } = yield* doubles
    const [peer, late] = yield* Effect.all([replica(), replica()])
    yield* cache.behaveNext("lease", Cache.comesAfter(missing(peer)))
    return yield* got(late)
  })

  test("is followed by another look, so that a token written meanwhile costs no exchange", function*() {
    const value = yield* tokenWrittenMeanwhile
    expect([value, yield* Effect.flatMap(doubles, ({ issuer }) => issuer.calls)]).toEqual([Issuer.secretOf(1), 1])
  })

  test("is given back after the token was written, not before", function*({ cache }) {
    yield* Effect.flatMap(replica(), got)
    expect((yield* cache.calls).map(({ operation }) => operation)).toEqual([
      "read",
      "lease",
      "read",
      "write",
      "release"
    ])
  })

  const ending = (outcome: Issuer.Outcome) =>
    Effect.gen(function*() {
      yield* Effect.flatMap(doubles, ({ issuer }) => issuer.respondNext(outcome))
      return yield* Effect.flatMap(replica(), (here) => Effect.exit(settle(missing(here))))
    })

  const losingAnswer = Effect.gen(function*() {
    yield* Effect.flatMap(doubles, ({ cache }) => cache.behaveNext("lease", Cache.losesAnswer))
    return yield* Effect.fork(missing(yield* replica()))
  })

  test.each<readonly [string, Step]>([
    ["another look found a token", tokenWrittenMeanwhile],
    ["the token was written", Effect.flatMap(replica(), got)],
    ["the exchange fails", ending(Effect.fail(unavailable))],
    ["the exchange ends in a defect", ending(Effect.die("an issuer that was written in a hurry"))],
    [
      "the caller is interrupted in the exchange",
      Effect.flatMap(held, ({ caller }) => settle(Fiber.interrupt(caller)))
    ],
    [
      "the caller is interrupted before the cache has said who holds it",
      Effect.flatMap(losingAnswer, (caller) => Effect.zipRight(quiet, settle(Fiber.interrupt(caller))))
    ],
    ["the cache granted it and never said so", Effect.flatMap(losingAnswer, (caller) => settle(Fiber.join(caller)))]
  ])("is given back where %s", function*([, ended]) {
    yield* ended
    yield* quiet
    expect(yield* holder).toBe("nobody")
  })

  test("is given back once, by its holder, and not by one who waited for the token", function*({ cache }) {
    const { caller, owner } = yield* held
    const waiter = yield* Effect.fork(missing(yield* replica()))
    yield* settle(Effect.all([Fiber.join(caller), Fiber.join(waiter)]))
    yield* quiet
    const givenBack = (yield* cache.callsOf("release")).map(({ args: [by] }) => by)
    expect(givenBack.filter((by) => by !== "nobody")).toEqual([owner])
  })

  test("is given back by one who is interrupted, and whose exchange ends with it", function*() {
    yield* Effect.flatMap(held, ({ caller }) => settle(Fiber.interrupt(caller)))
    expect(yield* Effect.flatMap(doubles, ({ issuer }) => issuer.interrupted)).toBe(1)
  })

  test("stays its holder's when one who waits is interrupted", function*() {
    const { owner } = yield* held
    const waiter = yield* Effect.fork(missing(yield* replica()))
    yield* quiet
    yield* Fiber.interrupt(waiter)
    expect(yield* holder).toBe(owner)
  })

  test.each(
    [
      ["of a holder that dies costs those who wait its time and no more", [15_000], 15_000],
      ["of two holders that came to nothing in turn is waited for, and then no longer", [1_000, 1_000, 14_000], 2_000],
      ["is waited for no longer than two leases in all", [120_000], 30_000]
    ] as const
  )("%s", function*([, holders, least], { cache, issuer }) {
    yield* cache.squat(...holders)
    const [, millis] = yield* timed(missing(yield* replica()))
    expect([millis >= least, millis <= least + 100, yield* issuer.calls]).toEqual([true, true, 1])
  })

  test("of a holder that dies goes to one of those who wait", function*({ cache, issuer }) {
    yield* cache.squat(3_000)
    yield* issuer.setLatency("2 seconds")
    yield* settle(Effect.forEach(yield* replicas(10), missing, { concurrency: "unbounded" }))
    expect(yield* issuer.calls).toBe(1)
  })

  test("of a holder that fails goes to one of those who wait", function*({ issuer }) {
    yield* issuer.setLatency("2 seconds")
    yield* issuer.respondNext(Effect.fail(unavailable))
    const exits = yield* settle(
      Effect.forEach(yield* replicas(10), (issuer) => Effect.exit(missing(issuer)), { concurrency: "unbounded" })
    )
    expect([exits.filter(Exit.isFailure).length, yield* issuer.calls]).toEqual([1, 2])
  })

  test("leaves a token to the others also where it was exchanged without one", function*({ cache }) {
    yield* cache.squat(120_000)
    yield* Effect.flatMap(replica(), got)
    expect(yield* found).toBe(Issuer.secretOf(1))
  })
})

describe("an exchange that outlasts its lease", () => {
  /** One over an issuer that is not bounded by tokenTimeout from outside. */
  const patient = Effect.flatMap(
    TokenIssuer.TokenIssuer,
    (issuer) => Effect.provideService(replica(), TokenIssuer.TokenIssuer, OwnDeadline.attach({ ...issuer }, true))
  )

  const overtaken = Effect.gen(function*() {
    const { cache, issuer, shared } = yield* doubles
    const [slow, quick] = yield* Effect.all([patient, replica()])
    yield* issuer.setLatency("20 seconds")
    yield* issuer.respondNext(Effect.succeed(Issuer.token(90, 0, life)))
    const late = yield* Effect.fork(missing(slow))
    yield* quiet
    return { cache, issuer, late, quick, shared, slow }
  })

  test("does not write over the token of the next holder, and still gives its caller one", function*() {
    const { issuer, late, quick } = yield* overtaken
    yield* issuer.setLatency(0)
    yield* got(quick)
    const own = Issuer.valueOf(yield* settle(Fiber.join(late)))
    expect([own, yield* found]).toEqual([Issuer.secretOf(90), Issuer.secretOf(1)])
  })

  test("does not give back the lease of the next holder", function*() {
    const { cache, late, quick } = yield* overtaken
    yield* Effect.fork(missing(quick))
    yield* settle(Fiber.join(late))
    const owners = new Set((yield* cache.callsOf("lease")).map(({ args: [owner] }) => owner))
    expect([yield* Clock.currentTimeMillis, [...owners].indexOf(yield* holder)]).toEqual([20_000, 1])
  })

  test.each<readonly [string, Issuer.Outcome, number]>([
    ["does not write over a newer token", Effect.succeed(Issuer.token(90, 0, life)), 1],
    ["writes over an older token", Issuer.issued(90, life), 90]
  ])("%s where it had no lease", function*([, outcome, number], { cache, issuer }) {
    const [alone, peer] = yield* Effect.all([replica(), replica()])
    yield* issuer.setLatency("5 seconds")
    yield* issuer.respondNext(outcome)
    yield* cache.behaveNext("lease", Cache.fails)
    const late = yield* Effect.fork(missing(alone))
    yield* quiet
    yield* issuer.setLatency("1 second")
    yield* got(peer)
    yield* settle(Fiber.join(late))
    yield* quiet
    expect(yield* found).toBe(Issuer.secretOf(number))
  })
})

describe("a failed exchange", () => {
  test("ends in its own error, writes nothing, and a peer hears of nothing: its own exchange follows", function*(
    { cache, issuer }
  ) {
    yield* issuer.respondNext(Effect.fail(unavailable))
    const error = yield* Effect.flip(settle(missing(yield* replica())))
    expect([error, yield* cache.callsOf("write")]).toEqual([unavailable, []])
    expect(yield* Effect.flatMap(replica(), got)).toBe(Issuer.secretOf(1))
  })

  test("is followed by one more look, since a peer may have fared better", function*({ cache, issuer }) {
    const [unlucky, peer] = yield* Effect.all([replica(), replica()])
    yield* issuer.setLatency("5 seconds")
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* cache.behaveNext("lease", Cache.fails)
    const late = yield* Effect.fork(missing(unlucky))
    yield* quiet
    yield* issuer.setLatency(0)
    yield* got(peer)
    expect(Issuer.valueOf(yield* settle(Fiber.join(late)))).toBe(Issuer.secretOf(1))
  })

  test("ends in its own error also where the cache fails at that look", function*({ cache, issuer }) {
    yield* issuer.respondNext(Effect.zipRight(cache.behaveAlways("read", Cache.fails), Effect.fail(unavailable)))
    expect(yield* Effect.flip(settle(missing(yield* replica())))).toBe(unavailable)
  })

  test("of the license key is its error, and asks neither the cache nor the service", function*({ cache, issuer }) {
    const error = new NutritionAdvisorError.LicenseKeyUnavailable({ detail: "the vault is sealed" })
    const here = yield* replica({ licenseKey: Effect.fail(error) })
    expect(yield* Effect.flip(settle(missing(here)))).toBe(error)
    expect([yield* cache.calls, yield* issuer.calls]).toEqual([[], 0])
  })

  test("of a key that can't be one is LicenseKeyUnavailable", function*() {
    const issuer = yield* replica({ licenseKey: Effect.succeed(Redacted.make("${LICENSE_KEY}")) })
    expect(yield* Effect.flip(settle(missing(issuer)))).toMatchObject({ _tag: "LicenseKeyUnavailable" })
  })
})

describe("a rejected token", () => {
  const rejected = Effect.gen(function*() {
    const [peer, here] = yield* Effect.all([replica(), replica()])
    const first = yield* settle(missing(peer))
    yield* settle(missing(here))
    return { ...(yield* doubles), first, here, peer }
  })

  test("is gone for the others though the exchange that follows fails", function*() {
    const { first, here, issuer } = yield* rejected
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* Effect.exit(replace(here, first, "rejection"))
    expect(yield* found).toBe("nothing")
  })

  test("makes way for a token that was written while it was to be removed", function*() {
    const { cache, first, here, issuer, peer } = yield* rejected
    yield* cache.behaveNext("remove", Cache.comesAfter(peer.issue(replacing(first, "refresh"))))
    expect([Issuer.valueOf(yield* replace(here, first, "rejection")), yield* issuer.calls])
      .toEqual([Issuer.secretOf(2), 2])
  })

  test("costs ten replicas one exchange", function*({ issuer }) {
    const all = yield* replicas(10)
    const tokens = yield* Effect.forEach(all, (issuer) => settle(missing(issuer)))
    yield* issuer.setLatency("2 seconds")
    yield* settle(Effect.forEach(
      Arr.zip(all, tokens),
      ([issuer, token]) => issuer.issue(replacing(token, "rejection")),
      { concurrency: "unbounded" }
    ))
    expect(yield* issuer.calls).toBe(2)
  })

  test("is not written again where the exchange hands it back", function*() {
    const { first, here, issuer } = yield* rejected
    yield* issuer.respondNext(Issuer.issued(1, life))
    yield* replace(here, first, "rejection")
    expect(yield* found).toBe("nothing")
  })

  test("is not taken again where a peer writes it again", function*() {
    const { first, here, issuer, peer } = yield* rejected
    yield* issuer.respondNext(Effect.fail(unavailable), Issuer.issued(1, life))
    yield* Effect.exit(replace(here, first, "rejection"))
    yield* settle(missing(peer))
    expect(yield* got(here)).toBe(Issuer.secretOf(2))
  })

  test.each(["refresh", "missing"] as const)(
    "is none where it is only replaced, with reason %s: it stays for the others until the new one is written",
    function*(reason) {
      const { first, here, issuer } = yield* rejected
      yield* issuer.respondNext(Effect.fail(unavailable))
      yield* Effect.exit(replace(here, first, reason))
      expect(yield* found).toBe(Issuer.secretOf(1))
    }
  )
})

describe("replicas that share nothing", () => {
  test.each<readonly [string, Partial<SharedTokenIssuer.Options>, number]>([
    ["have another base URL", { baseUrl: "https://other.example" }, 2],
    ["have another token route", { tokenRoute: "unified" }, 2],
    ["have another license key", { licenseKey: Redacted.make("license-8b2c") }, 2],
    ["have another service id", { serviceId: "another-service-id" }, 2],
    ["are not those with a slash at the end of the base URL", { baseUrl: "https://advisor.example/" }, 1],
    ["are not those that name the default route", { tokenRoute: "advisor-licence" }, 1],
    ["are not those whose key an effect reads", { licenseKey: Effect.succeed(Redacted.make("license-7f3a")) }, 1]
  ])("%s", function*([, options, exchanges], { issuer }) {
    yield* Effect.flatMap(replica(), got)
    yield* Effect.flatMap(replica(options), got)
    expect(yield* issuer.calls).toBe(exchanges)
  })

  test("are those before and after a rotation of the key", function*({ cache, issuer }) {
    const key = yield* Ref.make(Redacted.make("license-7f3a"))
    const rotating = yield* replica({ licenseKey: Ref.get(key) })
    yield* got(rotating)
    yield* Ref.set(key, Redacted.make("license-8b2c"))
    yield* got(rotating)
    expect([yield* issuer.calls, new Set((yield* cache.calls).map(({ name }) => name)).size]).toEqual([2, 2])
  })
})

describe("what the cache sees", () => {
  test("holds no secret, in any form", function*({ cache, issuer }) {
    const marked = AccessToken.make({
      value: Secrets.token,
      serviceId: Secrets.customerId,
      receivedAt: 0,
      expiresAt: life
    })
    yield* issuer.respondNext(Effect.succeed(marked))
    const here = yield* replica({ licenseKey: Redacted.make(Secrets.key), serviceId: Secrets.customerId })
    yield* replace(here, yield* settle(missing(here)), "rejection")
    const calls = yield* cache.calls
    expect([new Set(calls.map(({ operation }) => operation)), Secrets.shownIn(rendered(calls))])
      .toEqual([new Set(["read", "lease", "write", "release", "remove"]), []])
  })
})

describe("settings", () => {
  test.each<readonly [string, Partial<SharedTokenIssuer.Options>, string]>([
    ["a lease as long as an exchange may take", { lease: "10 seconds" }, "lease"],
    ["a lease that is shorter", { lease: "9 seconds" }, "lease"],
    ["a lease of a millisecond", { lease: "1 milli" }, "lease"],
    ["a lease that is no longer than a tokenTimeout of one's own", { tokenTimeout: "15 seconds" }, "lease"],
    ["a lease below zero", { lease: -1 }, "lease"],
    ["a lease without an end", { lease: "Infinity" as "1 day" }, "lease"],
    ["a cacheTimeout of nothing", { cacheTimeout: 0 }, "cacheTimeout"],
    ["a cacheTimeout that is no duration", { cacheTimeout: "for ever" as "1 day" }, "cacheTimeout"],
    ...["", " ", "undefined", "<license key>"].map((key) =>
      [`a key that can't seal: ${JSON.stringify(key)}`, { licenseKey: Redacted.make(key) }, "licenseKey"] as const
    )
  ])("refuse %s", function*([, options, field]) {
    expect(yield* Effect.flip(replica(options))).toMatchObject({ _tag: "ConfigurationError", field })
  })

  test("make a layer that takes the issuer it replaces from its context", function*() {
    const outer = SharedTokenIssuer.layer({
      baseUrl: "https://advisor.example",
      licenseKey: Redacted.make("license-7f3a")
    })
    const inner = yield* TokenIssuer.TokenIssuer
    const here = yield* Effect.provide(TokenIssuer.TokenIssuer, outer)
    expect([here === inner, yield* got(here)]).toEqual([false, Issuer.secretOf(1)])
  })
})

describe("a key that is read by what can't be interrupted", () => {
  test("ends as Timeout once the time of the exchange is over", function*() {
    const licenseKey = Effect.uninterruptible(Effect.never)
    const [exit, millis] = yield* timed(
      Effect.exit(missing(yield* replica({ licenseKey, tokenTimeout: "2 seconds" })))
    )
    expect([Exit.isFailure(exit) && Cause.squash(exit.cause), millis]).toMatchObject([{ reason: "Timeout" }, 2_000])
  })
})

describe("a broken cache", () => {
  const manners = [
    ["fails", Cache.fails, "Unavailable"],
    ["dies", Cache.dies, "Defect"],
    ["throws", Cache.throws, "Defect"],
    ["fails with null", Cache.failsWith(null), "Defect"],
    ["fails with another error", Cache.failsWith(new Error("redis://user:secret@host")), "Defect"],
    ["never answers", Cache.hangs, "Timeout"],
    ["never answers and can't be interrupted", Cache.hangsUninterruptibly, "Timeout"],
    ["answers after 30 seconds", Cache.takes("30 seconds"), "Timeout"]
  ] as const

  const cases = manners.flatMap(([title, manner, reason]) =>
    Cache.operations.map((operation) => [operation, title, manner, reason] as const)
  )

  /** A request that makes the operation necessary. */
  const requestFor = (operation: Cache.Operation, here: TokenIssuer.Service) =>
    Effect.gen(function*() {
      if (operation === "changes") yield* Effect.flatMap(doubles, ({ cache }) => cache.squat(900))
      return operation === "remove" ? replacing(yield* settle(missing(here)), "rejection") : Issuer.missing
    })

  /** An issue against a cache that breaks at an operation which it needs. */
  const broken = (operation: Cache.Operation, manner: Cache.Manner) =>
    Effect.gen(function*() {
      const { cache } = yield* doubles
      const here = yield* replica()
      const request = yield* requestFor(operation, here)
      yield* cache.behaveAlways(operation, manner)
      return yield* timed(here.issue(request))
    })

  test.each(cases)(
    "costs no more than its timeout, and never a token, where %s %s",
    function*([operation, , manner], { issuer }) {
      const [token, millis] = yield* broken(operation, manner)
      expect([Issuer.valueOf(token), millis <= 1_050]).toEqual([Issuer.secretOf(yield* issuer.calls), true])
    }
  )

  /** A watch that hears nothing is no failure: those who wait look by themselves. */
  const failures = cases.filter(([operation, , , reason]) => operation !== "changes" || reason !== "Timeout")

  test.each(failures)("is counted where %s %s", function*([operation, , manner, reason]) {
    const counts = yield* addedToSharing(broken(operation, manner))
    expect(counts[`cache_failures_total ${reason}`]).toBeGreaterThan(0)
  })

  test.each(Cache.operations)(
    "that throws instead of answering costs no token: %s",
    function*(operation, { cache, issuer, shared }) {
      const throwing: SharedTokenCache.Service = {
        ...shared,
        [operation]: () => {
          throw new Error("a cache that was written in a hurry")
        }
      }
      const here = yield* replica()
      const first = yield* settle(missing(here))
      if (operation === "changes") yield* cache.squat(900)
      const there = yield* Effect.provideService(replica(), SharedTokenCache.SharedTokenCache, throwing)
      const exit = yield* Effect.exit(replace(there, first, "rejection"))
      expect(Exit.map(exit, Issuer.valueOf)).toEqual(Exit.succeed(Issuer.secretOf(yield* issuer.calls)))
    }
  )

  test("costs a cacheTimeout of one's own", function*({ cache }) {
    yield* cache.behaveAlways("read", Cache.hangs)
    const [, millis] = yield* timed(missing(yield* replica({ cacheTimeout: "200 millis" })))
    expect(millis).toBe(200)
  })

  test.each(manners)("costs no more than its timeout where every operation %s", function*([, manner], { cache }) {
    yield* Effect.forEach(Cache.operations, (operation) => cache.behaveAlways(operation, manner))
    const [token, millis] = yield* timed(missing(yield* replica()))
    expect([Issuer.valueOf(token), millis <= 1_050]).toEqual([Issuer.secretOf(1), true])
  })

  test("that only takes no more writes costs its timeout twice at most", function*({ cache }) {
    yield* cache.behaveAlways("write", Cache.hangs)
    yield* cache.behaveAlways("release", Cache.hangs)
    const [, millis] = yield* timed(missing(yield* replica()))
    expect(millis <= 2_050).toBe(true)
  })

  test("is asked again at the next exchange", function*({ cache }) {
    const [here, peer] = yield* Effect.all([replica(), replica()])
    yield* cache.behaveNext("read", Cache.fails, Cache.fails)
    const first = yield* settle(missing(here))
    yield* Time.pass("1 second")
    yield* got(peer)
    expect(Issuer.valueOf(yield* replace(here, first, "refresh"))).toBe(Issuer.secretOf(2))
  })

  test("gets the token that was exchanged without it, once it works again", function*({ cache }) {
    yield* cache.behaveNext("read", Cache.fails)
    yield* Effect.flatMap(replica(), got)
    yield* quiet
    expect(yield* found).toBe(Issuer.secretOf(1))
  })

  test.each(["read", "lease", "changes", "release"] as const)(
    "holds up an interruption by its timeout at most where %s never answers",
    function*(operation, { cache, issuer }) {
      yield* issuer.setLatency("5 seconds")
      if (operation === "changes") yield* cache.squat(15_000)
      yield* cache.behaveAlways(operation, Cache.hangsUninterruptibly)
      const caller = yield* Effect.fork(missing(yield* replica()))
      yield* quiet
      const [, millis] = yield* timed(Fiber.interrupt(caller))
      expect(millis <= 1_050).toBe(true)
    }
  )

  test.each(Cache.operations)(
    "does not hold up the end of the scope once %s has failed",
    function*(operation, { cache }) {
      const scope = yield* Scope.make()
      const here = yield* Scope.extend(replica(), scope)
      const request = yield* requestFor(operation, here)
      yield* cache.behaveAlways(operation, Cache.hangsUninterruptibly)
      yield* settle(here.issue(request))
      const end = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* quiet
      expect(Option.isSome(yield* Fiber.poll(end))).toBe(true)
    }
  )

  test.each(["lease", "write", "release"] as const)(
    "holds up the end of the scope by its timeout at most where %s never answers",
    function*(operation, { cache }) {
      const scope = yield* Scope.make()
      const here = yield* Scope.extend(replica(), scope)
      yield* cache.behaveAlways(operation, Cache.hangsUninterruptibly)
      yield* Effect.fork(missing(here))
      yield* quiet
      const [, millis] = yield* timed(Scope.close(scope, Exit.void))
      expect(millis).toBe(1_000)
    }
  )

  const failing = Effect.gen(function*() {
    const { cache } = yield* doubles
    yield* Effect.forEach(Cache.operations, (operation) => cache.behaveAlways(operation, Cache.fails))
    return yield* replica()
  })

  test("is worth a warning that names what failed and what follows", function*() {
    const [line = ""] = yield* logged(Effect.flatMap(failing, got))
    expect(line).toMatch(/^WARN The shared token cache could not be used \(ECONNREFUSED\): .* by itself\./)
  })

  test(
    "is not one where a peer holds the lease, a token is refused or an exchange fails",
    function*({ cache, issuer }) {
      const here = yield* replica()
      yield* cache.squat(900)
      const lines = yield* logged(Effect.gen(function*() {
        const first = yield* settle(missing(here))
        yield* issuer.respondNext(Effect.fail(unavailable))
        yield* Effect.exit(replace(here, first, "rejection"))
      }))
      expect(lines).toEqual([])
    }
  )
})

describe("a cache that tells nonsense", () => {
  const quick = { tokenTimeout: "100 millis", lease: "1 second" } as const

  /** A replica over a cache that answers some calls in its own way. */
  const over = (nonsense: Partial<Record<keyof SharedTokenCache.Service, unknown>>) =>
    Effect.gen(function*() {
      const { shared } = yield* doubles
      const cache = Object.assign({ ...shared }, nonsense)
      return yield* Effect.provideService(replica(quick), SharedTokenCache.SharedTokenCache, cache)
    })

  const times = [Number.NaN, -1, -1e300, 0, 0.001, 1e300, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

  test.each(times)(
    "of a lease that lasts %s milliseconds more is asked 40 times a second at most, though changes are told without end",
    function*(remaining, { shared }) {
      const looks = yield* Ref.make(0)
      const here = yield* over({
        read: (name: string) => Effect.zipRight(Ref.update(looks, (count) => count + 1), shared.read(name)),
        lease: () => Effect.succeed({ owner: "a peer that is none", remaining }),
        changes: () => Stream.tick("1 millis")
      })
      yield* Effect.fork(missing(here))
      yield* Cache.pass(500, 5)
      const count = yield* Ref.get(looks)
      expect([count >= 10, count <= 21]).toEqual([true, true])
    }
  )

  test.each(times)(
    "of a lease that lasts %s milliseconds more is asked four times a second where no change is told",
    function*(remaining) {
      const leases = yield* Ref.make(0)
      const here = yield* over({
        lease: () => Effect.as(Ref.update(leases, (count) => count + 1), { owner: "a peer that is none", remaining }),
        changes: () => Stream.never
      })
      yield* Effect.fork(missing(here))
      yield* Cache.pass(1_000, 25)
      expect(yield* Ref.get(leases)).toBeLessThanOrEqual(remaining >= 0 && remaining < 25 ? 41 : 5)
    }
  )

  test.each(times)("of a lease that lasts %s milliseconds more costs two leases at most", function*(remaining) {
    const here = yield* over({ lease: () => Effect.succeed({ owner: "a peer that is none", remaining }) })
    const [token, millis] = yield* timed(missing(here))
    expect([Issuer.valueOf(token), millis <= 2_100]).toEqual([Issuer.secretOf(1), true])
  })

  const answers: ReadonlyArray<readonly [Cache.Operation, unknown]> = [
    ["read", undefined],
    ["read", null],
    ["read", "an entry that is no Option"],
    ["read", Option.some(5)],
    ["read", Option.some(undefined)],
    ["lease", undefined],
    ["lease", null],
    ["lease", {}],
    ["lease", { owner: 1, remaining: 1 }],
    ["lease", { owner: "a peer", remaining: "long" }],
    ["write", undefined],
    ["write", "OK"],
    ["release", 1]
  ]

  test.each(answers)("is a broken one where %s answers %j", function*([operation, answer]) {
    const here = yield* over({ [operation]: () => Effect.succeed(answer) })
    const counts = yield* addedToSharing(Effect.gen(function*() {
      expect(yield* got(here)).toBe(Issuer.secretOf(1))
      yield* quiet
    }))
    expect(counts["cache_failures_total Defect"]).toBeGreaterThan(0)
  })
})

describe("a cache that works again", () => {
  const works = (line: string) => line.includes("works again.")

  /** What is logged where the operation fails at each exchange of this long, and works from then on. */
  const failedFor = (operation: Cache.Operation, seconds: ReadonlyArray<number>) =>
    logged(Effect.gen(function*() {
      const { cache } = yield* doubles
      const here = yield* replica()
      for (const duration of seconds) {
        yield* cache.behaveAlways(operation, Cache.fails)
        yield* replace(here, yield* settle(missing(here)), "rejection")
        yield* TestClock.adjust(`${duration} seconds`)
        yield* cache.behaveAlways(operation, undefined)
        yield* got(here)
        yield* got(here)
      }
    }))

  test.each(["read", "lease", "write", "remove", "release"] as const)(
    "says so once, and how long it had failed: %s",
    function*(operation) {
      const longer = operation === "release" ? "1m 45s" : "1m 30s"
      expect((yield* failedFor(operation, [90])).filter(works))
        .toEqual([`INFO The shared token cache works again. It had failed for ${longer}.`])
    }
  )

  test("says so once in a minute at most, for a failure that was not warned of is not over either", function*() {
    const seen = yield* failedFor("read", [1, 1, 1])
    expect([seen.filter(works).length, seen.filter((line) => line.startsWith("WARN")).length]).toEqual([1, 1])
  })

  test("does not say so while it can only be read", function*() {
    const seen = yield* logged(Effect.gen(function*() {
      const { cache } = yield* doubles
      const here = yield* replica()
      yield* Effect.forEach(
        ["lease", "write", "remove"] as const,
        (operation) => cache.behaveAlways(operation, Cache.fails)
      )
      for (let exchanges = 0; exchanges < 3; exchanges += 1) {
        const token = yield* settle(missing(here))
        yield* TestClock.adjust("20 seconds")
        yield* replace(here, token, "rejection")
      }
    }))
    expect(seen.filter(works)).toEqual([])
  })

  test("says nothing where it never failed", function*() {
    expect(yield* logged(Effect.flatMap(replica(), got))).toEqual([])
  })
})

describe("the counter of shared tokens", () => {
  test.each<readonly [string, Step, Record<string, number>]>([
    ["an exchange for all", Effect.void, { "tokens_total Exchanged": 1 }],
    ["a token that was handed over", Effect.scoped(Effect.flatMap(replica(), got)), {
      "tokens_total HandedOver": 1
    }],
    [
      "an exchange of one who waited in vain",
      Effect.flatMap(doubles, ({ cache }) => cache.squat(100, 100, 15_000)),
      { "tokens_total ExchangedAlone": 1 }
    ],
    [
      "an exchange without the cache",
      Effect.flatMap(doubles, ({ cache }) => cache.behaveNext("lease", Cache.fails)),
      { "tokens_total ExchangedAlone": 1, "cache_failures_total Unavailable": 1 }
    ],
    [
      "no exchange that fails",
      Effect.flatMap(doubles, ({ issuer }) => issuer.respondNext(Effect.fail(unavailable))),
      {}
    ]
  ])("tells %s", function*([, before, counts]) {
    yield* before
    const ended = Effect.flatMap(replica(), (here) => Effect.exit(settle(missing(here))))
    expect(yield* addedToSharing(ended)).toEqual(counts)
  })
})

describe("a token that no entry can hold for its length", () => {
  test("reaches its caller all the same, and is not written", function*() {
    const token = AccessToken.make({ value: "t".repeat(16_384), serviceId: "c", receivedAt: 0, expiresAt: life })
    const { cache, issuer } = yield* doubles
    yield* issuer.respondNext(Effect.succeed(token))
    const exit = yield* Effect.exit(settle(missing(yield* replica())))
    expect([exit, yield* cache.callsOf("write")]).toEqual([Exit.succeed(token), []])
  })
})

describe("an entry above 16 KiB", () => {
  test("that a cache gives all the same is a miss, is not decrypted, and is written over", function*({ shared }) {
    const entry = "v1.AAAAAAAAAAAAAAAA.".padEnd(16 * 1024 + 1, "A")
    const overs: Array<Option.Option<string>> = []
    const here = yield* Effect.provideService(replica(), SharedTokenCache.SharedTokenCache, {
      ...shared,
      read: () => Effect.succeed(Option.some(entry)),
      write: (name, next, options) => {
        overs.push(options.over)
        return shared.write(name, next, options)
      }
    })
    const decrypt = vi.mocked(globalThis.crypto.subtle.decrypt)
    const before = decrypt.mock.calls.length
    yield* got(here)
    expect([overs, decrypt.mock.calls.length - before]).toEqual([[Option.some(entry)], 0])
  })
})
