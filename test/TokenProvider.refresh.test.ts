import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Clock, Effect, Exit, Fiber, Layer, Option, Random, Redacted, Schedule } from "effect"
import { AccessToken, NutritionAdvisor, type RefreshPolicy, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import * as Issuer from "./doubles/IssuerDouble.js"
import * as ManualClock from "./doubles/ManualClock.js"
import { policyOf } from "./doubles/policy.js"
import * as Time from "./doubles/Time.js"

/** A life of 1000 s: the window begins 100 s and the margin 10 s before its end. */
const windowStart = 900_000
const marginStart = 990_000
const expiry = 1_000_000

const { begun, unavailable } = Issuer

const withFirstMoment = Effect.withRandom(Random.fixed([0]))

const withLastMoment = Effect.withRandom(Random.fixed([1]))

describe("callers", () => {
  it.effect("cost no exchange 1 s before the window", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* Time.set(windowStart - 1_000)
      yield* Effect.all(Effect.replicate(provider.get, 100), { concurrency: "unbounded" })
      yield* Time.pass(0)
      expect(yield* issuer.calls).toBe(1)
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("are served at once within the window, and start one exchange", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.setLatency("5 seconds")
      yield* Time.set(windowStart + 1_000)
      const served = yield* Effect.all(Effect.replicate(provider.get, 3))
      yield* Time.pass("5 seconds")
      expect([served.map(Issuer.valueOf), yield* issuer.calls])
        .toEqual([Arr.replicate(Issuer.secretOf(1), 3), 2])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("are served the new token once the refresh has landed", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.setLatency("5 seconds")
      yield* Time.set(windowStart + 1_000)
      yield* provider.get
      yield* Time.pass("5 seconds")
      expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(2))
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("go on being served when the one that started the refresh is interrupted", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.setLatency("5 seconds")
      yield* Time.set(windowStart)
      yield* Fiber.interrupt(yield* Effect.fork(Effect.zipRight(provider.get, Effect.never)))
      yield* Fiber.interrupt(yield* Effect.fork(provider.get))
      yield* provider.get
      yield* Time.pass("5 seconds")
      expect([Issuer.valueOf(yield* provider.get), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("wait for a new token from the margin on", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.setLatency("5 seconds")
      yield* Time.set(marginStart + 1)
      const caller = yield* Effect.fork(provider.get)
      yield* Time.pass("4 seconds")
      const during = yield* Fiber.poll(caller)
      yield* Time.pass("1 second")
      expect([during, Issuer.valueOf(yield* Fiber.join(caller))]).toEqual([Option.none(), Issuer.secretOf(2)])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("name the token that the exchange is to replace", () =>
    Effect.gen(function*() {
      const { issuer, provider, store } = yield* begun
      const first = yield* store.current
      yield* Time.set(windowStart)
      yield* provider.get
      yield* Time.pass(0)
      expect(yield* issuer.replaced).toEqual([Option.none(), first])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  const boundaries = [
    { at: windowStart - 1, blocks: false, exchanges: 1 },
    { at: windowStart, blocks: false, exchanges: 2 },
    { at: windowStart + 1, blocks: false, exchanges: 2 },
    { at: marginStart - 1, blocks: false, exchanges: 2 },
    { at: marginStart, blocks: true, exchanges: 2 },
    { at: marginStart + 1, blocks: true, exchanges: 2 },
    { at: expiry - 1, blocks: true, exchanges: 2 },
    { at: expiry, blocks: true, exchanges: 2 },
    { at: expiry + 1, blocks: true, exchanges: 2 }
  ]

  it.effect.each(boundaries)("at $at ms of 1,000,000: exchanges $exchanges, blocked $blocks", (
    { at, blocks, exchanges }
  ) =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.setLatency("1 second")
      yield* Time.set(at)
      const caller = yield* Effect.fork(provider.get)
      yield* Time.pass(0)
      expect([Option.isNone(yield* Fiber.poll(caller)), yield* issuer.calls]).toEqual([blocks, exchanges])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("cost one exchange in 10 s of a life of 30 s, for the window is scaled to the life", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      yield* issuer.setLife(30_000)
      yield* Effect.repeatN(Effect.zipRight(provider.get, Time.pass("1 second")), 10)
      expect(yield* issuer.calls).toBe(1)
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("renew by themselves where there is no Schedule", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* Time.set(marginStart - 1)
      const before = yield* issuer.calls
      yield* provider.get
      yield* Time.pass(0)
      expect([before, yield* issuer.calls]).toEqual([1, 2])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("block once after three lives without a call where there is no Schedule", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* Time.set(3 * expiry)
      expect([Issuer.valueOf(yield* provider.get), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("never see the identifier of one token with the value of another", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      yield* issuer.setLife(200)
      yield* issuer.setLatency("7 millis")
      const caller = Effect.repeatN(Effect.delay(provider.get, "13 millis"), 80).pipe(
        Effect.zipRight(provider.get),
        Effect.map((token) => [Issuer.valueOf(token).split("-")[2], Redacted.value(token.serviceId).split("-")[2]])
      )
      const callers = yield* Effect.fork(Effect.all(Effect.replicate(caller, 5), { concurrency: "unbounded" }))
      yield* Time.pass("3 seconds")
      const pairs = yield* Fiber.join(callers)
      expect(pairs.filter(([value, customer]) => value !== customer)).toEqual([])
      expect(yield* issuer.calls).toBeGreaterThan(3)
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("have one token and one exchange a life, however long they go on", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      yield* issuer.setLife(10_000)
      yield* Effect.repeatN(Effect.zipRight(provider.get, Time.pass("500 millis")), 200)
      const calls = yield* issuer.calls
      expect(calls).toBeGreaterThanOrEqual(10)
      expect(calls).toBeLessThanOrEqual(12)
    }).pipe(Effect.provide(Issuer.layerProvider())))
})

describe("a token that is expired on arrival", () => {
  it.effect("ends its caller in a typed failure after one exchange", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      yield* issuer.respondAlways(Issuer.issued(1, 0))
      const error = yield* Effect.flip(provider.get)
      expect([error._tag, yield* issuer.calls]).toEqual(["UnexpectedResponse", 1])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("is followed by a backoff like any failure", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      yield* issuer.respondAlways(Issuer.issued(1, 0))
      yield* Effect.repeatN(Effect.zipRight(Effect.exit(provider.get), Time.pass("500 millis")), 120)
      expect(yield* issuer.calls).toBeLessThanOrEqual(8)
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("is never stored", () =>
    Effect.gen(function*() {
      const { issuer, provider, store } = yield* Issuer.services
      yield* issuer.respondAlways(Issuer.issued(1, 0))
      yield* Effect.exit(provider.get)
      expect(yield* store.current).toEqual(Option.none())
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("may be used where it lives for 0.2 s, at the cost of one exchange", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      yield* issuer.setLife(200)
      yield* Effect.all(Effect.replicate(provider.get, 10), { concurrency: "unbounded" })
      expect(yield* issuer.calls).toBe(1)
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("is replaced by one that holds, though that one ends earlier", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* Time.set(marginStart + 1_000)
      yield* issuer.setLife(5_000)
      expect([Issuer.valueOf(yield* provider.get), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("costs a handful of exchanges where the service hands it back until its very end", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* Time.set(marginStart)
      yield* issuer.respondAlways(
        Effect.map(Clock.currentTimeMillis, (now) => Issuer.token(1, now, expiry - now))
      )
      yield* Effect.repeatN(Effect.zipRight(Effect.exit(provider.get), Time.pass("100 millis")), 99)
      expect((yield* issuer.calls) - 1).toBeLessThanOrEqual(20)
    }).pipe(Effect.provide(Issuer.layerOnDemand)))
})

describe("the Schedule", () => {
  it.effect("refreshes at the start of the window where chance says so, with nobody calling", () =>
    Effect.gen(function*() {
      const { issuer } = yield* begun
      yield* Time.pass(windowStart + 100)
      expect((yield* issuer.starts).slice(1)).toEqual([windowStart])
    }).pipe(Effect.provide(Issuer.layerProvider()), withFirstMoment))

  it.effect("refreshes in the middle of the window at the latest", () =>
    Effect.gen(function*() {
      const { issuer } = yield* begun
      yield* Time.pass(windowStart + 50_100)
      expect((yield* issuer.starts).slice(1)).toEqual([windowStart + 50_000])
    }).pipe(Effect.provide(Issuer.layerProvider()), withLastMoment))

  it.effect("refreshes within the first half of the window by default", () =>
    Effect.gen(function*() {
      const { issuer } = yield* begun
      yield* Time.pass(windowStart - 1)
      const before = yield* issuer.calls
      yield* Time.pass(50_002)
      expect([before, yield* issuer.calls]).toEqual([1, 2])
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("goes on from token to token while they are used", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* Effect.repeatN(Effect.zipRight(Time.pass("100 seconds"), provider.get), 40)
      const starts = yield* issuer.starts
      const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
      expect(gaps.filter((gap) => gap < windowStart || gap > windowStart + 50_001)).toEqual([])
      expect(gaps.length).toBe(4)
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("never waits for longer than a minute at once, though the token holds for a year", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      yield* issuer.setLife(31_536_000_000)
      yield* provider.get
      yield* Time.pass("90 seconds")
      const now = yield* Clock.currentTimeMillis
      const waits = (yield* Time.wakes).map((end) => end - now)
      expect(waits).toEqual([30_000])
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("starts with the first token, not with the layer", () =>
    Effect.gen(function*() {
      const { issuer } = yield* Issuer.services
      yield* Time.pass("1 hour")
      expect([yield* issuer.calls, yield* Time.timers]).toEqual([0, 0])
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("costs one exchange together with a caller of the same moment", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.setLatency("1 second")
      const caller = yield* Effect.fork(Effect.delay(provider.get, windowStart))
      yield* Time.pass(windowStart + 2_000)
      expect([Issuer.valueOf(yield* Fiber.join(caller)), yield* issuer.calls]).toEqual([Issuer.secretOf(1), 2])
    }).pipe(Effect.provide(Issuer.layerProvider()), withFirstMoment))

  it.effect("survives a refresh that failed", () =>
    Effect.gen(function*() {
      const { issuer, store } = yield* begun
      yield* issuer.respondNext(Effect.fail(unavailable))
      yield* Time.pass(marginStart - 1)
      expect([Option.map(yield* store.current, Issuer.valueOf), yield* issuer.calls])
        .toEqual([Option.some(Issuer.secretOf(2)), 3])
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("shows a refresh that failed in the status, with nobody calling", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.respondAlways(Effect.fail(unavailable))
      yield* Time.pass(windowStart)
      expect((yield* provider.status).lastFailure)
        .toEqual(Option.some({ error: unavailable, at: windowStart, retryAt: windowStart + 1_000 }))
    }).pipe(Effect.provide(Issuer.layerProvider()), withFirstMoment))

  it.effect("survives a refresh that died", () =>
    Effect.gen(function*() {
      const { issuer, store } = yield* begun
      yield* issuer.respondNext(Effect.dieMessage("the issuer is broken"))
      yield* Time.pass(marginStart - 1)
      expect(Option.map(yield* store.current, Issuer.valueOf)).toEqual(Option.some(Issuer.secretOf(2)))
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("tries again when the backoff is over, and not before", () =>
    Effect.gen(function*() {
      const { issuer } = yield* begun
      yield* issuer.respondAlways(Effect.fail(unavailable))
      yield* Time.pass(windowStart + 16_000)
      const [, ...starts] = yield* issuer.starts
      expect(starts.map((at) => at - windowStart)).toEqual([0, 1_000, 3_000, 7_000, 15_000])
    }).pipe(Effect.provide(Issuer.layerProvider()), withFirstMoment))

  it.effect("has a token again after an outage beyond the expiry, with callers on the way", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.respondAlways(Effect.fail(unavailable))
      yield* Effect.repeatN(Effect.zipRight(Time.pass("10 seconds"), Effect.exit(provider.get)), 120)
      yield* issuer.respondAlways(undefined)
      yield* Time.pass("61 seconds")
      yield* provider.get
      const { state } = yield* provider.status
      expect(state).toBe("fresh")
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("rests when nothing used a token for a whole life", () =>
    Effect.gen(function*() {
      const { issuer } = yield* begun
      yield* Time.pass(10 * expiry)
      expect([yield* issuer.calls, yield* Time.timers]).toEqual([2, 0])
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("costs the first caller after a rest one exchange that it waits for", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* Time.pass(10 * expiry)
      yield* issuer.setLatency("1 second")
      const caller = yield* Effect.fork(provider.get)
      yield* Time.pass("1 second")
      expect([Issuer.valueOf(yield* Fiber.join(caller)), yield* issuer.calls]).toEqual([Issuer.secretOf(3), 3])
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("starts again with the next use after a rest", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* Time.pass(10 * expiry)
      yield* provider.get
      const before = yield* issuer.calls
      yield* Time.pass(windowStart + 50_001)
      expect([before, yield* issuer.calls]).toEqual([3, 4])
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("starts again with the use of the very token that it rested on", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* Time.pass("1880 seconds")
      const before = yield* issuer.calls
      yield* issuer.respondNext(Effect.fail(unavailable))
      yield* provider.get
      yield* Time.pass("2 seconds")
      expect([before, yield* issuer.calls]).toEqual([2, 4])
    }).pipe(Effect.provide(Issuer.layerProvider()), withFirstMoment))

  it.effect("looks at the wall clock again within a step after a machine was asleep", () =>
    Effect.gen(function*() {
      const clock = ManualClock.besides(yield* Effect.clock)
      const issuer = yield* Issuer.IssuerDouble
      const provider = yield* TokenProvider.make().pipe(Effect.withClock(clock))
      yield* Effect.withClock(provider.get, clock)
      yield* Time.pass("10 seconds")
      clock.wall += windowStart
      yield* Time.pass("59 seconds")
      expect(yield* issuer.calls).toBe(2)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Issuer.layer, TokenStore.layer)), withFirstMoment))

  it.effect("takes a store's token by its expiry, not by the time it was found", () =>
    Effect.gen(function*() {
      yield* Time.set(20 * 3_600_000)
      const { issuer, provider, store } = yield* Issuer.services
      yield* store.put(Issuer.token(9, 0, 24 * 3_600_000))
      yield* provider.get
      yield* Time.pass(4 * 3_600_000 - 300_001)
      const before = yield* issuer.calls
      yield* Time.pass(150_002)
      expect([before, yield* issuer.calls]).toEqual([0, 1])
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("tends a token that someone else put into the store once it is used", () =>
    Effect.gen(function*() {
      const { issuer, provider, store } = yield* begun
      yield* store.put(Issuer.token(9, 0, 100_000))
      yield* provider.get
      yield* Time.pass(95_001)
      expect([yield* issuer.calls, Option.map(yield* store.current, Issuer.valueOf)])
        .toEqual([2, Option.some(Issuer.secretOf(2))])
    }).pipe(Effect.provide(Issuer.layerProvider())))

  it.effect("does not spin over a store that keeps its stale token", () =>
    Effect.gen(function*() {
      yield* Time.set(windowStart)
      const issuer = yield* Issuer.IssuerDouble
      yield* issuer.setLatency("100 millis")
      const provider = yield* TokenProvider.make()
      yield* provider.get
      yield* Time.pass("60 seconds")
      expect(yield* issuer.calls).toBeLessThanOrEqual(7)
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.merge(Issuer.layer, TokenStore.layerStatic(Issuer.token(9, 0, expiry))))
    ))
})

const handedBack = Effect.map(Clock.currentTimeMillis, (now) => Issuer.token(1, now, expiry - now))

describe("a service that hands back the same token", () => {
  it.effect("is asked again by the Schedule after a tenth of the window", () =>
    Effect.gen(function*() {
      const { issuer } = yield* begun
      yield* issuer.respondAlways(handedBack)
      yield* Time.pass(windowStart + 45_000)
      const [, ...starts] = yield* issuer.starts
      expect(starts.map((at) => at - windowStart)).toEqual([0, 10_000, 20_000, 30_000, 40_000])
    }).pipe(Effect.provide(Issuer.layerProvider()), withFirstMoment))

  it.effect("is asked again by callers after a tenth of the window, not with each call", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.respondAlways(handedBack)
      yield* Time.set(windowStart)
      yield* Effect.repeatN(Effect.zipRight(provider.get, Time.pass("500 millis")), 89)
      const [, ...starts] = yield* issuer.starts
      expect(starts.map((at) => at - windowStart)).toEqual([0, 10_000, 20_000, 30_000, 40_000])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("is asked no more often by callers and Schedule together", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.respondAlways(handedBack)
      yield* Time.pass(windowStart)
      yield* Effect.repeatN(Effect.zipRight(provider.get, Time.pass("500 millis")), 89)
      const [, ...starts] = yield* issuer.starts
      expect(starts.map((at) => at - windowStart)).toEqual([0, 10_000, 20_000, 30_000, 40_000])
    }).pipe(Effect.provide(Issuer.layerProvider()), withFirstMoment))

  it.effect("goes on being used with that token", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.respondAlways(handedBack)
      yield* Time.set(windowStart)
      yield* provider.get
      yield* Time.set(marginStart - 1)
      expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(1))
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("has not failed", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.respondAlways(handedBack)
      yield* Time.set(windowStart)
      yield* provider.get
      yield* Time.pass(0)
      expect((yield* provider.status).lastFailure).toEqual(Option.none())
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("may say that it holds for longer, and is then believed", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.respondAlways(Issuer.issued(1, expiry))
      yield* Time.set(windowStart)
      yield* provider.get
      yield* Time.pass(0)
      expect((yield* provider.status).expiresAt).toEqual(Option.some(windowStart + expiry))
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("has its token judged by the whole life of it, not by what was left", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.respondAlways(Issuer.issued(1, 150_000))
      yield* Time.set(windowStart)
      yield* provider.get
      yield* Time.set(windowStart + 150_000 - 105_000)
      expect((yield* provider.status).state).toBe("stale")
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("is asked for another one at once when callers no longer have a token", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* begun
      yield* issuer.respondNext(handedBack)
      yield* Time.set(marginStart - 1)
      yield* provider.get
      yield* Time.pass("10 millis")
      expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(2))
    }).pipe(Effect.provide(Issuer.layerOnDemand)))
})

describe("of two tokens", () => {
  it.effect("a refresh keeps the current one where the new one ends earlier", () =>
    Effect.gen(function*() {
      const { issuer, provider, store } = yield* begun
      const first = yield* store.current
      yield* issuer.setLife(50_000)
      yield* Time.set(windowStart)
      yield* provider.get
      yield* Time.pass(0)
      expect([Option.getOrThrow(yield* store.current) === Option.getOrThrow(first), yield* issuer.calls])
        .toEqual([true, 2])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("a refresh takes the new one where it ends later", () =>
    Effect.gen(function*() {
      const { issuer, provider, store } = yield* begun
      yield* issuer.setLife(100_001)
      yield* Time.set(windowStart)
      yield* provider.get
      yield* Time.pass(0)
      expect(Option.map(yield* store.current, Issuer.valueOf)).toEqual(Option.some(Issuer.secretOf(2)))
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("a renewal after a rejection takes the new one though it ends earlier", () =>
    Effect.gen(function*() {
      const { issuer, provider, store } = yield* begun
      yield* issuer.setLife(50_000)
      const renewed = yield* provider.renew(yield* provider.get)
      expect([Issuer.valueOf(renewed), Option.map(yield* store.current, Issuer.valueOf)])
        .toEqual([Issuer.secretOf(2), Option.some(Issuer.secretOf(2))])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("a refresh that a rejection joined takes the new one though it ends earlier", () =>
    Effect.gen(function*() {
      const { issuer, provider, store } = yield* begun
      yield* issuer.setLife(50_000)
      yield* issuer.setLatency("1 second")
      yield* Time.set(windowStart)
      const used = yield* provider.get
      const renewal = yield* Effect.fork(provider.renew(used))
      yield* Time.pass("1 second")
      expect([
        Issuer.valueOf(yield* Fiber.join(renewal)),
        Option.map(yield* store.current, Issuer.valueOf),
        yield* issuer.calls
      ])
        .toEqual([Issuer.secretOf(2), Option.some(Issuer.secretOf(2)), 2])
    }).pipe(Effect.provide(Issuer.layerOnDemand)))

  it.effect("a refresh does not bring back one that a peer replaced meanwhile by a longer one", () =>
    Effect.gen(function*() {
      const { issuer, provider, store } = yield* begun
      yield* issuer.setLatency("1 second")
      yield* Time.set(windowStart)
      yield* provider.get
      yield* store.put(Issuer.token(9, windowStart, 5_000_000))
      yield* Time.pass("1 second")
      expect(Option.map(yield* store.current, Issuer.valueOf)).toEqual(Option.some(Issuer.secretOf(9)))
    }).pipe(Effect.provide(Issuer.layerOnDemand)))
})

describe("a Schedule of one's own", () => {
  const withSchedule = (schedule: RefreshPolicy.RefreshPolicy["schedule"]) => Issuer.layerProvider({ schedule })

  it.effect("gives an exchange each 10 minutes, although the token is fresh", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      yield* issuer.setLife(86_155_482)
      yield* provider.get
      yield* Time.pass("61 minutes")
      expect(yield* issuer.starts).toEqual(Arr.makeBy(7, (index) => index * 600_000))
    }).pipe(Effect.provide(withSchedule(Schedule.spaced("10 minutes")))))

  it.effect("is asked with the life of the current token", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      yield* provider.get
      yield* Time.pass("501 seconds")
      expect(yield* issuer.starts).toEqual([0, 500_000])
    }).pipe(Effect.provide(withSchedule(
      Schedule.identity<RefreshPolicy.Lifetime>().pipe(
        Schedule.addDelay(({ expiresAt, receivedAt }) => (expiresAt - receivedAt) / 2)
      )
    ))))

  /** With the times at which the Schedule was asked, in epoch milliseconds. */
  const asked = (use: Effect.Effect<unknown, unknown, Effect.Effect.Context<typeof Issuer.services>>) => {
    const times: Array<number> = []
    const schedule = Schedule.tapInput(
      Schedule.spaced("10 minutes"),
      () => Effect.map(Clock.currentTimeMillis, (now) => void times.push(now))
    )
    return Effect.as(use, times).pipe(Effect.provide(withSchedule(schedule)))
  }

  it.effect("is asked once for each token, however often it is used", () =>
    Effect.gen(function*() {
      const times = yield* asked(Effect.gen(function*() {
        const { issuer, provider } = yield* Issuer.services
        yield* issuer.setLife(86_155_482)
        yield* Effect.repeatN(Effect.zipRight(provider.get, Time.pass("1 minute")), 24)
      }))
      expect(times).toEqual([0, 600_000, 1_200_000])
    }))

  it.effect("is no longer kept to what it said of a token that a renewal replaced", () =>
    Effect.gen(function*() {
      const times = yield* asked(Effect.gen(function*() {
        const { issuer, provider } = yield* Issuer.services
        yield* issuer.setLife(86_155_482)
        const first = yield* provider.get
        yield* Time.pass("5 minutes")
        yield* provider.renew(first)
        yield* Time.pass("9 minutes")
      }))
      expect(times).toEqual([0, 300_000])
    }))

  it.effect("that ends leaves renewal to callers", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      yield* provider.get
      yield* Time.pass("450 seconds")
      const before = yield* issuer.calls
      yield* Time.pass(expiry)
      expect([before, yield* issuer.calls, Issuer.valueOf(yield* provider.get)]).toEqual([3, 3, Issuer.secretOf(4)])
    }).pipe(Effect.provide(withSchedule(Schedule.intersect(Schedule.spaced("100 seconds"), Schedule.recurs(2))))))

  it.effect("that dies leaves the result of a call as it is", () =>
    Effect.gen(function*() {
      const { provider } = yield* Issuer.services
      const tokens = yield* Effect.exit(
        Effect.repeatN(Effect.zipRight(provider.get, Time.pass("300 seconds")), 9)
      )
      expect(Exit.isSuccess(tokens)).toBe(true)
    }).pipe(Effect.provide(withSchedule(Schedule.mapEffect(Schedule.forever, () => Effect.dieMessage("broken"))))))

  it.effect("does not end the backoff", () =>
    Effect.gen(function*() {
      const { issuer } = yield* begun
      yield* issuer.respondAlways(Effect.fail(unavailable))
      yield* Time.pass("100 seconds")
      expect((yield* issuer.calls) - 1).toBeLessThanOrEqual(8)
    }).pipe(Effect.provide(withSchedule(Schedule.spaced("1 second")))))
})

describe("background: false", () => {
  it.effect("starts neither fiber nor timer", () =>
    Effect.gen(function*() {
      const before = yield* Time.fibers
      yield* Effect.gen(function*() {
        yield* begun
        yield* Time.pass("10 seconds")
        expect([(yield* Time.fibers) - before, yield* Time.timers]).toEqual([0, 0])
      }).pipe(Effect.provide(Issuer.layerOnDemand))
    }))

  it.effect("costs no exchange while nobody calls", () =>
    Effect.gen(function*() {
      const { issuer } = yield* begun
      yield* Time.pass(10 * expiry)
      expect(yield* issuer.calls).toBe(1)
    }).pipe(Effect.provide(Issuer.layerOnDemand)))
})

const client = (refresh: Partial<RefreshPolicy.RefreshPolicy> = { background: false }) =>
  NutritionAdvisor.make({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey, refresh })

describe("a search within the window", () => {
  it.scoped("is sent with the old token while an exchange brings the next one", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.setTokenLifetime(1_000)
      const { search } = yield* client()
      yield* search("oats")
      yield* simulator.setLatency("token", "5 seconds")
      yield* Time.set(windowStart)
      yield* Effect.all(Effect.replicate(search("oats"), 3))
      yield* Time.pass("5 seconds")
      yield* search("oats")
      const values = (yield* simulator.requests).filter(({ operation }) => operation === "search").map((
        { authorization }
      ) => Redacted.value(Option.getOrThrow(authorization)))
      expect([values.slice(0, 4).every((value) => value === values[0]), values[4] === values[0]])
        .toEqual([true, false])
      expect((yield* simulator.counters).exchanges).toBe(2)
    }).pipe(Effect.provide(Simulator.layerHttpClient())))

  it.scoped("keeps its token when an exchange answers 200 without one", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.setTokenLifetime(1_000)
      const { search } = yield* client()
      yield* search("oats")
      yield* simulator.respondAlways("token", { status: 200, body: { expires_in: 3_600, customer_id: "c" } })
      yield* Time.set(windowStart)
      yield* search("oats")
      yield* Time.set(marginStart - 1)
      yield* search("oats")
      expect((yield* simulator.counters).rejections).toBe(0)
    }).pipe(Effect.provide(Simulator.layerHttpClient())))

  it.scoped("sends a new customer identifier only with the token that came with it", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.setTokenLifetime(1_000)
      const { search } = yield* client()
      yield* search("oats")
      yield* simulator.setCustomerId("second-customer")
      yield* Time.set(windowStart)
      yield* search("oats")
      yield* Time.pass("1 second")
      yield* search("oats")
      const pairs = (yield* simulator.requests).filter(({ operation }) => operation === "search").map((request) =>
        [request.authorization, request.serviceId].map((header) => Redacted.value(Option.getOrThrow(header)))
      )
      expect(pairs.map(([value, id]) => [value === pairs[0]?.[0], id === "second-customer"]))
        .toEqual([[true, false], [true, false], [false, true]])
    }).pipe(Effect.provide(Simulator.layerHttpClient())))
})

describe("the predicate", () => {
  it("is the same for Schedule and callers: due at the first ms of the window", () => {
    const token = Issuer.token(1, 0, expiry)
    expect([windowStart - 1, windowStart].map((now) => AccessToken.stateAt(token, now, policyOf())))
      .toEqual(["fresh", "stale"])
  })
})
