import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Clock, Context, Effect, Fiber, Layer, Option, Random, Ref } from "effect"
import { TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { arranged } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { cold, coldScheduled, fresh, freshScheduled, issuer, provider, store } from "../support/doubles/situations.js"
import * as Time from "../support/doubles/Time.js"

/** A life of 1000 s: the window begins 100 s and the margin 10 s before its end. */
const windowStart = 900_000
const marginStart = 990_000
const expiry = 1_000_000

const { unavailable } = Issuer

const atFirst = Effect.withRandom(Random.fixed([0]))

/** The Schedule refreshes as early as it may. */
const freshAtFirst = arranged(Issuer.begun, Issuer.layerProvider(), atFirst)

const coldAtFirst = arranged(Effect.void, Issuer.layerProvider(), atFirst)

/** A caller comes as the window begins, and the refresh that this starts has ended. */
const refreshedByCaller = Effect.zipRight(Time.set(windowStart), Effect.zipLeft(provider.get, Time.pass(0)))

describe("callers", () => {
  fresh("are served at once within the window, and start one exchange, whose token they are served then", function*() {
    const first = yield* store.current
    yield* issuer.setLatency("5 seconds")
    yield* Time.set(windowStart + 1_000)
    const served = yield* Effect.all(Effect.replicate(provider.get, 3))
    yield* Time.pass("5 seconds")
    expect(served.map(Issuer.valueOf)).toEqual(Arr.replicate(Issuer.secretOf(1), 3))
    expect([Issuer.valueOf(yield* provider.get), yield* issuer.replaced])
      .toEqual([Issuer.secretOf(2), [Option.none(), first]])
  })

  const boundaries = [
    { at: windowStart - 1, blocks: false, exchanges: 1 },
    { at: windowStart, blocks: false, exchanges: 2 },
    { at: marginStart - 1, blocks: false, exchanges: 2 },
    { at: marginStart, blocks: true, exchanges: 2 }
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
})

describe("a token that is expired on arrival", () => {
  cold("ends its caller in a typed failure after one exchange, and is not stored", function*() {
    yield* issuer.respondAlways(Issuer.issued(1, 0))
    const error = yield* Effect.flip(provider.get)
    expect([error._tag, yield* issuer.calls, yield* store.current]).toEqual(["UnexpectedResponse", 1, Option.none()])
  })

  cold("token exchange: an issuer that returns an expired token fails with the field expires_in", function*() {
    yield* issuer.respondAlways(Issuer.issued(1, 0))
    const error = yield* Effect.flip(provider.get)
    expect(error).toMatchObject({ operation: "token", reason: "Schema", field: "expires_in" })
    expect(error.message).toContain("expires_in")
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

  freshScheduled("goes on from token to token while they are used", function*() {
    yield* Effect.repeatN(Effect.zipRight(Time.pass("100 seconds"), provider.get), 40)
    const starts = yield* issuer.starts
    const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
    expect(gaps.filter((gap) => gap < windowStart || gap > windowStart + 50_001)).toEqual([])
    expect(gaps.length).toBe(4)
  })

  coldScheduled("looks once a minute, give or take a fifth, though the token holds for a year", function*() {
    yield* issuer.setLife(31_536_000_000)
    yield* provider.get
    yield* Time.pass("90 seconds")
    const now = yield* Clock.currentTimeMillis
    expect((yield* Time.wakes).filter((end) => end - now > 72_000)).toEqual([])
  })

  it.scoped("goes on after the store has died for a while", () =>
    Effect.gen(function*() {
      const store = yield* TokenStore.make
      const isDown = yield* Ref.make(false)
      const current = Effect.if(isDown, { onTrue: () => Effect.die("no connection"), onFalse: () => store.current })
      const layer = Layer.provideMerge(
        TokenProvider.layer(),
        Layer.succeed(TokenStore.TokenStore, { ...store, current })
      )
      const { get, status } = Context.get(yield* Layer.build(layer), TokenProvider.TokenProvider)
      yield* get
      yield* Ref.set(isDown, true)
      yield* Time.pass("10 minutes")
      expect((yield* status).state).toBe("none")
      yield* Ref.set(isDown, false)
      yield* Time.pass(windowStart)
      expect(yield* issuer.calls).toBe(2)
    }).pipe(Effect.provide(Issuer.layer)))

  coldScheduled("leaves lives under 20 s to callers", function*() {
    yield* issuer.setLife(19_999)
    yield* provider.get
    yield* Time.pass("10 minutes")
    expect(yield* issuer.calls).toBe(1)
  })

  // Looks at whole seconds: on a clock that shows fractions of a millisecond such a life may seem a hair shorter.
  coldAtFirst("refreshes a life of 20 s, and the next ones, with nobody calling", function*() {
    yield* issuer.setLife(20_000)
    yield* provider.get
    yield* Time.pass("60 seconds")
    expect(yield* issuer.starts).toEqual([0, 18_000, 36_000, 54_000])
  })

  coldScheduled("starts with the first token, not with the layer", function*() {
    yield* Time.pass("1 hour")
    expect([yield* issuer.calls, yield* Time.timers]).toEqual([0, 0])
  })

  freshAtFirst("shows a refresh that failed in the status, with nobody calling", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.pass(windowStart)
    expect((yield* provider.status).lastFailure)
      .toEqual(Option.some({ error: unavailable, at: windowStart, retryAt: windowStart + 1_000 }))
  })

  freshAtFirst("tries again when it looks after the backoff", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.pass(windowStart + 60_000)
    const [, ...starts] = yield* issuer.starts
    expect(starts.map((at) => at - windowStart)).toEqual([0, 20_000, 40_000, 60_000])
  })

  freshAtFirst("and callers who come at the same moment share one refresh", function*() {
    yield* issuer.setLatency("5 seconds")
    yield* Time.pass(windowStart)
    yield* Effect.replicateEffect(provider.get, 3)
    yield* Time.pass("5 seconds")
    expect([yield* issuer.calls, Issuer.valueOf(yield* provider.get)]).toEqual([2, Issuer.secretOf(2)])
  })

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
  freshAtFirst(
    "is asked again by the next look of the Schedule, a tenth of the window later at the earliest",
    function*() {
      yield* issuer.respondAlways(handedBack)
      yield* Time.pass(windowStart + 45_000)
      const [, ...starts] = yield* issuer.starts
      expect(starts.map((at) => at - windowStart)).toEqual([0, 20_000, 40_000])
    }
  )

  fresh("is asked again by callers after a tenth of the window, not with each call", function*() {
    yield* issuer.respondAlways(handedBack)
    yield* Time.set(windowStart)
    yield* Effect.repeatN(Effect.zipRight(provider.get, Time.pass("500 millis")), 89)
    const [, ...starts] = yield* issuer.starts
    expect(starts.map((at) => at - windowStart)).toEqual([0, 10_000, 20_000, 30_000, 40_000])
  })

  fresh("goes on being used with that token, and has not failed", function*() {
    yield* issuer.respondAlways(handedBack)
    yield* refreshedByCaller
    yield* Time.set(marginStart - 1)
    expect([Issuer.valueOf(yield* provider.get), (yield* provider.status).lastFailure])
      .toEqual([Issuer.secretOf(1), Option.none()])
  })

  fresh("may say that it holds for longer, and is then believed", function*() {
    yield* issuer.respondAlways(Issuer.issued(1, expiry))
    yield* refreshedByCaller
    expect((yield* provider.status).expiresAt).toEqual(Option.some(windowStart + expiry))
  })

  fresh("has its token judged by the whole life of it, not by what was left", function*() {
    yield* issuer.respondAlways(Issuer.issued(1, 150_000))
    yield* refreshedByCaller
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
    yield* refreshedByCaller
    expect([Option.getOrThrow(yield* store.current) === Option.getOrThrow(first), yield* issuer.calls])
      .toEqual([true, 2])
  })

  fresh("a refresh keeps the current one where the new one is from the future", function*() {
    yield* issuer.respondNext(Effect.succeed(Issuer.token(2, windowStart + 1, 5_000_000)))
    yield* refreshedByCaller
    expect([Option.map(yield* store.current, Issuer.valueOf), yield* issuer.calls])
      .toEqual([Option.some(Issuer.secretOf(1)), 2])
  })

  fresh("a refresh that fails leaves the current one where it is", function*({ first }) {
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* refreshedByCaller
    expect([Option.getOrThrow(yield* store.current) === first, yield* issuer.calls]).toEqual([true, 2])
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
