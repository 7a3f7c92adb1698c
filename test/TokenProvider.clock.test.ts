import { describe, expect } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { type AccessToken, type RefreshPolicy, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { arranged } from "./doubles/arranged.js"
import { renewTwice } from "./doubles/coolDown.js"
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
    const { get, renew } = yield* Effect.withClock(TokenProvider.make(policy), clock)
    yield* Effect.withClock(get, clock)
    return {
      clock,
      issuer,
      store,
      get: Effect.withClock(get, clock),
      renew: (token: AccessToken.AccessToken) => Effect.withClock(renew(token), clock)
    }
  })

const doubles = Layer.merge(Issuer.layer, TokenStore.layer)

/** With the usual Schedule. */
const scheduled = arranged(skewed(), doubles)

/** With renewal left to callers. */
const onDemand = arranged(skewed({ background: false }), doubles)

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

  onDemand("does not hold the cool-down open", function*({ clock, get, issuer, renew }) {
    const held = yield* renewTwice({ renew }, yield* get)
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
