import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { AccessToken, NutritionAdvisor, TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import * as Issuer from "../../doubles/IssuerDouble.js"

describe("a request whose every token comes from a peer and is rejected", () => {
  it.effect("is sent five times at most, and asks for an exchange at the last renewal", () => {
    const mustExchange: Array<boolean> = []
    const ofPeer = (number: number) =>
      new AccessToken.AccessToken({ ...Issuer.token(number, 0, 1_000_000), origin: "cache" })
    const tokens = Layer.succeed(TokenProvider.TokenProvider, {
      get: Effect.succeed(ofPeer(0)),
      renew: (_, rejection) =>
        Effect.sync(() => {
          mustExchange.push(rejection?.mustExchange ?? false)
          return ofPeer(mustExchange.length)
        }),
      settled: () => Effect.void,
      status: Effect.succeed({ state: "fresh" as const, expiresAt: Option.none(), lastFailure: Option.none() })
    })
    return Effect.gen(function*() {
      const error = yield* Effect.flip(NutritionAdvisor.search("oats"))
      const { searches } = yield* Effect.flatMap(Simulator.Simulator, ({ counters }) => counters)
      expect([error._tag, searches, mustExchange]).toEqual(["Forbidden", 5, [false, false, false, true]])
    }).pipe(
      Effect.provide(
        NutritionAdvisor.layerWithoutTokens({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }).pipe(
          Layer.provide(tokens),
          Layer.provideMerge(Simulator.layerHttpClient())
        )
      )
    )
  })
})
