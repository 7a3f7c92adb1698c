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

describe("refresh: callers", () => {
  fresh("within the window they get the token at once, and start one exchange, whose token they get next", function*() {
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

describe("refresh: token that is expired on arrival", () => {
  cold("the caller fails with a typed error after one exchange, and the token is not stored", function*() {
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

  fresh("a valid token replaces it, even if that one expires earlier", function*() {
    yield* Time.set(marginStart + 1_000)
    yield* issuer.setLife(5_000)
    expect([Issuer.valueOf(yield* provider.get), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  fresh("it costs a few exchanges if the service returns it until its very end", function*() {
    yield* Time.set(marginStart)
    yield* issuer.respondAlways(
      Effect.map(Clock.currentTimeMillis, (now) => Issuer.token(1, now, expiry - now))
    )
    yield* Effect.repeatN(Effect.zipRight(Effect.exit(provider.get), Time.pass("100 millis")), 99)
    expect((yield* issuer.calls) - 1).toBeLessThanOrEqual(20)
  })
})

describe("refresh: Schedule", () => {
  freshAtFirst("an idle process refreshes at the start of the window if chance says so", function*() {
    yield* Time.pass(windowStart + 100)
    expect((yield* issuer.starts).slice(1)).toEqual([windowStart])
  })

  freshScheduled("it refreshes token after token while they are used", function*() {
    yield* Effect.repeatN(Effect.zipRight(Time.pass("100 seconds"), provider.get), 40)
    const starts = yield* issuer.starts
    const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
    expect(gaps.filter((gap) => gap < windowStart || gap > windowStart + 50_001)).toEqual([])
    expect(gaps.length).toBe(4)
  })

  coldScheduled("it checks once a minute, give or take a fifth, even if the token is valid for a year", function*() {
    yield* issuer.setLife(31_536_000_000)
    yield* provider.get
    yield* Time.pass("90 seconds")
    const now = yield* Clock.currentTimeMillis
    expect((yield* Time.wakes).filter((end) => end - now > 72_000)).toEqual([])
  })

  it.scoped("it continues after the store has failed for a while", () =>
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

  coldScheduled("tokens that live less than 20 s are left to callers", function*() {
    yield* issuer.setLife(19_999)
    yield* provider.get
    yield* Time.pass("10 minutes")
    expect(yield* issuer.calls).toBe(1)
  })

  // Looks at whole seconds: on a clock that shows fractions of a millisecond such a life may seem a hair shorter.
  coldAtFirst("an idle process refreshes a token that lives 20 s, and the next ones", function*() {
    yield* issuer.setLife(20_000)
    yield* provider.get
    yield* Time.pass("60 seconds")
    expect(yield* issuer.starts).toEqual([0, 18_000, 36_000, 54_000])
  })

  coldScheduled("it starts with the first token, not with the layer", function*() {
    yield* Time.pass("1 hour")
    expect([yield* issuer.calls, yield* Time.timers]).toEqual([0, 0])
  })

  freshAtFirst("in an idle process, the status shows a failed refresh", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.pass(windowStart)
    expect((yield* provider.status).lastFailure)
      .toEqual(Option.some({ error: unavailable, at: windowStart, retryAt: windowStart + 1_000 }))
  })

  freshAtFirst("it retries at its first check after the backoff", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.pass(windowStart + 60_000)
    const [, ...starts] = yield* issuer.starts
    expect(starts.map((at) => at - windowStart)).toEqual([0, 20_000, 40_000, 60_000])
  })

  freshAtFirst("callers at the same moment share its refresh", function*() {
    yield* issuer.setLatency("5 seconds")
    yield* Time.pass(windowStart)
    yield* Effect.replicateEffect(provider.get, 3)
    yield* Time.pass("5 seconds")
    expect([yield* issuer.calls, Issuer.valueOf(yield* provider.get)]).toEqual([2, Issuer.secretOf(2)])
  })

  freshScheduled("it refreshes a token that other code put into the store, once it is used", function*() {
    yield* store.put(Issuer.token(9, 0, 100_000))
    yield* provider.get
    yield* Time.pass(95_001)
    expect([yield* issuer.calls, Option.map(yield* store.current, Issuer.valueOf)])
      .toEqual([2, Option.some(Issuer.secretOf(2))])
  })

  it.effect("it does not loop over a store that keeps its stale token", () =>
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

describe("refresh: service that returns the same token", () => {
  freshAtFirst(
    "is asked again by the next look of the Schedule, a tenth of the window later at the earliest",
    function*() {
      yield* issuer.respondAlways(handedBack)
      yield* Time.pass(windowStart + 45_000)
      const [, ...starts] = yield* issuer.starts
      expect(starts.map((at) => at - windowStart)).toEqual([0, 20_000, 40_000])
    }
  )

  fresh("callers start another exchange after a tenth of the window, not with each call", function*() {
    yield* issuer.respondAlways(handedBack)
    yield* Time.set(windowStart)
    yield* Effect.repeatN(Effect.zipRight(provider.get, Time.pass("500 millis")), 89)
    const [, ...starts] = yield* issuer.starts
    expect(starts.map((at) => at - windowStart)).toEqual([0, 10_000, 20_000, 30_000, 40_000])
  })

  fresh("the token stays in use, and the refresh has not failed", function*() {
    yield* issuer.respondAlways(handedBack)
    yield* refreshedByCaller
    yield* Time.set(marginStart - 1)
    expect([Issuer.valueOf(yield* provider.get), (yield* provider.status).lastFailure])
      .toEqual([Issuer.secretOf(1), Option.none()])
  })

  fresh("a later expiry in the response is accepted", function*() {
    yield* issuer.respondAlways(Issuer.issued(1, expiry))
    yield* refreshedByCaller
    expect((yield* provider.status).expiresAt).toEqual(Option.some(windowStart + expiry))
  })

  fresh("the token is judged by its whole lifetime, not by what was left", function*() {
    yield* issuer.respondAlways(Issuer.issued(1, 150_000))
    yield* refreshedByCaller
    yield* Time.set(windowStart + 150_000 - 105_000)
    expect((yield* provider.status).state).toBe("stale")
  })

  fresh("another exchange starts at once if callers no longer have a token", function*() {
    yield* issuer.respondNext(handedBack)
    yield* Time.set(marginStart - 1)
    yield* provider.get
    yield* Time.pass("10 millis")
    expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(2))
  })
})

describe("refresh: choice between two tokens", () => {
  fresh("the current one is kept if the new one expires earlier", function*() {
    const first = yield* store.current
    yield* issuer.setLife(50_000)
    yield* refreshedByCaller
    expect([Option.getOrThrow(yield* store.current) === Option.getOrThrow(first), yield* issuer.calls])
      .toEqual([true, 2])
  })

  fresh("the current one is kept if the new one is from the future", function*() {
    yield* issuer.respondNext(Effect.succeed(Issuer.token(2, windowStart + 1, 5_000_000)))
    yield* refreshedByCaller
    expect([Option.map(yield* store.current, Issuer.valueOf), yield* issuer.calls])
      .toEqual([Option.some(Issuer.secretOf(1)), 2])
  })

  fresh("the current one is kept if the refresh fails", function*({ first }) {
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* refreshedByCaller
    expect([Option.getOrThrow(yield* store.current) === first, yield* issuer.calls]).toEqual([true, 2])
  })

  fresh("a longer one from a peer is not replaced by the refreshed one", function*() {
    yield* issuer.setLatency("1 second")
    yield* Time.set(windowStart)
    yield* provider.get
    yield* store.put(Issuer.token(9, windowStart, 5_000_000))
    yield* Time.pass("1 second")
    expect(Option.map(yield* store.current, Issuer.valueOf)).toEqual(Option.some(Issuer.secretOf(9)))
  })
})
