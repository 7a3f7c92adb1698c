import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
import { AccessToken } from "effect-nutrition-advisor"
import { tokenStatusOf } from "../../src/internal/token/status.js"
import { unavailable, withoutToken, withToken } from "../support/doubles/IssuerDouble.js"

describe("TokenProvider.status", () => {
  withoutToken("the state is none before the first exchange", function*({ provider }) {
    expect(yield* provider.status).toMatchObject({ state: "none", expiresAt: Option.none() })
  })

  it("a token without optional fields has no value for them", () => {
    const token = AccessToken.make({ value: "token", serviceId: "customer", receivedAt: 0, expiresAt: 1 })
    const status = tokenStatusOf(Option.some({ token, state: "fresh" }), Option.none())
    const fields = Object.entries(status).filter(([, value]) => Option.isOption(value) && Option.isSome(value))
    expect(fields).toEqual([["expiresAt", Option.some(1)]])
  })

  withToken.each<readonly [millis: number, state: AccessToken.State]>([
    [0, "fresh"],
    [950_000, "stale"],
    [1_000_000, "expired"]
  ])("each field describes the current token: after %d ms, it is %s", function*([millis, state], { first, provider }) {
    yield* TestClock.setTime(millis)
    expect(yield* provider.status).toEqual({
      state,
      expiresAt: Option.some(first.expiresAt),
      lastFailure: Option.none()
    })
  })

  withoutToken("lastFailure has the error and the time of the last failed exchange", function*({ issuer, provider }) {
    yield* TestClock.setTime(5_000)
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* Effect.flip(provider.get)
    expect(yield* provider.status).toMatchObject({ lastFailure: Option.some({ error: unavailable, at: 5_000 }) })
  })
})
