import { describe, expect } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import { arranged } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { withoutToken, withToken } from "../support/doubles/IssuerDouble.js"
import { counterChanges } from "../support/doubles/metrics.js"

const windowStart = 900_000

const { unavailable } = Issuer

describe("TokenProvider.renew", () => {
  withToken("an expired token in the store is not used", function*({ first, issuer, provider, store }) {
    yield* TestClock.setTime(10_000)
    yield* store.put(Issuer.token(9, 0, 10_000))
    expect(Issuer.valueOf(yield* provider.renew(first))).toBe(Issuer.secretOf(2))
    expect(yield* issuer.calls).toBe(2)
  })

  withToken.each([13, 2_048])(
    "500 concurrent rejections share one exchange (operations before a fiber yields: %s)",
    function*(operations, { first, issuer, provider }) {
      yield* Effect.all(Effect.replicate(provider.renew(first), 500), { concurrency: "unbounded" }).pipe(
        Effect.withMaxOpsBeforeYield(operations)
      )
      expect(yield* issuer.calls).toBe(2)
    }
  )

  withToken.each<readonly [token: string, outcome: Issuer.Outcome, number: number]>([
    ["the new token", Issuer.issued(2, 1_000_000), 2],
    ["the rejected token if the exchange fails", Effect.fail(unavailable), 1]
  ])(
    "callers without a rejection also wait for the exchange, and get %s",
    function*([, outcome, number], { first, issuer, provider }) {
      yield* issuer.setLatency("9 seconds")
      yield* issuer.respondNext(outcome)
      yield* Effect.fork(provider.renew(first))
      yield* TestClock.adjust("1 second")
      const caller = yield* Effect.fork(provider.get)
      yield* TestClock.adjust("9 seconds")
      expect(Issuer.valueOf(yield* Fiber.join(caller))).toBe(Issuer.secretOf(number))
      expect(yield* issuer.calls).toBe(2)
    }
  )

  withToken.each<readonly [string, Issuer.Outcome]>([
    ["fails", Effect.fail(unavailable)],
    ["dies", Effect.die("a bug")],
    ["hangs until tokenTimeout and can't be interrupted", Effect.uninterruptible(Effect.never)]
  ])("the rejected token is put back if the exchange %s", function*([, outcome], { first, issuer, provider }) {
    yield* issuer.respondNext(outcome)
    yield* Effect.fork(provider.renew(first))
    yield* TestClock.adjust("10 seconds")
    expect(yield* provider.get).toBe(first)
  })

  withToken(
    "a failure does not replace a token that has arrived in the meantime",
    function*({ first, issuer, provider, store }) {
      const other = Issuer.token(9, 0, 1_000_000)
      yield* issuer.setLatency("1 second")
      yield* issuer.respondNext(Effect.fail(unavailable))
      const renewal = yield* Effect.fork(Effect.flip(provider.renew(first)))
      yield* TestClock.adjust(0)
      yield* store.put(other)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(renewal)
      expect(yield* store.current).toEqual(Option.some(other))
    }
  )

  withToken(
    "if a running refresh returns the rejected token, one more exchange follows",
    function*({ first, issuer, provider }) {
      yield* TestClock.setTime(windowStart)
      yield* issuer.setLatency("100 millis")
      yield* issuer.respondNext(Issuer.issued(1, 1_000_000))
      yield* provider.get
      const renewed = yield* Effect.fork(provider.renew(first))
      yield* TestClock.adjust("200 millis")
      expect(Issuer.valueOf(yield* Fiber.join(renewed))).toBe(Issuer.secretOf(2))
      expect(yield* issuer.calls).toBe(3)
    }
  )
})

describe("TokenProvider: the cool-down after two renewals", () => {
  /** `held` is the token of the second renewal, and `calls` is the number of exchanges. */
  const secondRenewal = Effect.gen(function*() {
    const services = yield* Issuer.withFirstToken
    const held = yield* Effect.flatMap(services.provider.renew(services.first), services.provider.renew)
    return { ...services, held, calls: yield* services.issuer.calls }
  })

  const coolingDown = arranged(secondRenewal, Issuer.layerOnDemand)

  withToken("renewals that join an exchange don't count toward it", function*({ first, issuer, provider }) {
    yield* issuer.setLatency("1 second")
    const joined = yield* Effect.forkAll([provider.renew(first), provider.renew(first), provider.renew(first)])
    yield* TestClock.adjust("1 second")
    const [held = first] = yield* Fiber.join(joined)
    const next = yield* Effect.fork(provider.renew(held))
    yield* TestClock.adjust("1 second")
    expect(Issuer.valueOf(yield* Fiber.join(next))).toBe(Issuer.secretOf(3))
  })

  coolingDown("a refresh is not delayed", function*({ calls, issuer, provider }) {
    yield* TestClock.setTime(windowStart)
    yield* provider.get
    yield* TestClock.adjust(0)
    expect(yield* issuer.calls).toBe(calls + 1)
  })

  coolingDown("the rejection of an older token is not delayed", function*({ first, held, provider }) {
    expect(yield* provider.renew(first)).toBe(held)
  })
})

withoutToken(
  "metrics of exchanges: successes, failures, unchanged tokens and rejections are counted once each",
  function*({ issuer, provider }) {
    const script = Effect.gen(function*() {
      yield* issuer.respondNext(Effect.fail(unavailable))
      yield* Effect.flip(provider.get)
      yield* TestClock.adjust("1 second")
      const first = yield* provider.get
      yield* Effect.repeatN(provider.get, 2)
      yield* TestClock.adjust(windowStart)
      yield* issuer.respondNext(Issuer.issued(1, 100_000))
      yield* provider.get
      yield* TestClock.adjust("10 seconds")
      yield* provider.get
      yield* TestClock.adjust(0)
      const second = yield* provider.get
      yield* provider.renew(second)
      yield* provider.renew(first)
    })
    expect(yield* counterChanges(script)).toEqual({
      "token_exchanges_total ServerError failed missing": 1,
      "token_exchanges_total issued missing none": 1,
      "token_exchanges_total none refresh unchanged": 1,
      "token_exchanges_total issued none refresh": 1,
      "token_exchanges_total issued none rejection": 1
    })
  }
)
