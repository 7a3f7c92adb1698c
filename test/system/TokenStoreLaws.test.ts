import { describe, expect } from "@effect/vitest"
import { Effect, Equal, Option, Ref } from "effect"
import { AccessToken, TokenStore } from "effect-nutrition-advisor"
import { TokenStoreLaws } from "effect-nutrition-advisor/testing"
import { arranged, arrangedLive, testLive } from "../doubles/arranged.js"
import { token } from "../doubles/IssuerDouble.js"
import { brokenOf } from "./laws/brokenOf.js"

const { laws } = TokenStoreLaws

const law = {
  current: "current is the token that was put last, with all its parts, though another ends later",
  again: "put makes a token the current one that was removed before",
  once: "invalidate removes the current token, also by another object of the same token, once",
  others: "invalidate leaves any other token, one that shares its value or its identifier too",
  oneStep: "invalidate compares and removes in one step: of ten at once, one removes"
}

const broken = brokenOf(laws, 1)

type Kept = Ref.Ref<Option.Option<AccessToken.AccessToken>>

type Flaw = (kept: Kept, store: TokenStore.Service) => Partial<TokenStore.Service>

const removing =
  (kept: Kept, isToBe: (current: AccessToken.AccessToken, used: AccessToken.AccessToken) => boolean) =>
  (used: AccessToken.AccessToken) =>
    Ref.modify(kept, (current) =>
      Option.exists(current, (token) => isToBe(token, used))
        ? [true, Option.none()]
        : [false, current])

const brokenBy = (flaw: Flaw) =>
  Effect.gen(function*() {
    const kept = yield* Ref.make(Option.none<AccessToken.AccessToken>())
    const store: TokenStore.Service = {
      current: Ref.get(kept),
      put: (token) => Ref.set(kept, Option.some(token)),
      invalidate: removing(kept, AccessToken.isSame)
    }
    return yield* Effect.provideService(broken, TokenStore.TokenStore, { ...store, ...flaw(kept, store) })
  })

const plain = ({ expiresAt, receivedAt, serviceId, value }: AccessToken.AccessToken) =>
  AccessToken.make({ value, serviceId, receivedAt, expiresAt })

const flaws: ReadonlyArray<readonly [string, Flaw, ReadonlyArray<string>]> = [
  ["that loses the scope", (_, { put }) => ({ put: (token) => put(plain(token)) }), [
    law.current,
    law.again,
    law.others
  ]],
  [
    "that keeps the token that ends later",
    (kept) => ({
      put: (token) =>
        Ref.update(kept, (current) =>
          Option.some(Option.getOrElse(
            Option.filter(current, ({ expiresAt }) => expiresAt > token.expiresAt),
            () => token
          )))
    }),
    [law.current]
  ],
  [
    "that takes back no token that was removed",
    (_, { invalidate, put }) => {
      const removed = new Set<AccessToken.AccessToken>()
      return {
        put: (token) => removed.has(token) ? Effect.void : put(token),
        invalidate: (used) => Effect.suspend(() => invalidate(removed.has(used) ? used : (removed.add(used), used)))
      }
    },
    [law.again]
  ],
  ["whose invalidate removes whatever is there", (kept) => ({ invalidate: removing(kept, () => true) }), [law.others]],
  [
    "whose invalidate compares the value alone",
    (kept) => ({ invalidate: removing(kept, (one, other) => Equal.equals(one.value, other.value)) }),
    [law.others]
  ],
  [
    "whose invalidate compares the identifier alone",
    (kept) => ({ invalidate: removing(kept, (one, other) => Equal.equals(one.serviceId, other.serviceId)) }),
    [law.others]
  ],
  [
    "whose invalidate compares objects",
    (kept) => ({ invalidate: removing(kept, (one, other) => one === other) }),
    [law.once]
  ],
  ["whose invalidate removes nothing", () => ({ invalidate: () => Effect.succeed(false) }), [law.once, law.oneStep]],
  [
    "whose invalidate always tells that it removed",
    (_, { invalidate }) => ({ invalidate: (used) => Effect.as(invalidate(used), true) }),
    [law.once, law.others, law.oneStep]
  ],
  [
    "whose invalidate compares first and removes then",
    (kept) => ({
      invalidate: (used) =>
        Effect.gen(function*() {
          const current = yield* Ref.get(kept)
          yield* Effect.sleep("5 millis")
          if (!Option.exists(current, (token) => AccessToken.isSame(token, used))) return false
          yield* Ref.set(kept, Option.none())
          return true
        })
    }),
    [law.oneStep]
  ],
  ["whose current dies", () => ({ current: Effect.dieMessage("secret-token-7") }), Object.values(law)],
  ["whose put throws", () => ({
    put: () => {
      throw new Error("secret-token-7")
    }
  }), Object.values(law)]
]

describe.concurrent("a store", () => {
  testLive.each(flaws)("%s breaks the laws that say so, and no other", function*([_, flaw, titles]) {
    const results = yield* brokenBy(flaw)
    expect(results.map(({ title }) => title)).toEqual(
      laws.map(({ title }) => title).filter((title) => titles.includes(title))
    )
    expect(JSON.stringify(results) + results.map(String).join()).not.toContain("secret-token-7")
  })

  testLive("that hangs and can't be interrupted is told so within the time of a law", function*() {
    const first = laws[0]?.holds ?? Effect.void
    const store = { ...(yield* TokenStore.make), put: () => Effect.uninterruptible(Effect.never) }
    const result = yield* Effect.flip(Effect.scoped(first)).pipe(
      Effect.provideService(TokenStore.TokenStore, store)
    )
    expect(result.seen).toBe("put gave no answer in 4 seconds")
  })
})

const live = arrangedLive(Effect.void, TokenStore.layer)

const test = arranged(Effect.void, TokenStore.layer)

describe("the laws", () => {
  test("hold for layer, under TestClock too", function*() {
    expect(yield* broken).toEqual([])
  })

  live("are broken by layerStatic, which takes no other token and removes none", function*() {
    expect((yield* broken).map(({ title }) => title)).toEqual(laws.map(({ title }) => title))
  }, TokenStore.layerStatic(token(1, 0, 3_600_000)))

  live("leave the token that was there", function*() {
    const store = yield* TokenStore.TokenStore
    const before = token(1, 0, 3_600_000)
    yield* store.put(before)
    yield* broken
    expect(yield* store.current).toEqual(Option.some(before))
  })

  live("leave an empty store empty", function*() {
    yield* broken
    expect(yield* (yield* TokenStore.TokenStore).current).toEqual(Option.none())
  })
})
