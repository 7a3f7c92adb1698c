import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type AccessToken, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { TokenStoreLaws } from "effect-nutrition-advisor/testing"
import { arranged, test } from "./doubles/arranged.js"
import * as Issuer from "./doubles/IssuerDouble.js"

const first = Issuer.token(1, 0, 3_600_000)

const second = Issuer.token(2, 1_000, 3_600_000)

describe("layer", () => {
  const inMemory = arranged(Effect.void, TokenStore.layer)

  inMemory("has a store for each issuer that uses it", function*() {
    const issuerOf = (...numbers: ReadonlyArray<number>): TokenIssuer.Service => {
      const left = [...numbers]
      return { issue: () => Effect.sync(() => Issuer.token(left.shift() ?? 0, 0, 3_600_000)) }
    }
    const [one, other] = [issuerOf(1, 2), issuerOf(3, 4)]
    const got = (issuer: TokenIssuer.Service) =>
      Effect.flatMap(TokenProvider.make({ background: false }), ({ get }) => get).pipe(
        Effect.provideService(TokenIssuer.TokenIssuer, issuer),
        Effect.map(Issuer.valueOf)
      )
    expect(yield* Effect.forEach([one, other, one, other], got)).toEqual([1, 3, 1, 3].map(Issuer.secretOf))
  })

  inMemory("keeps the laws of a TokenStore", function*() {
    const broken = yield* Effect.forEach(TokenStoreLaws.laws, ({ holds }) => Effect.option(Effect.flip(holds)))
    expect(broken.flatMap(Option.toArray)).toEqual([])
  })

  test("is another store each time it is built", function*() {
    const putInto = Effect.flatMap(TokenStore.TokenStore, (store) => Effect.zipLeft(store.current, store.put(first)))
    const found = yield* Effect.replicateEffect(Effect.provide(putInto, TokenStore.layer), 2)
    expect(found).toEqual([Option.none(), Option.none()])
  })
})

describe("layerStatic", () => {
  const fixed = arranged(TokenStore.TokenStore, TokenStore.layerStatic(first))

  fixed("holds the given token, and takes no other one", function*(store) {
    yield* store.put(second)
    expect(Option.getOrThrow(yield* store.current)).toBe(first)
  })

  fixed("keeps the token when it is to be removed, and says so", function*(store) {
    expect([yield* store.invalidate(first), yield* store.current]).toEqual([false, Option.some(first)])
  })
})

describe("a store of one's own", () => {
  /** Its methods need their `this`. */
  class Vault implements TokenStore.Service {
    private kept = Option.none<AccessToken.AccessToken>()
    readonly current = Effect.sync(() => this.kept)
    put(token: AccessToken.AccessToken) {
      return Effect.sync(() => {
        this.kept = Option.some(token)
      })
    }
    invalidate() {
      return Effect.succeed(false)
    }
  }

  it.scoped("may be a class, whose token is used without another exchange", () =>
    Effect.gen(function*() {
      const { get } = yield* Effect.provideService(TokenProvider.make(), TokenStore.TokenStore, new Vault())
      const { calls } = yield* Issuer.IssuerDouble
      expect([(yield* get) === (yield* get), yield* calls]).toEqual([true, 1])
    }).pipe(Effect.provide(Issuer.layer)))
})
