import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Option } from "effect"
import {
  AccessToken,
  NutritionAdvisorError,
  type RefreshPolicy,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"
import { ProviderPart } from "../../../src/internal/token/providerPart.js"
import { added } from "../../doubles/counters.js"
import * as Issuer from "../../doubles/IssuerDouble.js"
import { cold, issuer, provider } from "../../doubles/situations.js"
import * as Time from "../../doubles/Time.js"

const windowStart = 900_000

/** What a request that is sent takes without an effect, and what it asks as a connection takes it up. */
const hotPath = Effect.map(TokenProvider.TokenProvider, (provider) => {
  const part = ProviderPart.of(provider)
  if (part === undefined) throw new Error("the provider has no hot path")
  return part
})

const freshToken = Effect.flatMap(
  hotPath,
  (part) => Effect.clockWith((clock) => Effect.succeed(part.freshToken(clock)))
)

describe("the token that is had without an effect", () => {
  cold("is the current one while it is fresh", function*() {
    const before = yield* freshToken
    const first = yield* provider.get
    const fresh = yield* freshToken
    yield* Time.set(windowStart)
    expect([before, fresh, yield* freshToken]).toEqual([undefined, first, undefined])
  })
})

describe("an issuer that fails with what is no error of this library", () => {
  cold.each([null, undefined, "key-7f3a", new Error("key-7f3a")])(
    "ends in a defect that does not show it, and is tried again (case %#)",
    function*(failure) {
      yield* issuer.respondNext(Effect.fail(failure as never))
      const exit = yield* Effect.exit(provider.get)
      expect(String(exit)).not.toContain("7f3a")
      expect(Exit.isFailure(exit) && Cause.isDie(exit.cause)).toBe(true)
      yield* Time.pass("1 minute")
      expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(1))
    }
  )
})

const withStore = (
  current: () => Option.Option<AccessToken.AccessToken>,
  policy?: Partial<RefreshPolicy.RefreshPolicy>
) => {
  const store: TokenStore.Service = {
    current: Effect.sync(current),
    put: () => Effect.void,
    invalidate: () => Effect.succeed(false)
  }
  return TokenProvider.layer({ ...policy, background: false }).pipe(
    Layer.provideMerge(Layer.merge(Issuer.layer, Layer.succeed(TokenStore.TokenStore, store)))
  )
}

describe("a store of one's own", () => {
  it.effect("has its fresh token used, without an exchange", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      const used = yield* provider.get
      yield* Time.pass(0)
      expect([Issuer.valueOf(used), yield* issuer.calls]).toEqual([Issuer.secretOf(9), 0])
    }).pipe(Effect.provide(withStore(() => Option.some(Issuer.token(9, 0, 1_000_000))))))

  it.effect("may keep nothing: its callers have the token of their exchange", () =>
    Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      const tokens = yield* Effect.replicateEffect(provider.get, 2)
      expect([tokens.map(Issuer.valueOf), yield* issuer.calls]).toEqual([[1, 2].map(Issuer.secretOf), 2])
    }).pipe(Effect.provide(withStore(() => Option.none()))))

  it.effect("has no expired token used that appears in it as the exchange begins", () => {
    let reads = 0
    return Effect.gen(function*() {
      yield* Time.set(20_000)
      const { issuer, provider } = yield* Issuer.services
      expect([Issuer.valueOf(yield* provider.get), yield* issuer.calls]).toEqual([Issuer.secretOf(1), 1])
    }).pipe(Effect.provide(withStore(() => {
      reads += 1
      return reads === 1 ? Option.none() : Option.some(Issuer.token(9, 0, 10_000))
    }, { attempts: 1 })))
  })

  it.effect("is asked by an effect each time: nothing is had without one", () =>
    Effect.gen(function*() {
      const { provider } = yield* Issuer.services
      const first = yield* provider.get
      yield* provider.renew(first)
      expect(yield* freshToken).toBeUndefined()
    }).pipe(Effect.provide(withStore(() => Option.none()))))
})

describe("the license key", () => {
  it.effect("must be exchanged only where a renewal says so: else a peer's token will do", () => {
    const asked: Array<boolean> = []
    const issue: TokenIssuer.Service["issue"] = ({ mustExchange }) => {
      asked.push(mustExchange)
      return Issuer.issued(asked.length, 1_000_000)
    }
    return Effect.gen(function*() {
      const { get, renew } = yield* TokenProvider.TokenProvider
      const first = yield* get
      yield* Time.set(windowStart)
      yield* get
      yield* Time.pass(0)
      const second = yield* get
      const third = yield* renew(second)
      yield* renew(third, { operation: "search", status: 403, mustExchange: true })
      expect([Issuer.valueOf(first), asked]).toEqual([Issuer.secretOf(1), [false, false, false, true]])
    }).pipe(
      Effect.provide(TokenProvider.layer({ background: false })),
      Effect.provide(TokenStore.layer),
      Effect.provideService(TokenIssuer.TokenIssuer, { issue })
    )
  })
})

const countedBy = <A, E, R>(effect: Effect.Effect<A, E, R>) => added(effect, "token_exchanges_total")

describe("the metric of exchanges", () => {
  cold("counts a token of the issuer, and none that a peer exchanged", function*() {
    yield* issuer.respondNext(
      Effect.succeed(new AccessToken.AccessToken({ ...Issuer.token(7, 0, 1_000_000), origin: "cache" }))
    )
    const ofPeer = yield* countedBy(provider.get)
    const own = yield* countedBy(Effect.flatMap(provider.get, (token) => provider.renew(token)))
    expect([ofPeer, own]).toEqual([{}, { "issued none rejection": 1 }])
  })

  cold.each(
    [
      ["ServerError", Effect.fail(new NutritionAdvisorError.ServerError({ operation: "token", status: 503 }))],
      ["Defect", Effect.die("a bug")]
    ] as const
  )("names the failure: %s", function*([error, failure]) {
    yield* issuer.respondAlways(failure)
    expect(yield* countedBy(Effect.exit(provider.get))).toEqual({ [`${error} failed missing`]: 1 })
  })
})
