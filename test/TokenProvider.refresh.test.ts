import { describe, expect, it } from "@effect/vitest"
import {
  Array as Arr,
  Clock,
  type Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Option,
  Random,
  Redacted,
  Schedule
} from "effect"
import { AccessToken, NutritionAdvisor, type RefreshPolicy, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "./doubles/arranged.js"
import * as Issuer from "./doubles/IssuerDouble.js"
import * as ManualClock from "./doubles/ManualClock.js"
import { policyOf } from "./doubles/policy.js"
import { cold, coldScheduled, fresh, freshScheduled, issuer, provider, store } from "./doubles/situations.js"
import * as Time from "./doubles/Time.js"

/** A life of 1000 s: the window begins 100 s and the margin 10 s before its end. */
const windowStart = 900_000
const marginStart = 990_000
const expiry = 1_000_000

const { unavailable } = Issuer

const withFirstMoment = Effect.withRandom(Random.fixed([0]))

const freshAtFirst = arranged(Issuer.begun, Issuer.layerProvider(), withFirstMoment)

const withLastMoment = Effect.withRandom(Random.fixed([1]))

describe("callers", () => {
  fresh("cost no exchange 1 s before the window", function*() {
    yield* Time.set(windowStart - 1_000)
    yield* Effect.all(Effect.replicate(provider.get, 100), { concurrency: "unbounded" })
    yield* Time.pass(0)
    expect(yield* issuer.calls).toBe(1)
  })

  fresh("are served at once within the window, and start one exchange", function*() {
    yield* issuer.setLatency("5 seconds")
    yield* Time.set(windowStart + 1_000)
    const served = yield* Effect.all(Effect.replicate(provider.get, 3))
    yield* Time.pass("5 seconds")
    expect([served.map(Issuer.valueOf), yield* issuer.calls])
      .toEqual([Arr.replicate(Issuer.secretOf(1), 3), 2])
  })

  fresh("are served the new token once the refresh has landed", function*() {
    yield* issuer.setLatency("5 seconds")
    yield* Time.set(windowStart + 1_000)
    yield* provider.get
    yield* Time.pass("5 seconds")
    expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(2))
  })

  fresh("go on being served when the one that started the refresh is interrupted", function*() {
    yield* issuer.setLatency("5 seconds")
    yield* Time.set(windowStart)
    yield* Fiber.interrupt(yield* Effect.fork(Effect.zipRight(provider.get, Effect.never)))
    yield* Fiber.interrupt(yield* Effect.fork(provider.get))
    yield* provider.get
    yield* Time.pass("5 seconds")
    expect([Issuer.valueOf(yield* provider.get), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  fresh("wait for a new token from the margin on", function*() {
    yield* issuer.setLatency("5 seconds")
    yield* Time.set(marginStart + 1)
    const caller = yield* Effect.fork(provider.get)
    yield* Time.pass("4 seconds")
    const during = yield* Fiber.poll(caller)
    yield* Time.pass("1 second")
    expect([during, Issuer.valueOf(yield* Fiber.join(caller))]).toEqual([Option.none(), Issuer.secretOf(2)])
  })

  fresh("name the token that the exchange is to replace", function*() {
    const first = yield* store.current
    yield* Time.set(windowStart)
    yield* provider.get
    yield* Time.pass(0)
    expect(yield* issuer.replaced).toEqual([Option.none(), first])
  })

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

  fresh.each(boundaries)(
    "at $at ms of 1,000,000: exchanges $exchanges, blocked $blocks",
    function*({ at, blocks, exchanges }) {
      yield* issuer.setLatency("1 second")
      yield* Time.set(at)
      const caller = yield* Effect.fork(provider.get)
      yield* Time.pass(0)
      expect([Option.isNone(yield* Fiber.poll(caller)), yield* issuer.calls]).toEqual([blocks, exchanges])
    }
  )

  coldScheduled("cost one exchange in 10 s of a life of 30 s, for the window is scaled to the life", function*() {
    yield* issuer.setLife(30_000)
    yield* Effect.repeatN(Effect.zipRight(provider.get, Time.pass("1 second")), 10)
    expect(yield* issuer.calls).toBe(1)
  })

  fresh("renew by themselves where there is no Schedule", function*() {
    yield* Time.set(marginStart - 1)
    const before = yield* issuer.calls
    yield* provider.get
    yield* Time.pass(0)
    expect([before, yield* issuer.calls]).toEqual([1, 2])
  })

  fresh("block once after three lives without a call where there is no Schedule", function*() {
    yield* Time.set(3 * expiry)
    expect([Issuer.valueOf(yield* provider.get), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  cold("never see the identifier of one token with the value of another", function*() {
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
  })

  coldScheduled("have one token and one exchange a life, however long they go on", function*() {
    yield* issuer.setLife(10_000)
    yield* Effect.repeatN(Effect.zipRight(provider.get, Time.pass("500 millis")), 200)
    const calls = yield* issuer.calls
    expect(calls).toBeGreaterThanOrEqual(10)
    expect(calls).toBeLessThanOrEqual(12)
  })
})

describe("a token that is expired on arrival", () => {
  cold("ends its caller in a typed failure after one exchange", function*() {
    yield* issuer.respondAlways(Issuer.issued(1, 0))
    const error = yield* Effect.flip(provider.get)
    expect([error._tag, yield* issuer.calls]).toEqual(["UnexpectedResponse", 1])
  })

  cold("is followed by a backoff like any failure", function*() {
    yield* issuer.respondAlways(Issuer.issued(1, 0))
    yield* Effect.repeatN(Effect.zipRight(Effect.exit(provider.get), Time.pass("500 millis")), 120)
    expect(yield* issuer.calls).toBeLessThanOrEqual(8)
  })

  cold("is never stored", function*() {
    yield* issuer.respondAlways(Issuer.issued(1, 0))
    yield* Effect.exit(provider.get)
    expect(yield* store.current).toEqual(Option.none())
  })

  coldScheduled("may be used where it lives for 0.2 s, at the cost of one exchange", function*() {
    yield* issuer.setLife(200)
    yield* Effect.all(Effect.replicate(provider.get, 10), { concurrency: "unbounded" })
    expect(yield* issuer.calls).toBe(1)
  })

  fresh("is replaced by one that holds, though that one ends earlier", function*() {
    yield* Time.set(marginStart + 1_000)
    yield* issuer.setLife(5_000)
    expect([Issuer.valueOf(yield* provider.get), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  fresh("costs a handful of exchanges where the service hands it back until its very end", function*() {
    yield* Time.set(marginStart)
    yield* issuer.respondAlways(
      Effect.map(Clock.currentTimeMillis, (now) => Issuer.token(1, now, expiry - now))
    )
    yield* Effect.repeatN(Effect.zipRight(Effect.exit(provider.get), Time.pass("100 millis")), 99)
    expect((yield* issuer.calls) - 1).toBeLessThanOrEqual(20)
  })
})

describe("the Schedule", () => {
  freshAtFirst("refreshes at the start of the window where chance says so, with nobody calling", function*() {
    yield* Time.pass(windowStart + 100)
    expect((yield* issuer.starts).slice(1)).toEqual([windowStart])
  })

  it.effect("refreshes in the middle of the window at the latest", () =>
    Effect.gen(function*() {
      const { issuer } = yield* Issuer.begun
      yield* Time.pass(windowStart + 50_100)
      expect((yield* issuer.starts).slice(1)).toEqual([windowStart + 50_000])
    }).pipe(Effect.provide(Issuer.layerProvider()), withLastMoment))

  freshScheduled("refreshes within the first half of the window by default", function*() {
    yield* Time.pass(windowStart - 1)
    const before = yield* issuer.calls
    yield* Time.pass(50_002)
    expect([before, yield* issuer.calls]).toEqual([1, 2])
  })

  freshScheduled("goes on from token to token while they are used", function*() {
    yield* Effect.repeatN(Effect.zipRight(Time.pass("100 seconds"), provider.get), 40)
    const starts = yield* issuer.starts
    const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
    expect(gaps.filter((gap) => gap < windowStart || gap > windowStart + 50_001)).toEqual([])
    expect(gaps.length).toBe(4)
  })

  coldScheduled("never waits for longer than a minute at once, though the token holds for a year", function*() {
    yield* issuer.setLife(31_536_000_000)
    yield* provider.get
    yield* Time.pass("90 seconds")
    const now = yield* Clock.currentTimeMillis
    const waits = (yield* Time.wakes).map((end) => end - now)
    expect(waits).toEqual([30_000])
  })

  coldScheduled("starts with the first token, not with the layer", function*() {
    yield* Time.pass("1 hour")
    expect([yield* issuer.calls, yield* Time.timers]).toEqual([0, 0])
  })

  freshAtFirst("costs one exchange together with a caller of the same moment", function*() {
    yield* issuer.setLatency("1 second")
    const caller = yield* Effect.fork(Effect.delay(provider.get, windowStart))
    yield* Time.pass(windowStart + 2_000)
    expect([Issuer.valueOf(yield* Fiber.join(caller)), yield* issuer.calls]).toEqual([Issuer.secretOf(1), 2])
  })

  freshScheduled("survives a refresh that failed", function*() {
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* Time.pass(marginStart - 1)
    expect([Option.map(yield* store.current, Issuer.valueOf), yield* issuer.calls])
      .toEqual([Option.some(Issuer.secretOf(2)), 3])
  })

  freshAtFirst("shows a refresh that failed in the status, with nobody calling", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.pass(windowStart)
    expect((yield* provider.status).lastFailure)
      .toEqual(Option.some({ error: unavailable, at: windowStart, retryAt: windowStart + 1_000 }))
  })

  freshScheduled("survives a refresh that died", function*() {
    yield* issuer.respondNext(Effect.dieMessage("the issuer is broken"))
    yield* Time.pass(marginStart - 1)
    expect(Option.map(yield* store.current, Issuer.valueOf)).toEqual(Option.some(Issuer.secretOf(2)))
  })

  freshAtFirst("tries again when the backoff is over, and not before", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.pass(windowStart + 16_000)
    const [, ...starts] = yield* issuer.starts
    expect(starts.map((at) => at - windowStart)).toEqual([0, 1_000, 3_000, 7_000, 15_000])
  })

  freshScheduled("has a token again after an outage beyond the expiry, with callers on the way", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Effect.repeatN(Effect.zipRight(Time.pass("10 seconds"), Effect.exit(provider.get)), 120)
    yield* issuer.respondAlways(undefined)
    yield* Time.pass("61 seconds")
    yield* provider.get
    const { state } = yield* provider.status
    expect(state).toBe("fresh")
  })

  freshScheduled("rests when nothing used a token for a whole life", function*() {
    yield* Time.pass(10 * expiry)
    expect([yield* issuer.calls, yield* Time.timers]).toEqual([2, 0])
  })

  freshScheduled("costs the first caller after a rest one exchange that it waits for", function*() {
    yield* Time.pass(10 * expiry)
    yield* issuer.setLatency("1 second")
    const caller = yield* Effect.fork(provider.get)
    yield* Time.pass("1 second")
    expect([Issuer.valueOf(yield* Fiber.join(caller)), yield* issuer.calls]).toEqual([Issuer.secretOf(3), 3])
  })

  freshScheduled("starts again with the next use after a rest", function*() {
    yield* Time.pass(10 * expiry)
    yield* provider.get
    const before = yield* issuer.calls
    yield* Time.pass(windowStart + 50_001)
    expect([before, yield* issuer.calls]).toEqual([3, 4])
  })

  freshAtFirst("starts again with the use of the very token that it rested on", function*() {
    yield* Time.pass("1880 seconds")
    const before = yield* issuer.calls
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* provider.get
    yield* Time.pass("2 seconds")
    expect([before, yield* issuer.calls]).toEqual([2, 4])
  })

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

  freshScheduled("tends a token that someone else put into the store once it is used", function*() {
    yield* store.put(Issuer.token(9, 0, 100_000))
    yield* provider.get
    yield* Time.pass(95_001)
    expect([yield* issuer.calls, Option.map(yield* store.current, Issuer.valueOf)])
      .toEqual([2, Option.some(Issuer.secretOf(2))])
  })

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
  freshAtFirst("is asked again by the Schedule after a tenth of the window", function*() {
    yield* issuer.respondAlways(handedBack)
    yield* Time.pass(windowStart + 45_000)
    const [, ...starts] = yield* issuer.starts
    expect(starts.map((at) => at - windowStart)).toEqual([0, 10_000, 20_000, 30_000, 40_000])
  })

  fresh("is asked again by callers after a tenth of the window, not with each call", function*() {
    yield* issuer.respondAlways(handedBack)
    yield* Time.set(windowStart)
    yield* Effect.repeatN(Effect.zipRight(provider.get, Time.pass("500 millis")), 89)
    const [, ...starts] = yield* issuer.starts
    expect(starts.map((at) => at - windowStart)).toEqual([0, 10_000, 20_000, 30_000, 40_000])
  })

  freshAtFirst("is asked no more often by callers and Schedule together", function*() {
    yield* issuer.respondAlways(handedBack)
    yield* Time.pass(windowStart)
    yield* Effect.repeatN(Effect.zipRight(provider.get, Time.pass("500 millis")), 89)
    const [, ...starts] = yield* issuer.starts
    expect(starts.map((at) => at - windowStart)).toEqual([0, 10_000, 20_000, 30_000, 40_000])
  })

  fresh("goes on being used with that token", function*() {
    yield* issuer.respondAlways(handedBack)
    yield* Time.set(windowStart)
    yield* provider.get
    yield* Time.set(marginStart - 1)
    expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(1))
  })

  fresh("has not failed", function*() {
    yield* issuer.respondAlways(handedBack)
    yield* Time.set(windowStart)
    yield* provider.get
    yield* Time.pass(0)
    expect((yield* provider.status).lastFailure).toEqual(Option.none())
  })

  fresh("may say that it holds for longer, and is then believed", function*() {
    yield* issuer.respondAlways(Issuer.issued(1, expiry))
    yield* Time.set(windowStart)
    yield* provider.get
    yield* Time.pass(0)
    expect((yield* provider.status).expiresAt).toEqual(Option.some(windowStart + expiry))
  })

  fresh("has its token judged by the whole life of it, not by what was left", function*() {
    yield* issuer.respondAlways(Issuer.issued(1, 150_000))
    yield* Time.set(windowStart)
    yield* provider.get
    yield* Time.set(windowStart + 150_000 - 105_000)
    expect((yield* provider.status).state).toBe("stale")
  })

  fresh("is asked for another one at once when callers no longer have a token", function*() {
    yield* issuer.respondNext(handedBack)
    yield* Time.set(marginStart - 1)
    yield* provider.get
    yield* Time.pass("10 millis")
    expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(2))
  })
})

describe("of two tokens", () => {
  fresh("a refresh keeps the current one where the new one ends earlier", function*() {
    const first = yield* store.current
    yield* issuer.setLife(50_000)
    yield* Time.set(windowStart)
    yield* provider.get
    yield* Time.pass(0)
    expect([Option.getOrThrow(yield* store.current) === Option.getOrThrow(first), yield* issuer.calls])
      .toEqual([true, 2])
  })

  fresh("a refresh takes the new one where it ends later", function*() {
    yield* issuer.setLife(100_001)
    yield* Time.set(windowStart)
    yield* provider.get
    yield* Time.pass(0)
    expect(Option.map(yield* store.current, Issuer.valueOf)).toEqual(Option.some(Issuer.secretOf(2)))
  })

  fresh("a renewal after a rejection takes the new one though it ends earlier", function*() {
    yield* issuer.setLife(50_000)
    const renewed = yield* provider.renew(yield* provider.get)
    expect([Issuer.valueOf(renewed), Option.map(yield* store.current, Issuer.valueOf)])
      .toEqual([Issuer.secretOf(2), Option.some(Issuer.secretOf(2))])
  })

  fresh("a refresh that a rejection joined takes the new one though it ends earlier", function*() {
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
  })

  fresh("a refresh does not bring back one that a peer replaced meanwhile by a longer one", function*() {
    yield* issuer.setLatency("1 second")
    yield* Time.set(windowStart)
    yield* provider.get
    yield* store.put(Issuer.token(9, windowStart, 5_000_000))
    yield* Time.pass("1 second")
    expect(Option.map(yield* store.current, Issuer.valueOf)).toEqual(Option.some(Issuer.secretOf(9)))
  })
})

describe("a Schedule of one's own", () => {
  const withSchedule = (schedule: RefreshPolicy.RefreshPolicy["schedule"]) => Issuer.layerProvider({ schedule })

  coldScheduled("gives an exchange each 10 minutes, although the token is fresh", function*() {
    yield* issuer.setLife(86_155_482)
    yield* provider.get
    yield* Time.pass("61 minutes")
    expect(yield* issuer.starts).toEqual(Arr.makeBy(7, (index) => index * 600_000))
  }, withSchedule(Schedule.spaced("10 minutes")))

  const inputs: Array<RefreshPolicy.Lifetime> = []

  coldScheduled(
    "is asked with the life of the current token, and with nothing else of it",
    function*() {
      yield* provider.get
      yield* Time.pass("501 seconds")
      expect(yield* issuer.starts).toEqual([0, 500_000])
      expect(inputs.map((life) => Object.keys(life).sort())).toEqual([
        ["expiresAt", "receivedAt"],
        ["expiresAt", "receivedAt"]
      ])
    },
    withSchedule(
      Schedule.identity<RefreshPolicy.Lifetime>().pipe(
        Schedule.addDelay(({ expiresAt, receivedAt }) => (expiresAt - receivedAt) / 2),
        Schedule.tapInput((life: RefreshPolicy.Lifetime) => Effect.sync(() => inputs.push(life)))
      )
    )
  )

  /** With the times at which the Schedule was asked, in epoch milliseconds. */
  const asked = (
    use: Effect.Effect<unknown, unknown, Effect.Effect.Context<typeof Issuer.services>>,
    interval: Duration.DurationInput = "10 minutes"
  ) => {
    const times: Array<number> = []
    const schedule = Schedule.tapInput(
      Schedule.spaced(interval),
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

  it.effect("is asked during a backoff as often as an exchange is tried", () =>
    Effect.gen(function*() {
      let calls = 0
      const times = yield* asked(
        Effect.gen(function*() {
          const { issuer, provider } = yield* Issuer.services
          yield* provider.get
          yield* issuer.respondAlways(Effect.fail(unavailable))
          yield* Time.pass("100 seconds")
          calls = yield* issuer.calls
        }),
        "1 second"
      )
      expect(times.length).toBeGreaterThan(3)
      expect(times.length).toBeLessThanOrEqual(calls)
    }))

  coldScheduled("that ends leaves renewal to callers", function*() {
    yield* provider.get
    yield* Time.pass("450 seconds")
    const before = yield* issuer.calls
    yield* Time.pass(expiry)
    expect([before, yield* issuer.calls, Issuer.valueOf(yield* provider.get)]).toEqual([3, 3, Issuer.secretOf(4)])
  }, withSchedule(Schedule.intersect(Schedule.spaced("100 seconds"), Schedule.recurs(2))))

  coldScheduled("that dies leaves the result of a call as it is", function*() {
    const tokens = yield* Effect.exit(
      Effect.repeatN(Effect.zipRight(provider.get, Time.pass("300 seconds")), 9)
    )
    expect(Exit.isSuccess(tokens)).toBe(true)
  }, withSchedule(Schedule.mapEffect(Schedule.forever, () => Effect.dieMessage("broken"))))

  freshScheduled("does not end the backoff", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.pass("100 seconds")
    expect((yield* issuer.calls) - 1).toBeLessThanOrEqual(8)
  }, withSchedule(Schedule.spaced("1 second")))
})

describe("background: false", () => {
  it.effect("starts neither fiber nor timer", () =>
    Effect.gen(function*() {
      const before = yield* Time.fibers
      yield* Effect.gen(function*() {
        yield* Issuer.begun
        yield* Time.pass("10 seconds")
        expect([(yield* Time.fibers) - before, yield* Time.timers]).toEqual([0, 0])
      }).pipe(Effect.provide(Issuer.layerOnDemand))
    }))

  fresh("costs no exchange while nobody calls", function*() {
    yield* Time.pass(10 * expiry)
    expect(yield* issuer.calls).toBe(1)
  })
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
