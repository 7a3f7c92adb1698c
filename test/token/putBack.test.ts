/** Renewals over a custom TokenStore that fails. */
import { describe, expect } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { arranged } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import * as Time from "../support/doubles/Time.js"

/** A provider that has a token. Its store fails to take the next ones. */
const withFailingPut = (fault: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const inner = yield* TokenStore.make
    const faults = { put: Effect.void as Effect.Effect<void> }
    const { get, renew } = yield* TokenProvider.make({ background: false }, { tokenTimeout: "3 seconds" }).pipe(
      Effect.provideService(TokenStore.TokenStore, {
        ...inner,
        put: (token) => Effect.suspend(() => Effect.zipRight(faults.put, inner.put(token)))
      })
    )
    const first = yield* get
    faults.put = fault
    return { faults, first, get, renew }
  })

const test = arranged(Effect.void, Issuer.layer)

const failing = [
  { how: "dies", fault: Effect.die("no connection to the database") },
  { how: "interrupts itself", fault: Effect.interrupt }
]

const after = [
  { what: "an exchange that failed", isDown: true },
  { what: "an exchange that succeeded", isDown: false }
]

const cases = failing.flatMap((one) => after.map((other) => ({ ...one, ...other })))

describe("renewal: a TokenStore", () => {
  test.each(cases)(
    "whose put $how after $what doesn't close the provider, and the next exchange heals it",
    function*({ fault, isDown }) {
      const { faults, first, get, renew } = yield* withFailingPut(fault)
      const issuer = yield* Issuer.IssuerDouble
      if (isDown) yield* issuer.respondNext(Effect.fail(Issuer.unavailable))
      yield* Effect.exit(renew(first))
      faults.put = Effect.void
      yield* Time.pass("1 second")
      expect(Issuer.valueOf(yield* get)).toBe(Issuer.secretOf(isDown ? 2 : 3))
    }
  )

  test("whose put hangs makes callers wait for at most one second more than tokenTimeout", function*() {
    const { first, renew } = yield* withFailingPut(Effect.never)
    const caller = yield* Effect.fork(Effect.flip(renew(first)))
    yield* Time.pass("4 seconds")
    expect(Option.isSome(yield* Fiber.poll(caller))).toBe(true)
    expect(yield* Fiber.join(caller)).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
  })
})
