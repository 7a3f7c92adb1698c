import { describe, expect } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type AccessToken, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { arranged } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { withIssuer } from "../support/doubles/IssuerDouble.js"

const [first, second] = [Issuer.token(1, 0, 3_600_000), Issuer.token(2, 1_000, 3_600_000)]

describe("TokenStore.layer", () => {
  const inMemory = arranged(TokenStore.TokenStore, TokenStore.layer)

  inMemory("the store has the token that was put last, even if it expires earlier", function*(store) {
    yield* store.put(second)
    yield* store.put(first)
    expect(yield* store.current).toEqual(Option.some(first))
  })

  inMemory("the current token is removed if its value is equal", function*(store) {
    yield* store.put(first)
    expect(yield* store.invalidate(Issuer.token(1, 5, 7))).toBe(true)
    expect(yield* store.current).toEqual(Option.none())
  })

  inMemory("removing a different token has no effect, even in an empty store", function*(store) {
    expect(yield* store.invalidate(first)).toBe(false)
    yield* store.put(second)
    expect(yield* store.invalidate(first)).toBe(false)
    expect(yield* store.current).toEqual(Option.some(second))
  })
})

describe("TokenStore.layerStatic", () => {
  const fixed = arranged(TokenStore.TokenStore, TokenStore.layerStatic(first))

  fixed("the store always has the given token: neither another one nor its removal has an effect", function*(store) {
    yield* store.put(second)
    expect(yield* store.invalidate(first)).toBe(false)
    expect(Option.getOrThrow(yield* store.current)).toBe(first)
  })
})

class Vault implements TokenStore.Service {
  private readonly inner = Effect.runSync(TokenStore.make)
  readonly current = this.inner.current
  put(token: AccessToken.AccessToken) {
    return this.inner.put(token)
  }
  invalidate(token: AccessToken.AccessToken) {
    return this.inner.invalidate(token)
  }
}

withIssuer("a custom TokenStore: a class whose methods use `this` works", function*(issuer) {
  const { get } = yield* Effect.provideService(TokenProvider.make(), TokenStore.TokenStore, new Vault())
  expect(yield* get).toBe(yield* get)
  expect(yield* issuer.calls).toBe(1)
})
