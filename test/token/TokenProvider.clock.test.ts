import { describe, expect } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, TestClock } from "effect"
import { type RefreshPolicy, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { arranged } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import * as ManualClock from "../support/doubles/ManualClock.js"

const hour = 3_600_000

/** A provider whose clocks can be moved without firing a timer. */
const skewed = (policy?: RefreshPolicy.Options) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(100 * hour)
    const clock = ManualClock.over(yield* Effect.clock)
    const { get } = yield* Effect.withClock(TokenProvider.make(policy), clock)
    yield* Effect.withClock(get, clock)
    const store = yield* TokenStore.TokenStore
    return { clock, issuer: yield* Issuer.IssuerDouble, get: Effect.withClock(get, clock), store }
  })

const doubles = Layer.merge(Issuer.layer, TokenStore.layer)

const scheduled = arranged(skewed(), doubles)

const onDemand = arranged(skewed({ background: false }), doubles)

describe("wall clock that jumps forward, as after sleep mode", () => {
  onDemand("the next call waits for a new token, even though no timer has fired", function*({ clock, get, issuer }) {
    yield* issuer.setLatency("1 second")
    clock.wallOffset += 8 * hour
    const caller = yield* Effect.fork(get)
    yield* TestClock.adjust(0)
    expect(yield* Fiber.poll(caller)).toEqual(Option.none())
    yield* TestClock.adjust("1 second")
    expect(Issuer.valueOf(yield* Fiber.join(caller))).toBe(Issuer.secretOf(2))
  })

  scheduled("the background checks also refresh the next token", function*({ clock, get, issuer }) {
    clock.wallOffset += 8 * hour
    yield* get
    yield* TestClock.adjust(950_001)
    expect(yield* issuer.calls).toBe(3)
  })
})

/** A running exchange of two callers, one second after it has started and something has happened `meanwhile`. */
const exchanging = (first: Issuer.Outcome, meanwhile: (clock: ManualClock.ManualClock) => void) =>
  Effect.gen(function*() {
    const { clock, get, issuer } = yield* skewed({ background: false })
    clock.wallOffset += hour
    yield* issuer.respondNext(first)
    const callers = yield* Effect.forkAll([get, get])
    yield* TestClock.adjust("1 second")
    meanwhile(clock)
    return { callers, get, issuer }
  })

const hanging: Issuer.Outcome = Effect.never

const late: Issuer.Outcome = Effect.uninterruptible(Effect.zipRight(Effect.sleep("15 seconds"), Issuer.issued(7, hour)))

const test = arranged(Effect.void, doubles)

const timedOut = { _tag: "TransportError", reason: "Timeout" }

describe("caller whose clock is not the one of the TokenProvider, such as a TestClock", () => {
  test("a token that the TokenProvider's clock shows as fresh is not refreshed", function*() {
    yield* TestClock.setTime(100 * hour)
    const { get } = yield* TokenProvider.make({ background: false })
    yield* get
    yield* ManualClock.withOffset(-8 * hour, get)
    yield* TestClock.adjust("1 second")
    expect(yield* (yield* Issuer.IssuerDouble).calls).toBe(1)
  })

  test("a backoff ends when the TokenProvider's clock shows its end", function*() {
    const issuer = yield* Issuer.IssuerDouble
    const { get } = yield* TokenProvider.make({ background: false })
    yield* issuer.respondNext(Effect.fail(Issuer.unavailable))
    expect(yield* Effect.flip(get)).toEqual(Issuer.unavailable)
    expect(yield* Effect.flip(ManualClock.withOffset(8 * hour, get))).toEqual(Issuer.unavailable)
    expect(yield* issuer.calls).toBe(1)
  })
})

describe("exchange in a process that is suspended", () => {
  test("the exchange is repeated once, after 100 ms, when its client knows which connections are dead", function*() {
    const { callers, get, issuer } = yield* exchanging(hanging, (clock) => ManualClock.suspend(clock, 60_000))
    yield* TestClock.adjust(9_099)
    expect(yield* issuer.calls).toBe(2)
    yield* TestClock.adjust(1)
    const tokens = yield* Fiber.join(callers)
    expect([...tokens, yield* get].map(Issuer.valueOf)).toEqual(Array(3).fill(Issuer.secretOf(2)))
    expect(yield* issuer.calls).toBe(3)
  })

  test("the exchange is not repeated if its timer is only slightly late", function*() {
    const { callers, issuer } = yield* exchanging(hanging, (clock) => ManualClock.suspend(clock, 1_000))
    yield* TestClock.adjust(9_100)
    expect(yield* Effect.flip(Fiber.join(callers))).toMatchObject(timedOut)
    expect(yield* issuer.calls).toBe(2)
  })

  test("an uninterruptible exchange is repeated only after it has ended", function*() {
    const { callers, issuer } = yield* exchanging(late, (clock) => ManualClock.suspend(clock, 60_000))
    yield* TestClock.adjust(13_900)
    expect(yield* issuer.calls).toBe(2)
    yield* TestClock.adjust("1 second")
    expect(yield* issuer.calls).toBe(3)
    expect((yield* Fiber.join(callers)).map(Issuer.valueOf)).toEqual(Array(2).fill(Issuer.secretOf(2)))
  })
})

test.each([5_000, hour, -60_000])(
  "wall clock that is set by %i ms during an exchange: it times out after tokenTimeout and is not repeated",
  function*(millis) {
    const { callers, issuer } = yield* exchanging(hanging, (clock) => {
      clock.wallOffset += millis
    })
    yield* TestClock.adjust("8999 millis")
    expect(yield* Fiber.poll(callers)).toEqual(Option.none())
    yield* TestClock.adjust("1 millis")
    expect(yield* Effect.flip(Fiber.join(callers))).toMatchObject(timedOut)
    expect(yield* issuer.calls).toBe(2)
  }
)

scheduled(
  "wall clock that is set back: a background check refreshes the token within a minute",
  function*({ clock, issuer, store }) {
    // The first check is over.
    yield* TestClock.adjust("1 second")
    clock.wallOffset -= hour
    yield* TestClock.adjust("1 minute")
    expect(yield* issuer.calls).toBe(2)
    expect(Option.map(yield* store.current, Issuer.valueOf)).toEqual(Option.some(Issuer.secretOf(2)))
  }
)
