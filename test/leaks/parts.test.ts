/** What parts of the user's are given, as a careless one shows it: printed, written as JSON, inspected or cloned. */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schedule, TestClock } from "effect"
import {
  AccessToken,
  NutritionAdvisor,
  SharedTokenCache,
  SharedTokenIssuer,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"
import { inspected, json, rendered } from "./rendering.js"
import * as Replies from "./replies.js"
import * as Secrets from "./secrets.js"

type Given = Array<readonly [part: string, values: ReadonlyArray<unknown>]>

const issuerThatKeeps = (given: Given) => {
  const values = [Secrets.token, Secrets.renewedToken]
  return Layer.succeed(TokenIssuer.TokenIssuer, {
    issue: (request) =>
      Effect.map(Effect.clock, (clock) => {
        given.push(["TokenIssuer", [request]])
        const receivedAt = clock.unsafeCurrentTimeMillis()
        const value = values.shift() ?? Secrets.renewedToken
        return AccessToken.make({ value, serviceId: Secrets.customerId, receivedAt, expiresAt: receivedAt + 3_600_000 })
      })
  })
}

const storeThatKeeps = (given: Given) =>
  Layer.effect(
    TokenStore.TokenStore,
    Effect.map(TokenStore.make, ({ current, invalidate, put }) => ({
      current,
      put: (token) => {
        given.push(["TokenStore", [token]])
        return put(token)
      },
      invalidate: (rejected) => {
        given.push(["TokenStore", [rejected]])
        return invalidate(rejected)
      }
    }))
  )

const providerThatKeeps = (given: Given) => (tokens: TokenProvider.Service): TokenProvider.Service => ({
  ...tokens,
  renew: (...rejection) => {
    given.push(["TokenProvider", rejection])
    return tokens.renew(...rejection)
  },
  settled: (...use) => {
    given.push(["TokenProvider", use])
    return tokens.settled(...use)
  }
})

const scheduleThatKeeps = (given: Given) =>
  Schedule.tapInput(Schedule.spaced("10 minutes"), (input: unknown) =>
    Effect.sync(() => {
      given.push(["Schedule", [input]])
    }))

/** Rejects the first token, with an answer that repeats every secret. */
const service = HttpClient.make((request) => {
  const isRejected = request.headers["authorization"] === `Bearer ${Secrets.token}`
  const response = isRejected
    ? new Response(Replies.echo, { status: 403, headers: { "x-trace": "4711" } })
    : Response.json({})
  return Effect.succeed(HttpClientResponse.fromWeb(request, response))
})

/** Each part of the user's, with all that it was given while a token was rejected, renewed and refreshed. */
const partsOf = Effect.suspend(() => {
  const given: Given = []
  const options = { baseUrl: "https://advisor.example", licenseKey: Redacted.make(Secrets.key) }
  const tokens = TokenProvider.layer({ schedule: scheduleThatKeeps(given) }).pipe(
    Layer.provide(SharedTokenIssuer.layer(options)),
    Layer.provide([issuerThatKeeps(given), SharedTokenCache.layerMemory, storeThatKeeps(given)])
  )
  const provider = Layer.effect(
    TokenProvider.TokenProvider,
    Effect.map(TokenProvider.TokenProvider, providerThatKeeps(given))
  )
  const advisor = NutritionAdvisor.layerWithoutTokens({ ...options, observeHeaders: ["x-trace"] }).pipe(
    Layer.provide(Layer.provide(provider, tokens)),
    Layer.provide(Layer.succeed(HttpClient.HttpClient, service))
  )
  return Effect.as(
    Effect.provide(Effect.zipRight(NutritionAdvisor.search("oats"), TestClock.adjust("11 minutes")), advisor),
    given
  )
})

const cloned = (value: unknown): string => {
  try {
    return rendered(structuredClone(value))
  } catch (error) {
    return String(error)
  }
}

it.effect.each(["TokenIssuer", "TokenStore", "TokenProvider", "Schedule"])(
  "a %s of the user's is given no secret that shows",
  (part) =>
    Effect.gen(function*() {
      const given = (yield* partsOf).flatMap(([name, values]) => name === part ? values : [])
      expect(given.length).toBeGreaterThan(0)
      const texts = given.flatMap((value) => [
        String(value),
        json(value),
        inspected(value),
        rendered(value),
        cloned(value)
      ])
      expect(Secrets.shownIn(texts.join("\n"))).toEqual([])
    })
)

it.effect("the key, both tokens and the identifier are among what they are given", () =>
  Effect.gen(function*() {
    const given = (yield* partsOf).flatMap(([, values]) => values)
    const unwrapped = new Set<unknown>()
    const visit = (value: unknown): void => {
      if (Redacted.isRedacted(value)) unwrapped.add(Redacted.value(value))
      else if (typeof value === "object" && value !== null) Object.values(value).forEach(visit)
    }
    given.forEach(visit)
    expect([Secrets.key, Secrets.token, Secrets.renewedToken, Secrets.customerId].filter((one) => !unwrapped.has(one)))
      .toEqual([])
  }))
