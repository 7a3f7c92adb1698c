import { inspect } from "node:util"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, Redacted, TestClock } from "effect"
import { AccessToken, NutritionAdvisor, TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import * as Issuer from "../../doubles/IssuerDouble.js"
import * as Time from "../../doubles/Time.js"

const ofPeer = (number: number) =>
  new AccessToken.AccessToken({ ...Issuer.token(number, 0, 1_000_000), origin: "cache" })

const providerWith = (part: Partial<TokenProvider.Service>) =>
  Layer.succeed(TokenProvider.TokenProvider, {
    get: Effect.succeed(ofPeer(0)),
    renew: () => Effect.succeed(ofPeer(1)),
    settled: () => Effect.void,
    status: Effect.succeed({ state: "fresh" as const, expiresAt: Option.none(), lastFailure: Option.none() }),
    ...part
  })

/** Every renewal brings another token of a peer. */
const tokensOfPeers = (mustExchange: Array<boolean> = []) =>
  providerWith({
    renew: (_, rejection) =>
      Effect.sync(() => {
        mustExchange.push(rejection?.mustExchange ?? false)
        return ofPeer(mustExchange.length)
      })
  })

const naming = (headers: Record<string, string>, status: number) =>
  HttpClient.make((request) =>
    Effect.succeed(HttpClientResponse.fromWeb(request, new Response("", { status, headers })))
  )

const options = { baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey, observeHeaders: ["x-trace"] }

const advisorOver = (provider: Layer.Layer<TokenProvider.TokenProvider>, client: HttpClient.HttpClient) =>
  Layer.provide(NutritionAdvisor.layerWithoutTokens(options), [provider, Layer.succeed(HttpClient.HttpClient, client)])

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
    return Effect.gen(function*() {
      const error = yield* Effect.flip(NutritionAdvisor.search("oats"))
      expect(error._tag === "Forbidden" && error.headers).toEqual({})
    }).pipe(Effect.provide(advisorOver(tokensOfPeers(), naming(headers, 403))))
  })
})

describe("what an error shows of an answer", () => {
  it.effect("names no token that the request was sent with, however many the client has used since", () => {
    let issued = 0
    const others = Effect.exit(NutritionAdvisor.search("pears"))
    const provider = providerWith({
      get: Effect.sync(() => ofPeer(issued++)),
      renew: () => Effect.as(Effect.zipRight(Effect.sleep("1 second"), Effect.sync(() => issued++)), ofPeer(99))
    })
    let calls = 0
    const headers = { "x-trace": `instead of ${Redacted.value(ofPeer(0).value)}` }
    const client = HttpClient.make((request) =>
      Effect.sync(() =>
        HttpClientResponse.fromWeb(request, new Response("", { status: calls++ === 0 ? 403 : 500, headers }))
      )
    )
    return Effect.gen(function*() {
      const first = yield* Effect.fork(Effect.flip(NutritionAdvisor.search("oats")))
      yield* Effect.yieldNow()
      for (let other = 0; other < 6; other++) yield* others
      yield* TestClock.adjust("1 second")
      const error = yield* Fiber.join(first)
      expect(error._tag === "ServerError" && error.headers).toEqual({})
    }).pipe(Effect.provide(advisorOver(provider, client)))
  })

  it.effect.each<readonly [identifier: string, header: string, status: number, retryAfter: number | undefined]>([
    ["482137745", "482137745", 429, undefined],
    ["482137745", "0482137745.0", 503, undefined],
    ["4", "40", 503, 40]
  ])(
    "has no Retry-After that is the customer identifier: of %s the header %s, with %i",
    ([identifier, header, status, retryAfter]) => {
      const numbered = new AccessToken.AccessToken({
        ...Issuer.token(0, 0, 1_000_000),
        serviceId: Redacted.make(identifier)
      })
      const provider = providerWith({ get: Effect.succeed(numbered) })
      return Effect.gen(function*() {
        const error = yield* Effect.flip(NutritionAdvisor.search("oats"))
        expect("retryAfter" in error ? error.retryAfter : undefined).toBe(retryAfter)
        expect(inspect(error).includes(identifier)).toBe(retryAfter !== undefined)
      }).pipe(Effect.provide(advisorOver(provider, naming({ "retry-after": header }, status))))
    }
  )
})

describe("a TokenProvider of the user's", () => {
  const bug = Effect.die(new Error("secret-token-0"))

  const advisorWith = (part: Partial<TokenProvider.Service>, status: number) =>
    advisorOver(providerWith(part), naming({}, status))

  it.effect.each<readonly [string, Partial<TokenProvider.Service>]>([
    ["get", { get: bug }],
    ["get, which fails with what is no error of its interface,", { get: Effect.fail("secret-token-0" as never) }],
    ["renew", { renew: () => bug }],
    ["settled", { settled: () => bug }]
  ])("whose %s dies ends the search in a defect that names the part, and nothing of what it said", ([call, part]) => {
    return Effect.gen(function*() {
      const exit = yield* Effect.exit(NutritionAdvisor.search("oats"))
      const text = inspect(exit, { depth: 9, showHidden: true })
      expect(text).toContain("The TokenProvider")
      expect(text).not.toContain("secret-token-0")
    }).pipe(Effect.provide(advisorWith(part, call === "renew" ? 403 : 200)))
  })

  it.effect.each(["get", "renew", "settled"] as const)(
    "whose %s hangs and can't be interrupted keeps no caller who leaves",
    (call) =>
      Effect.gen(function*() {
        const reached = yield* Effect.makeLatch()
        const hang = Effect.uninterruptible(Effect.zipRight(reached.open, Effect.never))
        const part = call === "get" ? { get: hang } : { [call]: () => hang }
        const search = Effect.provide(NutritionAdvisor.search("oats"), advisorWith(part, call === "renew" ? 403 : 200))
        const caller = yield* Effect.forkDaemon(search)
        yield* reached.await
        yield* Fiber.interruptFork(caller)
        yield* Time.pass("1 second")
        expect(Option.map(yield* Fiber.poll(caller), Exit.isInterrupted)).toEqual(Option.some(true))
      })
  )
})
