import { expect } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
import { AccessToken, RefreshPolicy, TokenStore } from "effect-nutrition-advisor"
import { replaceToken } from "../../src/internal/token/replaceToken.js"
import { test } from "../support/doubles/arranged.js"
import { fromPeer, token } from "../support/doubles/IssuerDouble.js"

const refreshed = (held: AccessToken.AccessToken, issued: AccessToken.AccessToken) =>
  Effect.gen(function*() {
    const store = yield* TokenStore.make
    yield* store.put(held)
    const issuer = { issue: () => Effect.succeed(issued) }
    const request = { reason: "refresh", replacing: Option.some(held) } as const
    return yield* replaceToken({ policy: yield* RefreshPolicy.make(), issuer, store }, { request })
  })

test("refresh metrics: a token counts as fromPeer or issued even if it is not kept", function*() {
  const long = () => token(1, 0, 2_000_000)
  const short = () => token(2, 0, 1_000_000)
  const held = long()
  expect(yield* refreshed(held, fromPeer(short()))).toEqual({ token: held, outcome: "fromPeer" })
  expect(yield* refreshed(fromPeer(held), short())).toEqual({ token: fromPeer(held), outcome: "issued" })
  expect(yield* refreshed(short(), fromPeer(long()))).toEqual({ token: fromPeer(held), outcome: "fromPeer" })
})

test("refresh: a token that comes back with a later expiry keeps only the time at which it was first received", function*() {
  yield* TestClock.setTime(5)
  const issued = new AccessToken.AccessToken({ ...token(1, 5, 2_000_000), scope: Option.some("read:other") })
  const kept = new AccessToken.AccessToken({ ...issued, receivedAt: 0 })
  expect(yield* refreshed(token(1, 0, 1_000_000), issued)).toEqual({ token: kept, outcome: "unchanged" })
})
