import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { AccessToken, NutritionAdvisor, TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import * as Issuer from "../../doubles/IssuerDouble.js"

const ofPeer = (number: number) =>
  new AccessToken.AccessToken({ ...Issuer.token(number, 0, 1_000_000), origin: "cache" })

/** Every renewal brings another token of a peer. */
const tokensOfPeers = (mustExchange: Array<boolean> = []) =>
  Layer.succeed(TokenProvider.TokenProvider, {
    get: Effect.succeed(ofPeer(0)),
    renew: (_, rejection) =>
      Effect.sync(() => {
        mustExchange.push(rejection?.mustExchange ?? false)
        return ofPeer(mustExchange.length)
      }),
    settled: () => Effect.void,
    status: Effect.succeed({ state: "fresh" as const, expiresAt: Option.none(), lastFailure: Option.none() })
  })

const options = { baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }

describe("a request whose every token comes from a peer and is rejected", () => {
  it.effect("is sent five times at most, and asks for an exchange at the last renewal", () => {
    const mustExchange: Array<boolean> = []
    return Effect.gen(function*() {
      const error = yield* Effect.flip(NutritionAdvisor.search("oats"))
      const { searches } = yield* Effect.flatMap(Simulator.Simulator, ({ counters }) => counters)
      expect([error._tag, searches, mustExchange]).toEqual(["Forbidden", 5, [false, false, false, true]])
    }).pipe(
      Effect.provide(
        NutritionAdvisor.layerWithoutTokens(options).pipe(
          Layer.provide(tokensOfPeers(mustExchange)),
          Layer.provideMerge(Simulator.layerHttpClient())
        )
      )
    )
  })

  it.effect.each([0, 1, 2, 3, 4])("shows no observed header that names the token number %i", (number) => {
    const headers = { "x-trace": `for ${Redacted.value(ofPeer(number).value)}` }
    const client = HttpClient.make((request) =>
      Effect.succeed(HttpClientResponse.fromWeb(request, new Response("", { status: 403, headers })))
    )
    return Effect.gen(function*() {
      const error = yield* Effect.flip(NutritionAdvisor.search("oats"))
      expect(error._tag === "Forbidden" && error.headers).toEqual({})
    }).pipe(
      Effect.provide(
        Layer.provide(NutritionAdvisor.layerWithoutTokens({ ...options, observeHeaders: ["x-trace"] }), tokensOfPeers())
      ),
      Effect.provideService(HttpClient.HttpClient, client)
    )
  })
})
