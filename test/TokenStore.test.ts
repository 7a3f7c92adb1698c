import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type AccessToken, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { secretOf, token, valueOf } from "./doubles/IssuerDouble.js"

const first = token(1, 0, 3_600_000)

const second = token(2, 1_000, 3_600_000)

describe("layer", () => {
  const run = <A, E>(test: (store: TokenStore.Service) => Effect.Effect<A, E>) =>
    Effect.provide(Effect.flatMap(TokenStore.TokenStore, test), TokenStore.layer)

  it.effect("has a store for each issuer that uses it", () => {
    const issuerOf = (...numbers: ReadonlyArray<number>): TokenIssuer.Service => {
      const left = [...numbers]
      return { issue: () => Effect.sync(() => token(left.shift() ?? 0, 0, 3_600_000)) }
    }
    const [one, other] = [issuerOf(1, 2), issuerOf(3, 4)]
    const got = (issuer: TokenIssuer.Service) =>
      Effect.flatMap(TokenProvider.make({ background: false }), ({ get }) => get).pipe(
        Effect.provideService(TokenIssuer.TokenIssuer, issuer),
        Effect.map(valueOf)
      )
    return Effect.gen(function*() {
      const values = yield* Effect.forEach([one, other, one, other], got)
      expect(values).toEqual([1, 3, 1, 3].map(secretOf))
    }).pipe(Effect.scoped, Effect.provide(TokenStore.layer))
  })

  it.effect("is empty at first", () =>
    run((store) =>
      Effect.gen(function*() {
        expect(yield* store.current).toEqual(Option.none())
      })
    ))

  it.effect("keeps the last token, by identity", () =>
    run((store) =>
      Effect.gen(function*() {
        yield* store.put(first)
        yield* store.put(second)
        expect(Option.getOrThrow(yield* store.current)).toBe(second)
      })
    ))

  it.effect("removes the token that is its current one, and says so", () =>
    run((store) =>
      Effect.gen(function*() {
        yield* store.put(first)
        expect([yield* store.invalidate(first), yield* store.current]).toEqual([true, Option.none()])
      })
    ))

  it.effect("removes the same token in a new object", () =>
    run((store) =>
      Effect.gen(function*() {
        yield* store.put(first)
        expect([yield* store.invalidate(token(1, 5, 9)), yield* store.current]).toEqual([true, Option.none()])
      })
    ))

  it.effect("keeps its token when another one is to be removed", () =>
    run((store) =>
      Effect.gen(function*() {
        yield* store.put(second)
        expect([yield* store.invalidate(first), yield* store.current]).toEqual([false, Option.some(second)])
      })
    ))

  it.effect("has nothing to remove while it is empty", () =>
    run((store) =>
      Effect.gen(function*() {
        expect(yield* store.invalidate(first)).toBe(false)
      })
    ))

  it.effect("removes a token once", () =>
    run((store) =>
      Effect.gen(function*() {
        yield* store.put(first)
        expect([yield* store.invalidate(first), yield* store.invalidate(first)]).toEqual([true, false])
      })
    ))

  it.effect("is another store each time it is built", () =>
    Effect.gen(function*() {
      yield* run((store) => store.put(first))
      yield* run((store) =>
        Effect.gen(function*() {
          expect(yield* store.current).toEqual(Option.none())
        })
      )
    }))
})

describe("layerStatic", () => {
  const run = <A, E>(test: (store: TokenStore.Service) => Effect.Effect<A, E>) =>
    Effect.provide(Effect.flatMap(TokenStore.TokenStore, test), TokenStore.layerStatic(first))

  it.effect("holds the given token", () =>
    run((store) =>
      Effect.gen(function*() {
        expect(Option.getOrThrow(yield* store.current)).toBe(first)
      })
    ))

  it.effect("takes no other token", () =>
    run((store) =>
      Effect.gen(function*() {
        yield* store.put(second)
        expect(Option.getOrThrow(yield* store.current)).toBe(first)
      })
    ))

  it.effect("keeps the token when it is to be removed, and says so", () =>
    run((store) =>
      Effect.gen(function*() {
        expect([yield* store.invalidate(first), yield* store.current]).toEqual([false, Option.some(first)])
      })
    ))
})

describe("a store of one's own", () => {
  /** Its methods need their `this`. */
  class Vault implements TokenStore.Service {
    constructor(private kept: Option.Option<AccessToken.AccessToken>) {}
    readonly current = Effect.sync(() => this.kept)
    unsafeCurrent() {
      return this.kept
    }
    put(token: AccessToken.AccessToken) {
      return Effect.sync(() => {
        this.kept = Option.some(token)
      })
    }
    invalidate() {
      return Effect.succeed(false)
    }
  }

  it.effect("may be a class", () =>
    Effect.gen(function*() {
      const { get } = yield* TokenProvider.TokenProvider
      expect(yield* get).toBe(first)
    }).pipe(
      Effect.provide(TokenProvider.layer()),
      Effect.provideService(TokenStore.TokenStore, new Vault(Option.some(first))),
      Effect.provideService(TokenIssuer.TokenIssuer, { issue: () => Effect.dieMessage("nothing is to be exchanged") })
    ))
})
