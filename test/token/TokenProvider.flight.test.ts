import { describe, expect } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, Scope, TestClock } from "effect"
import { NutritionAdvisorError, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { test } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { withIssuer, withoutToken } from "../support/doubles/IssuerDouble.js"
import * as Time from "../support/doubles/Time.js"

const { unavailable } = Issuer

const closed = new NutritionAdvisorError.TransportError({ operation: "token", reason: "Closed" })

describe("TokenProvider: a finished exchange", () => {
  withoutToken("no fiber is left, such as one that sleeps until the timeout", function*({ provider }) {
    const before = yield* Time.fibers
    yield* provider.get
    yield* TestClock.adjust(0)
    expect(yield* Time.fibers).toBe(before)
  })

  withoutToken(
    "callers during the backoff get their own error objects, even after one of them has modified its error",
    function*({ issuer, provider }) {
      yield* issuer.respondNext(Effect.fail(unavailable))
      const first = yield* Effect.flip(provider.get)
      const second = yield* Effect.flip(provider.get)
      Object.assign(second, { message: "of the second", user: "second" })
      const third = yield* Effect.flip(provider.get)
      expect(first).toEqual(unavailable)
      expect(third).toEqual(unavailable)
      expect(yield* issuer.calls).toBe(1)
      expect(third).not.toHaveProperty("user")
      expect(third.message).toBe(unavailable.message)
      expect(new Set([first, second, third]).size).toBe(3)
    }
  )

  withoutToken(
    "an error of the caller's own class keeps its fields, its message and its stack",
    function*({ issuer, provider }) {
      class VaultSealed extends NutritionAdvisorError.LicenseKeyUnavailable {
        constructor(readonly vault: { readonly name: string }) {
          super({ detail: `the vault ${vault.name} is sealed` })
        }
      }
      const sealed = Object.assign(new VaultSealed({ name: "north" }), { message: "Unseal the vault." })
      yield* issuer.respondNext(Effect.fail(sealed))
      const error = yield* Effect.flip(provider.get)
      expect(error).not.toBe(sealed)
      expect(error).toBeInstanceOf(VaultSealed)
      expect(error).toMatchObject({ vault: { name: "north" }, detail: "the vault north is sealed" })
      expect(error.message).toBe(sealed.message)
      expect(error.stack).toBe(sealed.stack)
    }
  )

  withoutToken.each<readonly [failure: unknown]>([["sealed"], [undefined]])(
    "if an issuer in JavaScript fails with %s, callers get a defect, and later callers a token",
    function*([failure], { issuer, provider }) {
      yield* issuer.respondNext(Effect.fail(failure as never))
      const waiters = yield* Effect.fork(Effect.all([Effect.exit(provider.get), Effect.exit(provider.get)], {
        concurrency: "unbounded"
      }))
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.poll(waiters)).toEqual(Option.some(Exit.succeed([Exit.die(failure), Exit.die(failure)])))
      expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(1))
    }
  )

  withIssuer(
    "a caller that read the store before the exchange ended doesn't start another exchange",
    function*(issuer) {
      const inner = yield* TokenStore.make
      const latch = yield* Effect.makeLatch()
      let isFirstRead = true
      const current = Effect.tap(inner.current, () => {
        const isHeld = isFirstRead
        isFirstRead = false
        return isHeld ? latch.await : Effect.void
      })
      const { get } = yield* TokenProvider.make({ background: false }).pipe(
        Effect.provideService(TokenStore.TokenStore, { ...inner, current })
      )
      const early = yield* Effect.fork(get)
      yield* Effect.yieldNow()
      const other = yield* get
      yield* latch.open
      expect(yield* Fiber.join(early)).toBe(other)
      expect(yield* issuer.calls).toBe(1)
    }
  )
})

withoutToken(
  "TokenProvider: an interrupted caller ends immediately, and the exchange continues for later callers",
  function*({ issuer, provider, store }) {
    yield* issuer.setLatency("9 seconds")
    const first = yield* Effect.fork(provider.get)
    yield* TestClock.adjust("1 second")
    const second = yield* Effect.fork(provider.get)
    yield* TestClock.adjust("1 second")
    const exit = yield* Effect.zipRight(Fiber.interruptAll([first, second]), Fiber.await(second))
    expect(Exit.isInterrupted(exit)).toBe(true)
    expect(yield* store.current).toEqual(Option.none())
    const third = yield* Effect.fork(provider.get)
    yield* TestClock.adjust("8 seconds")
    expect(Issuer.valueOf(yield* Fiber.join(third))).toBe(Issuer.secretOf(1))
    expect(yield* issuer.calls).toBe(1)
    expect(yield* issuer.interrupted).toBe(0)
  }
)

describe("a TokenProvider whose scope closes", () => {
  const opened = Effect.gen(function*() {
    const scope = yield* Scope.make()
    const beside = Layer.effectDiscard(Effect.yieldNow())
    const context = yield* Layer.buildWithScope(Layer.merge(Issuer.layerProvider(), beside), scope)
    return { close: Scope.close(scope, Exit.void), ...yield* Effect.provide(Issuer.providerServices, context) }
  })

  test("pending and later calls fail with reason Closed, and no token is stored", function*() {
    const { close, issuer, provider, store } = yield* opened
    yield* issuer.setLatency("10 seconds")
    const waiters = yield* Effect.replicateEffect(Effect.fork(Effect.flip(provider.get)), 10)
    yield* TestClock.adjust("1 second")
    yield* close
    const later = yield* Effect.fork(Effect.flip(provider.get))
    yield* TestClock.adjust("1 minute")
    const errors = yield* Effect.all([...waiters, later].map(Fiber.join))
    expect(errors).toEqual(Array(11).fill(closed))
    expect(yield* issuer.interrupted).toBe(1)
    expect(yield* store.current).toEqual(Option.none())
  })

  test("no fiber or timer is left that would keep a script running, even with another open layer", function*() {
    const before = yield* Time.fibers
    const { close, provider } = yield* opened
    yield* provider.get
    yield* TestClock.adjust("10 seconds")
    expect(yield* Time.timers).toBe(1)
    yield* close
    expect(yield* Time.fibers).toBe(before)
    yield* TestClock.adjust("2 minutes")
    expect(yield* Time.timers).toBe(0)
  })
})
