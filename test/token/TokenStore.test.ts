import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { type AccessToken, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { arranged, test } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"

const [first, second] = [Issuer.token(1, 0, 3_600_000), Issuer.token(2, 1_000, 3_600_000)]

describe("layer", () => {
  const inMemory = arranged(TokenStore.TokenStore, TokenStore.layer)

  inMemory("holds what was put last, also an earlier token", function*(store) {
    yield* store.put(second)
    yield* store.put(first)
    expect(yield* store.current).toEqual(Option.some(first))
  })

  inMemory("removes a token that is still the current one, by its value", function*(store) {
    yield* store.put(first)
    expect([yield* store.invalidate(Issuer.token(1, 5, 7)), yield* store.current]).toEqual([true, Option.none()])
  })

  inMemory("keeps the current token where another one is to be removed, and when it is empty", function*(store) {
    expect(yield* store.invalidate(first)).toBe(false)
    yield* store.put(second)
    expect([yield* store.invalidate(first), yield* store.current]).toEqual([false, Option.some(second)])
  })

  test("is another store each time it is built", function*() {
    const putInto = Effect.flatMap(TokenStore.TokenStore, (store) => Effect.zipLeft(store.current, store.put(first)))
    const found = yield* Effect.replicateEffect(Effect.provide(putInto, TokenStore.layer), 2)
    expect(found).toEqual([Option.none(), Option.none()])
  })

  test("is another store for each layer that it is provided to, in one build too", function*() {
    const stores = new Set<TokenStore.Service>()
    const noted = Effect.map(TokenStore.TokenStore, (store) => stores.add(store))
    const user = () => Layer.provide(Layer.effectDiscard(noted), TokenStore.layer)
    yield* Layer.build(Layer.merge(user(), user()))
    expect(stores.size).toBe(2)
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
    private held = Option.none<AccessToken.AccessToken>()
    readonly current = Effect.sync(() => this.held)
    put(token: AccessToken.AccessToken) {
      return Effect.sync(() => {
        this.held = Option.some(token)
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
