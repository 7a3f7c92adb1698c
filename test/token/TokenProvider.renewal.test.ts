import { describe, expect } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import type { NutritionAdvisorError } from "effect-nutrition-advisor"
import { added } from "../support/doubles/counters.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { cold, coolingDown, fresh, issuer, provider, store } from "../support/doubles/situations.js"
import * as Time from "../support/doubles/Time.js"

const windowStart = 900_000

const { unavailable } = Issuer

const reasonOf = (error: NutritionAdvisorError.TokenError) => error._tag === "Forbidden" ? error.reason : error._tag

describe("renew", () => {
  fresh("exchanges for another token and stores it, and tells the issuer which one was rejected", function*({ first }) {
    const renewed = yield* provider.renew(first)
    expect([Issuer.valueOf(renewed), Option.getOrThrow(yield* store.current) === renewed, yield* issuer.replaced])
      .toEqual([Issuer.secretOf(2), true, [Option.none(), Option.some(first)]])
  })

  fresh("takes the token that a peer has put into the store, without an exchange", function*({ first }) {
    yield* store.put(Issuer.token(9, 0, 1_000_000))
    expect([Issuer.valueOf(yield* provider.renew(first)), yield* issuer.calls]).toEqual([Issuer.secretOf(9), 1])
  })

  fresh("takes no expired token from the store", function*({ first }) {
    yield* Time.set(10_000)
    yield* store.put(Issuer.token(9, 0, 10_000))
    expect([Issuer.valueOf(yield* provider.renew(first)), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  fresh("is an ordinary exchange where the store is empty", function*({ first }) {
    yield* store.invalidate(first)
    expect([Issuer.valueOf(yield* provider.renew(first)), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  fresh("compares by the value of the token, not by its object", function*() {
    yield* provider.renew(Issuer.token(1, 5, 7))
    expect(yield* issuer.calls).toBe(2)
  })

  fresh.each([13, 2_048])(
    "costs one exchange for 500 rejections that yield every %s operations",
    function*(operations, { first }) {
      yield* Effect.all(Effect.replicate(provider.renew(first), 500), { concurrency: "unbounded" }).pipe(
        Effect.withMaxOpsBeforeYield(operations)
      )
      expect(yield* issuer.calls).toBe(2)
    }
  )

  fresh("makes callers without a rejection wait for the new token, too", function*({ first }) {
    yield* issuer.setLatency("9 seconds")
    yield* Effect.fork(provider.renew(first))
    yield* Time.pass("1 second")
    const caller = yield* Effect.fork(provider.get)
    yield* Time.pass("9 seconds")
    expect([Issuer.valueOf(yield* Fiber.join(caller)), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  fresh("fails with the error of its exchange, and puts the rejected token back", function*({ first }) {
    yield* issuer.respondNext(Effect.fail(unavailable))
    expect(yield* Effect.flip(provider.renew(first))).toEqual(unavailable)
    expect([yield* store.current, yield* provider.get]).toEqual([Option.some(first), first])
  })

  fresh("leaves nobody the rejected token while its exchange runs", function*({ first }) {
    yield* issuer.setLatency("1 second")
    yield* issuer.respondNext(Effect.fail(unavailable))
    const renewal = yield* Effect.fork(Effect.flip(provider.renew(first)))
    yield* Time.pass("500 millis")
    const during = yield* store.current
    yield* Time.pass("500 millis")
    yield* Fiber.join(renewal)
    expect([during, yield* store.current]).toEqual([Option.none(), Option.some(first)])
  })

  fresh("that fails gives callers who waited without a rejection the token that is back", function*({ first }) {
    yield* issuer.setLatency("1 second")
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* Effect.fork(provider.renew(first))
    yield* Time.pass(0)
    const caller = yield* Effect.fork(provider.get)
    yield* Time.pass("1 second")
    expect(yield* Fiber.join(caller)).toBe(first)
  })

  fresh("that fails with a defect puts the rejected token back, too", function*({ first }) {
    yield* issuer.respondNext(Effect.die("a bug"))
    yield* Effect.exit(provider.renew(first))
    expect(yield* provider.get).toBe(first)
  })

  fresh("that fails does not replace a token that has arrived meanwhile", function*({ first }) {
    const other = Issuer.token(9, 0, 1_000_000)
    yield* issuer.setLatency("1 second")
    yield* issuer.respondNext(Effect.fail(unavailable))
    const renewal = yield* Effect.fork(Effect.flip(provider.renew(first)))
    yield* Time.pass(0)
    yield* store.put(other)
    yield* Time.pass("1 second")
    yield* Fiber.join(renewal)
    expect(yield* store.current).toEqual(Option.some(other))
  })

  fresh("that fails gives nobody a token that has expired meanwhile", function*({ first }) {
    yield* issuer.setLatency("5 seconds")
    yield* Time.set(987_000)
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* Effect.fork(provider.renew(first))
    yield* Time.pass(0)
    const caller = yield* Effect.fork(Effect.flip(provider.get))
    yield* Time.pass("5 seconds")
    expect(yield* Fiber.join(caller)).toEqual(unavailable)
  })

  fresh("whose exchange can't be interrupted and hangs puts the rejected token back after tokenTimeout", function*(
    { first }
  ) {
    yield* issuer.respondNext(Effect.uninterruptible(Effect.never))
    const renewal = yield* Effect.fork(Effect.flip(provider.renew(first)))
    yield* Time.pass("10 seconds")
    expect(yield* Fiber.join(renewal)).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
    expect(yield* provider.get).toBe(first)
  })

  fresh("that hands back the rejected token ends all who joined as TokenUnchanged, and costs one exchange", function*(
    { first }
  ) {
    yield* issuer.respondAlways(Issuer.issued(1, 1_000_000))
    yield* issuer.setLatency("100 millis")
    const renewals = yield* Effect.fork(
      Effect.all(Effect.replicate(Effect.flip(provider.renew(first)), 50), { concurrency: "unbounded" })
    )
    yield* Time.pass("100 millis")
    expect([new Set((yield* Fiber.join(renewals)).map(reasonOf)), yield* issuer.calls])
      .toEqual([new Set(["TokenUnchanged"]), 2])
  })

  fresh("that joins a refresh which hands back the rejected token exchanges once more", function*({ first }) {
    yield* Time.set(windowStart)
    yield* issuer.setLatency("100 millis")
    yield* issuer.respondNext(Issuer.issued(1, 1_000_000))
    yield* provider.get
    const renewed = yield* Effect.fork(provider.renew(first))
    yield* Time.pass("200 millis")
    expect([Issuer.valueOf(yield* Fiber.join(renewed)), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 3])
  })
})

describe("a cool-down", () => {
  coolingDown("keeps its token in the store", function*({ held }) {
    yield* Effect.flip(provider.renew(held))
    expect(Option.getOrThrow(yield* store.current)).toBe(held)
  })

  coolingDown("does not hold up a refresh of the token", function*({ calls }) {
    yield* Time.set(windowStart)
    yield* provider.get
    yield* Time.pass(0)
    expect(yield* issuer.calls).toBe(calls + 1)
  })

  coolingDown("does not hold up a rejection of an older token, for that costs nothing", function*({ first, held }) {
    expect(yield* provider.renew(first)).toBe(held)
  })

  coolingDown("fails a renewal with Forbidden, reason CoolingDown", function*({ held }) {
    expect(yield* Effect.flip(provider.renew(held))).toMatchObject({ _tag: "Forbidden", reason: "CoolingDown" })
  })
})

describe("the counters", () => {
  cold("add up over success, stale serve, failure, same token and rejection", function*() {
    const script = Effect.gen(function*() {
      yield* issuer.respondNext(Effect.fail(unavailable))
      yield* Effect.flip(provider.get)
      yield* Time.pass("1 second")
      const first = yield* provider.get
      yield* Effect.repeatN(provider.get, 2)
      yield* Time.pass(windowStart)
      yield* issuer.respondNext(Issuer.issued(1, 100_000))
      yield* provider.get
      yield* Time.pass("10 seconds")
      yield* provider.get
      yield* Time.pass(0)
      const second = yield* provider.get
      yield* provider.renew(second)
      yield* provider.renew(first)
    })
    expect(yield* added(script)).toEqual({
      "token_exchanges_total ServerError failed missing": 1,
      "token_exchanges_total issued missing none": 1,
      "token_exchanges_total none refresh unchanged": 1,
      "token_exchanges_total issued none refresh": 1,
      "token_exchanges_total issued none rejection": 1
    })
  })
})
