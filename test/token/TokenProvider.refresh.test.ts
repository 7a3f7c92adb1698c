import { describe, expect } from "@effect/vitest"
import { Effect, Fiber, Option, Random, TestClock } from "effect"
import { TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { arranged } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { withIssuer, withoutToken, withToken } from "../support/doubles/IssuerDouble.js"
import * as Time from "../support/doubles/Time.js"

/** A life of 1000 s: the window begins 100 s and the margin 10 s before its end. */
const windowStart = 900_000
const marginStart = 990_000
const expiry = 1_000_000

const { unavailable } = Issuer

const atFirst = Effect.withRandom(Random.fixed([0]))

/** The background checks come as early as possible. */
const freshAtFirst = arranged(Issuer.withFirstToken, Issuer.layerProvider(), atFirst)

const coldAtFirst = arranged(Issuer.providerServices, Issuer.layerProvider(), atFirst)

/** A call at the start of the window, and the end of the refresh that it starts. */
const refreshedByCaller = ({ get }: TokenProvider.Service) =>
  Effect.zipRight(TestClock.setTime(windowStart), Effect.zipLeft(get, TestClock.adjust(0)))

describe("refresh: token that is expired on arrival", () => {
  withoutToken(
    "the caller fails with Schema and the field expires_in, and the token is not stored",
    function*({ issuer, provider, store }) {
      yield* issuer.respondAlways(Issuer.issued(1, 0))
      expect(yield* Effect.flip(provider.get)).toMatchObject({ reason: "Schema", field: "expires_in" })
      expect(yield* store.current).toEqual(Option.none())
    }
  )

  withToken(
    "within the margin, a new valid token replaces the current one, even if it expires earlier",
    function*({ issuer, provider }) {
      yield* TestClock.setTime(marginStart + 1_000)
      yield* issuer.respondNext(Issuer.issued(2, 5_000))
      expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(2))
      expect(yield* issuer.calls).toBe(2)
    }
  )
})

/** A provider, and how often it has read its store. */
const countingReads = Effect.gen(function*() {
  const store = yield* TokenStore.make
  let reads = 0
  const current = Effect.zipRight(Effect.sync(() => reads++), store.current)
  const { get } = yield* Effect.provideService(TokenProvider.make(), TokenStore.TokenStore, { ...store, current })
  return { get, reads: () => reads }
})

