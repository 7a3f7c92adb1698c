import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { type AccessToken, type RefreshPolicy, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { arranged } from "./doubles/arranged.js"
import { rejectUntilHeldUp } from "./doubles/coolDown.js"
import * as Issuer from "./doubles/IssuerDouble.js"
import * as ManualClock from "./doubles/ManualClock.js"
import * as Time from "./doubles/Time.js"

const { unavailable } = Issuer

const hour = 3_600_000

/** A provider of which the wall clock can be moved without a timer firing. */
const skewed = (policy?: Partial<RefreshPolicy.RefreshPolicy>) =>
  Effect.gen(function*() {
    yield* Time.set(100 * hour)
    const clock = ManualClock.besides(yield* Effect.clock)
    const issuer = yield* Issuer.IssuerDouble
    const store = yield* TokenStore.TokenStore
    const { get, renew, settled } = yield* Effect.withClock(TokenProvider.make(policy), clock)
    yield* Effect.withClock(get, clock)
    return {
      clock,
      issuer,
      store,
      get: Effect.withClock(get, clock),
      renew: (token: AccessToken.AccessToken) => Effect.withClock(renew(token), clock),
      settled: (token: AccessToken.AccessToken, outcome: TokenProvider.TokenOutcome) =>
        Effect.withClock(settled(token, outcome), clock)
    }
  })

const doubles = Layer.merge(Issuer.layer, TokenStore.layer)

/** With the usual Schedule. */
const scheduled = arranged(skewed(), doubles)

/** With renewal left to callers. */
const onDemand = arranged(skewed({ background: false }), doubles)

describe("a wall clock that says what is no date", () => {
  it.effect.each([Number.NaN, Infinity, 1e300])(
    "leaves the error of an exchange as it is, and its warning without a time: %d",
    (time) =>
      Effect.gen(function*() {
        const issuer = yield* Issuer.IssuerDouble
        yield* issuer.respondAlways(Effect.fail(unavailable))
        const clock = ManualClock.besides(yield* Effect.clock)
        clock.wall = time
        const { get } = yield* Effect.withClock(TokenProvider.make(), clock)
        expect(yield* Effect.flip(Effect.withClock(get, clock))).toBe(unavailable)
      }).pipe(Effect.scoped, Effect.provide(doubles))
  )
})

describe("a wall clock that jumps forward, as after a sleep", () => {
  onDemand("makes the next call wait for a new token, with no timer having fired", function*({ clock, get, issuer }) {
    yield* issuer.setLatency("1 second")
    clock.wall += 8 * hour
    const caller = yield* Effect.fork(get)
    yield* Time.pass(0)
    const during = yield* Fiber.poll(caller)
    yield* Time.pass("1 second")
    expect([during, Issuer.valueOf(yield* Fiber.join(caller))]).toEqual([Option.none(), Issuer.secretOf(2)])
  })

  scheduled("is seen by the Schedule within a minute", function*({ clock, issuer }) {
    yield* Time.pass("90 seconds")
    clock.wall += 860_000
    yield* Time.pass("30 seconds")
    expect(yield* issuer.calls).toBe(2)
  })

  scheduled("leaves the Schedule able to refresh the next token too", function*({ clock, get, issuer }) {
    clock.wall += 8 * hour
    yield* get
    yield* Time.pass(950_001)
    expect(yield* issuer.calls).toBe(3)
  })

  onDemand("ends the backoff, for the time has passed", function*({ clock, get, issuer, store }) {
    yield* store.invalidate(yield* get)
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* Effect.flip(get)
    clock.wall += 1_000
    yield* get
    expect(yield* issuer.calls).toBe(3)
  })

  onDemand("and back costs one exchange a jump, and no more", function*({ clock, get, issuer }) {
    clock.wall += 2 * hour
    yield* Effect.repeatN(get, 10)
    yield* Time.pass("1 second")
    clock.wall -= 2 * hour
    yield* Effect.repeatN(Effect.zipRight(get, Time.pass("1 second")), 100)
    expect(yield* issuer.calls).toBe(3)
  })

  onDemand("and back leaves no backoff hours ahead", function*({ clock, get, issuer, store }) {
    clock.wall += 2 * hour
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* Effect.flip(get)
    clock.wall -= 2 * hour
    yield* Time.pass("1 second")
    yield* store.invalidate(yield* get)
    yield* get
    expect(yield* issuer.calls).toBe(3)
  })
})

describe("a wall clock that is set back", () => {
  onDemand("has the token renewed, while it goes on being served", function*({ clock, get, issuer }) {
    yield* issuer.setLatency("1 second")
    clock.wall -= hour
    const during = yield* get
    yield* Time.pass("1 second")
    expect([Issuer.valueOf(during), Issuer.valueOf(yield* get), yield* issuer.calls])
      .toEqual([Issuer.secretOf(1), Issuer.secretOf(2), 2])
  })

  scheduled("has the token renewed by the Schedule within a minute", function*({ clock, issuer, store }) {
    clock.wall -= hour
    yield* Time.pass("1 minute")
    expect([yield* issuer.calls, Option.map(yield* store.current, Issuer.valueOf)])
      .toEqual([2, Option.some(Issuer.secretOf(2))])
  })

  scheduled("costs one exchange, not one a call", function*({ clock, get, issuer }) {
    clock.wall -= hour
    yield* Effect.repeatN(Effect.zipRight(get, Time.pass("1 second")), 200)
    expect(yield* issuer.calls).toBe(2)
  })

  onDemand("does not make the backoff longer", function*({ clock, get, issuer, store }) {
    yield* store.invalidate(yield* get)
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* Effect.flip(get)
    clock.wall -= hour
    yield* Time.pass("1 second")
    yield* get
    expect(yield* issuer.calls).toBe(3)
  })

  onDemand("does not hold the cool-down open", function*({ clock, get, issuer, renew, settled }) {
    const held = yield* rejectUntilHeldUp({ renew, settled }, yield* get)
    const calls = yield* issuer.calls
    clock.wall -= hour
    yield* Time.pass("1 minute")
    expect([Issuer.valueOf(yield* renew(held)), yield* issuer.calls]).toEqual([Issuer.secretOf(calls + 1), calls + 1])
  })

  onDemand("does not stretch the wait after an unchanged token", function*({ clock, get, issuer }) {
    yield* Time.pass("900 seconds")
    yield* issuer.respondNext(Issuer.issued(1, 100_000))
    yield* get
    yield* Time.pass(0)
    clock.wall -= hour
    yield* get
    yield* Time.pass(0)
    expect(yield* issuer.calls).toBe(3)
  })
})

describe("a clock that was set back after the last use", () => {
  scheduled("does not keep the Schedule from its rest", function*({ clock, issuer }) {
    clock.wall -= 10 * hour
    yield* Time.pass("3000 seconds")
    const before = yield* issuer.calls
    yield* Time.pass("3000 seconds")
    expect([before, yield* issuer.calls]).toEqual([3, 3])
  })
})

describe("an event loop that stalls while a token lands", () => {
  /** A provider whose next so many tokens, of 0.2 s each, are a second old before anyone can use them. */
  const stalling = (times: number) =>
    Effect.gen(function*() {
      const clock = ManualClock.besides(yield* Effect.clock)
      const issuer = yield* Issuer.IssuerDouble
      const inner = yield* TokenStore.make
      yield* issuer.setLife(200)
      let left = times
      const { get } = yield* Effect.withClock(TokenProvider.make({ background: false }), clock).pipe(
        Effect.provideService(TokenStore.TokenStore, {
          ...inner,
          put: (token) =>
            Effect.tap(inner.put(token), () =>
              Effect.sync(() => {
                clock.wall += left > 0 ? 1_000 : 0
                left -= 1
              }))
        })
      )
      return { get: Effect.withClock(get, clock), issuer }
    })

  const test = arranged(Effect.void, Issuer.layer)

  test("has the caller wait for the next token", function*() {
    const { get, issuer } = yield* stalling(1)
    expect([Issuer.valueOf(yield* get), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  test("ends the caller in a typed failure after three tokens in a row", function*() {
    const { get, issuer } = yield* stalling(Number.POSITIVE_INFINITY)
    expect(yield* Effect.flip(get)).toMatchObject({ _tag: "UnexpectedResponse", operation: "token", reason: "Schema" })
    expect(yield* issuer.calls).toBe(3)
  })
})
