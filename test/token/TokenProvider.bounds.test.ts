/** Issuers and stores that hang, die, or can't be interrupted. Callers are daemons, because a failed test would wait for its own fibers. */
import { describe, expect } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Scope, TestClock } from "effect"
import { NutritionAdvisorError, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { withIssuer } from "../support/doubles/IssuerDouble.js"

type Call = "issue" | "current" | "put" | "invalidate"

interface Options extends TokenProvider.Options {
  /** Whether the caller's token was rejected. Otherwise, the caller has none. */
  readonly isRejected?: boolean
}

/** A caller of a provider whose issuer or store runs `fault` before one of its calls. The provider is made as in `acquireRelease`. */
const withFault = (
  call: Call,
  fault: Effect.Effect<unknown>,
  { isRejected = call === "invalidate", ...options }: Options = {}
) =>
  Effect.gen(function*() {
    const inner = yield* TokenStore.make
    const { issue } = yield* TokenIssuer.TokenIssuer
    const faults: { [K in Call]?: Effect.Effect<unknown> | undefined } = {}
    const after = <A, E>(call: Call, effect: Effect.Effect<A, E>) =>
      Effect.suspend(() => Effect.zipRight(faults[call] ?? Effect.void, effect))
    const scope = yield* Scope.make()
    const { get, renew } = yield* TokenProvider.make({ background: false }, options).pipe(
      Effect.provideService(TokenStore.TokenStore, {
        current: after("current", inner.current),
        put: (token) => after("put", inner.put(token)),
        invalidate: (used) => after("invalidate", inner.invalidate(used))
      }),
      Effect.provideService(TokenIssuer.TokenIssuer, { issue: (request) => after("issue", issue(request)) }),
      Scope.extend(scope),
      Effect.uninterruptible
    )
    const first = yield* get
    if (!isRejected) yield* inner.invalidate(first)
    faults[call] = fault
    return {
      caller: isRejected ? renew(first) : get,
      get,
      close: Scope.close(scope, Exit.void),
      faults,
      store: inner
    }
  })

/** Returns the result of a fiber that must have ended. If it hasn't, dies immediately: `Fiber.join` would wait for the test's timeout. */
const resultNow = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(Fiber.poll(fiber), Option.getOrElse(() => Effect.dieMessage("The fiber has not ended yet")))

const failure = (reason: "Timeout" | "Aborted" | "Closed") =>
  new NutritionAdvisorError.TransportError({ operation: "token", reason })

const hanging = (["issue", "current", "put", "invalidate"] as const).flatMap((call) => [
  [call, "hangs", Effect.never] as const,
  [call, "hangs uninterruptibly", Effect.uninterruptible(Effect.never)] as const
])

describe("TokenProvider: an issuer or store", () => {
  withIssuer.each(hanging)(
    "whose `%s` %s makes all callers fail with Timeout after tokenTimeout, but not later callers",
    function*([call, , fault]) {
      const { caller, faults } = yield* withFault(call, fault, { tokenTimeout: "3 seconds" })
      const callers = yield* Effect.replicateEffect(Effect.forkDaemon(Effect.flip(caller)), 2)
      yield* TestClock.adjust("2999 millis")
      expect((yield* Effect.forEach(callers, Fiber.poll)).map(Option.isNone)).toEqual([true, true])
      yield* TestClock.adjust("1 millis")
      expect(yield* Effect.forEach(callers, resultNow)).toEqual([failure("Timeout"), failure("Timeout")])
      faults[call] = undefined
      yield* TestClock.adjust("1 second")
      expect(Issuer.valueOf(yield* caller)).not.toBe(Issuer.secretOf(1))
    }
  )

  withIssuer.each(hanging.filter(([call]) => call !== "current"))(
    "whose `%s` %s does not block the layer from closing",
    function*([call, , fault]) {
      const { caller, close } = yield* withFault(call, fault)
      const waiting = yield* Effect.forkDaemon(Effect.flip(caller))
      yield* TestClock.adjust("1 second")
      const closing = yield* Effect.forkDaemon(close)
      yield* TestClock.adjust(0)
      yield* resultNow(closing)
      expect(yield* resultNow(waiting)).toEqual(failure("Closed"))
    }
  )

  withIssuer.each(["issue", "put"] as const)(
    "whose `%s` returns after the timeout does not store a token",
    function*(call) {
      const { caller, store } = yield* withFault(call, Effect.uninterruptible(Effect.sleep("15 seconds")))
      const waiting = yield* Effect.forkDaemon(Effect.flip(caller))
      yield* TestClock.adjust("20 seconds")
      expect(yield* resultNow(waiting)).toEqual(failure("Timeout"))
      expect(yield* store.current).toEqual(Option.none())
    }
  )

  withIssuer.each(["issue", "put"] as const)(
    "whose `%s` interrupts itself makes its caller fail with Aborted, but not the next caller",
    function*(call) {
      const { caller, faults } = yield* withFault(call, Effect.interrupt)
      expect(yield* Effect.flip(caller)).toEqual(failure("Aborted"))
      faults[call] = undefined
      yield* TestClock.adjust("1 second")
      expect(Issuer.valueOf(yield* caller)).not.toBe(Issuer.secretOf(1))
    }
  )

  withIssuer.each<readonly [how: string, end: "succeeded" | "failed", fault: Effect.Effect<unknown>, next: number]>([
    ["dies", "succeeded", Effect.die("no connection to the database"), 3],
    ["dies", "failed", Effect.die("no connection to the database"), 2],
    ["interrupts itself", "succeeded", Effect.interrupt, 3],
    ["interrupts itself", "failed", Effect.interrupt, 2]
  ])(
    "whose `put` %s doesn't close the provider, after a renewal whose exchange %s",
    function*([, end, fault, next], issuer) {
      const { caller, faults, get } = yield* withFault("put", fault, { isRejected: true })
      if (end === "failed") yield* issuer.respondNext(Effect.fail(Issuer.unavailable))
      yield* Effect.exit(caller)
      faults.put = undefined
      yield* TestClock.adjust("1 second")
      expect(Issuer.valueOf(yield* get)).toBe(Issuer.secretOf(next))
    }
  )

  withIssuer("whose `put` hangs delays the caller of a renewal by at most one second beyond tokenTimeout", function*() {
    const { caller } = yield* withFault("put", Effect.never, { isRejected: true, tokenTimeout: "3 seconds" })
    const waiting = yield* Effect.forkDaemon(Effect.flip(caller))
    yield* TestClock.adjust("4 seconds")
    expect(yield* resultNow(waiting)).toEqual(failure("Timeout"))
  })
})
