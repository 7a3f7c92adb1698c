import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { AccessToken, type RefreshPolicy, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { ProviderPart } from "../../../src/internal/token/providerPart.js"
import { added } from "../../doubles/counters.js"
import * as Issuer from "../../doubles/IssuerDouble.js"
import { cold, issuer, provider } from "../../doubles/situations.js"
import * as Time from "../../doubles/Time.js"

const windowStart = 900_000

/** What a request that is sent takes without an effect. */
const freshToken = Effect.flatMap(TokenProvider.TokenProvider, (provider) =>
  Effect.clockWith((clock) => {
    const part = ProviderPart.of(provider)
    return part === undefined ? Effect.dieMessage("there is no such part") : Effect.succeed(part.freshToken(clock))
  }))

describe("the token that is had without an effect", () => {
  cold("is the current one while it is fresh", function*() {
    const before = yield* freshToken
    const first = yield* provider.get
    const fresh = yield* freshToken
    yield* Time.set(windowStart)
    expect([before, fresh, yield* freshToken]).toEqual([undefined, first, undefined])
  })
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
  cold("may keep nothing: its callers have the token of their exchange", function*() {
    const tokens = yield* Effect.replicateEffect(provider.get, 2)
    expect([tokens.map(Issuer.valueOf), yield* issuer.calls]).toEqual([[1, 2].map(Issuer.secretOf), 2])
  }, withStore(() => Option.none()))

  let reads = 0

  cold(
    "has no expired token used that appears in it as the exchange begins",
    function*() {
      yield* Time.set(20_000)
      expect([Issuer.valueOf(yield* provider.get), yield* issuer.calls]).toEqual([Issuer.secretOf(1), 1])
    },
    withStore(() => {
      reads += 1
      return reads === 1 ? Option.none() : Option.some(Issuer.token(9, 0, 10_000))
    }, { attempts: 1 })
  )

  cold("is asked by an effect each time: nothing is had without one", function*() {
    const first = yield* provider.get
    yield* provider.renew(first)
    expect(yield* freshToken).toBeUndefined()
  }, withStore(() => Option.none()))
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

  cold("names an exchange that ended in a defect", function*() {
    yield* issuer.respondAlways(Effect.die("a bug"))
    expect(yield* countedBy(Effect.exit(provider.get))).toEqual({ "Defect failed missing": 1 })
  })
})
