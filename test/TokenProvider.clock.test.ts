import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option } from "effect"
import { type RefreshPolicy, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { arranged } from "./doubles/arranged.js"
import * as Issuer from "./doubles/IssuerDouble.js"
import * as ManualClock from "./doubles/ManualClock.js"
import { store } from "./doubles/situations.js"
import * as Time from "./doubles/Time.js"

const hour = 3_600_000

/** A provider of which the wall clock can be moved without a timer firing. */
const skewed = (policy?: Partial<RefreshPolicy.RefreshPolicy>) =>
  Effect.gen(function*() {
    yield* Time.set(100 * hour)
    const clock = ManualClock.besides(yield* Effect.clock)
    const { get } = yield* Effect.withClock(TokenProvider.make(policy), clock)
    yield* Effect.withClock(get, clock)
    return { clock, issuer: yield* Issuer.IssuerDouble, get: Effect.withClock(get, clock) }
  })

const doubles = Layer.merge(Issuer.layer, TokenStore.layer)

/** With the usual Schedule. */
const scheduled = arranged(skewed(), doubles)

/** Without the Schedule. */
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

  scheduled("leaves the Schedule able to refresh the next token too", function*({ clock, get, issuer }) {
    clock.wall += 8 * hour
    yield* get
    yield* Time.pass(950_001)
    expect(yield* issuer.calls).toBe(3)
  })

  onDemand("and back costs one exchange a jump, and no more", function*({ clock, get, issuer }) {
    clock.wall += 2 * hour
    yield* Effect.repeatN(get, 10)
    yield* Time.pass("1 second")
    clock.wall -= 2 * hour
    yield* Effect.repeatN(Effect.zipRight(get, Time.pass("1 second")), 20)
    expect(yield* issuer.calls).toBe(3)
  })
})

describe("a process that was stopped in the middle of an exchange, as a function is between two calls", () => {
  const stopped = (millis: number) =>
    Effect.gen(function*() {
      const { clock, get, issuer } = yield* skewed({ background: false })
      clock.wall += hour
      yield* issuer.setLatency("1 hour")
      const callers = yield* Effect.forkAll([get, get])
      yield* Time.pass("1 second")
      yield* issuer.setLatency(0)
      clock.wall += millis
      yield* Time.pass(9_100)
      return { end: yield* Effect.exit(Fiber.join(callers)), next: yield* Effect.exit(get), issuer }
    }).pipe(Effect.provide(doubles), Effect.scoped)

  it.effect("exchanges once more for those who wait, and begins no backoff", () =>
    Effect.gen(function*() {
      const { end, issuer, next } = yield* stopped(60_000)
      expect([Exit.map(end, (tokens) => tokens.map(Issuer.valueOf)), Exit.map(next, Issuer.valueOf)])
        .toEqual([Exit.succeed([Issuer.secretOf(2), Issuer.secretOf(2)]), Exit.succeed(Issuer.secretOf(2))])
      expect(yield* issuer.calls).toBe(3)
    }))

  it.effect("is not taken for one where the timer is a little late", () =>
    Effect.gen(function*() {
      const { end, issuer } = yield* stopped(1_000)
      expect([Exit.isFailure(end), yield* issuer.calls]).toEqual([true, 2])
    }))
})

describe("a wall clock that is set back", () => {
  scheduled("has the token refreshed by the Schedule within a minute", function*({ clock, issuer }) {
    clock.wall -= hour
    yield* Time.pass("1 minute")
    expect([yield* issuer.calls, Option.map(yield* store.current, Issuer.valueOf)])
      .toEqual([2, Option.some(Issuer.secretOf(2))])
  })

  scheduled("costs one exchange, not one a call", function*({ clock, get, issuer }) {
    clock.wall -= hour
    yield* Effect.repeatN(Effect.zipRight(get, Time.pass("1 second")), 70)
    expect(yield* issuer.calls).toBe(2)
  })
})