describe("refresh: background checks", () => {
  withIssuer("the checks continue after the store has failed for a while", function*(issuer) {
    const store = yield* TokenStore.make
    let isDown = false
    const current = Effect.suspend(() => isDown ? Effect.die("no connection") : store.current)
    const { get, status } = yield* TokenProvider.make().pipe(
      Effect.provideService(TokenStore.TokenStore, { ...store, current })
    )
    yield* get
    isDown = true
    yield* TestClock.adjust("10 minutes")
    expect((yield* status).state).toBe("none")
    isDown = false
    yield* TestClock.adjust(windowStart)
    expect(yield* issuer.calls).toBe(2)
  })

  // Fixed random numbers: with fractions of a millisecond, the lifetime may appear shorter than 20 s.
  coldAtFirst.each<readonly [life: number, starts: ReadonlyArray<number>]>([
    [19_999, [0]],
    [20_000, [0, 18_000, 36_000, 54_000]]
  ])(
    "the checks refresh tokens only if they live at least 20 s: %d ms",
    function*([life, starts], { issuer, provider }) {
      yield* issuer.respondNext(...[1, 2, 3, 4].map((number) => Issuer.issued(number, life)))
      yield* provider.get
      yield* TestClock.adjust("60 seconds")
      expect(yield* issuer.starts).toEqual(starts)
    }
  )

  withIssuer("further calls don't add checks", function*() {
    const { get, reads } = yield* countingReads
    const getTwice = Effect.all([get, TestClock.adjust("1 second"), get, TestClock.adjust("1 second")])
    yield* getTwice
    const readsOfFirstCalls = reads()
    yield* getTwice
    expect(reads() - readsOfFirstCalls).toBe(2)
  })

  coldAtFirst("the checks start with the first token, not with the layer", function*({ issuer }) {
    yield* TestClock.adjust("1 hour")
    expect(yield* issuer.calls).toBe(0)
    expect(yield* Time.timers).toBe(0)
  })

  type First = (services: Effect.Effect.Success<typeof Issuer.providerServices>) => Effect.Effect<unknown, unknown>

  coldAtFirst.each<readonly [way: string, first: First]>([
    ["an exchange", ({ provider }) => provider.get],
    ["an exchange whose only caller is interrupted", ({ issuer, provider }) =>
      Effect.all([
        issuer.respondNext(Effect.delay(Issuer.issued(1, windowStart), "1 second")),
        Effect.flatMap(Effect.fork(provider.get), (caller) =>
          Effect.zipRight(TestClock.adjust(0), Fiber.interrupt(caller)))
      ])],
    ["a renewal", ({ provider }) => provider.renew(Issuer.token(9, 0, expiry))],
    ["the store, and is stale", ({ issuer, provider, store }) =>
      Effect.all([
        TestClock.setTime(marginStart - 1_000),
        store.put(Issuer.token(9, 0, expiry)),
        issuer.respondNext(Effect.fail(unavailable)),
        provider.get
      ])]
  ])("the checks also start if the first token comes from %s", function*([, first], services) {
    yield* first(services)
    yield* TestClock.adjust(windowStart)
    expect(yield* services.issuer.calls).toBe(2)
  })

  freshAtFirst("a refresh that has failed is retried at the first check after the backoff", function*({ issuer }) {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* TestClock.adjust(windowStart + 60_000)
    const [, ...starts] = yield* issuer.starts
    expect(starts.map((at) => at - windowStart)).toEqual([0, 20_000, 40_000, 60_000])
  })

  freshAtFirst(
    "the checks refresh a token that other code put into the store, once it is used",
    function*({ issuer, provider, store }) {
      yield* TestClock.adjust("1 minute")
      yield* store.put(Issuer.token(9, 60_000, 100_000))
      yield* provider.get
      yield* TestClock.adjust("95 seconds")
      expect(yield* issuer.calls).toBe(2)
      expect(Option.map(yield* store.current, Issuer.valueOf)).toEqual(Option.some(Issuer.secretOf(2)))
    }
  )

  withIssuer("the checks don't read the store while the token is fresh", function*() {
    const { get, reads } = yield* countingReads
    yield* Effect.zipRight(get, TestClock.adjust("1 minute"))
    const readAtFirst = reads()
    yield* TestClock.setTime(windowStart - 60_000)
    expect(reads()).toBe(readAtFirst)
  })
})

describe("refresh: choice between two tokens", () => {
  withToken.each<readonly [string, Issuer.Outcome]>([
    ["returns one that expires earlier", Issuer.issued(2, 50_000)],
    ["returns one from the future", Effect.succeed(Issuer.token(2, windowStart + 1, 5_000_000))],
    ["fails", Effect.fail(unavailable)]
  ])("the current one is kept if the refresh %s", function*([, outcome], { first, issuer, provider, store }) {
    yield* issuer.respondNext(outcome)
    yield* refreshedByCaller(provider)
    expect(Option.getOrThrow(yield* store.current)).toBe(first)
    expect(yield* issuer.calls).toBe(2)
  })

  withToken("a peer's token that expires later is kept", function*({ issuer, provider, store }) {
    yield* issuer.setLatency("1 second")
    yield* TestClock.setTime(windowStart)
    yield* Effect.zipRight(provider.get, TestClock.adjust(0))
    yield* store.put(Issuer.token(9, windowStart, 5_000_000))
    yield* TestClock.adjust("1 second")
    expect(Option.map(yield* store.current, Issuer.valueOf)).toEqual(Option.some(Issuer.secretOf(9)))
  })
})
