/**
 * The promises of a TokenStore, as tests for whoever writes a store of their own.
 *
 * @since 1.0.0
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as AccessToken from "../AccessToken.js"
import { type Service, TokenStore } from "../TokenStore.js"
import * as Law from "./law.js"

export {
  /**
   * A law is broken: its `title`, and in `seen` what was done instead. It holds no entry, no token and no name.
   *
   * @since 1.0.0
   * @category errors
   */
  LawBroken
} from "./law.js"

const { see, tells } = Law

const token = (parts: Partial<Pick<AccessToken.AccessToken, "value" | "serviceId">> = {}, hours = 1) => {
  const made = { value: Law.randomText(), serviceId: Law.randomText(), scope: "search", receivedAt: Date.now() }
  return AccessToken.make({ ...made, ...parts, expiresAt: made.receivedAt + hours * 3_600_000 })
}

const bounded = (store: Service) => ({
  current: Law.call("current", () => store.current),
  put: (token: AccessToken.AccessToken) => Law.call("put", () => store.put(token)),
  invalidate: (token: AccessToken.AccessToken) => Law.call("invalidate", () => store.invalidate(token))
})

type Bounded = ReturnType<typeof bounded>

const restore = (store: Bounded, before: Option.Option<AccessToken.AccessToken>) =>
  Option.isSome(before)
    ? store.put(before.value)
    : Effect.flatMap(store.current, (current) => Effect.forEach(Option.toArray(current), store.invalidate))

const law = (title: string, steps: (store: Bounded, one: AccessToken.AccessToken) => Law.Steps): Law.Law<TokenStore> =>
  Law.make(
    title,
    Effect.map(TokenStore, (service) => {
      const store = bounded(service)
      const trial = Effect.suspend(() => Effect.all(steps(store, token()), { discard: true }))
      return [Effect.acquireUseRelease(store.current, () => trial, (before) => Effect.ignore(restore(store, before)))]
    })
  )

const holds = (store: Bounded, expected?: AccessToken.AccessToken) =>
  Effect.flatMap(store.current, (current) =>
    see(
      `current gave ${Option.isNone(current) ? "nothing" : "a token"} and not ${expected ? "that token" : "nothing"}`,
      Equal.equals(Option.map(current, (parts) => new AccessToken.AccessToken(parts)), Option.fromNullable(expected))
    ))

/**
 * Each promise of a TokenStore: `holds` succeeds or ends in LawBroken, within ten seconds of the real clock. A law puts tokens of
 * its own, and at its end what was there before. Run one after another, on a store that nobody else uses meanwhile.
 *
 * @since 1.0.0
 * @category laws
 */
export const laws: ReadonlyArray<Law.Law<TokenStore>> = [
  law("current is the token that was put last, with all its parts, though another ends later", (store, one) => [
    store.put(token({}, 2)),
    store.put(one),
    holds(store, one)
  ]),
  law("put makes a token the current one that was removed before", (store, one) => [
    store.put(one),
    store.invalidate(one),
    store.put(one),
    holds(store, one)
  ]),
  law("invalidate removes the current token, also by another object of the same token, once", (store, one) => [
    store.put(one),
    tells("invalidate", store.invalidate(token({ value: one.value, serviceId: one.serviceId }, 2)), true),
    holds(store),
    tells("invalidate of nothing", store.invalidate(one), false)
  ]),
  law("invalidate leaves any other token, one that shares its value or its identifier too", (store, one) => [
    store.put(one),
    tells("invalidate of another identifier", store.invalidate(token({ value: one.value })), false),
    tells("invalidate of another value", store.invalidate(token({ serviceId: one.serviceId })), false),
    holds(store, one)
  ]),
  law("invalidate compares and removes in one step: of ten at once, one removes", (store, one) => [
    store.put(one),
    Effect.flatMap(Effect.replicateEffect(store.invalidate(one), 10, { concurrency: "unbounded" }), (told) => {
      const removed = told.filter((did) => did).length
      return see(`${removed} of ten told that they removed the token`, removed === 1)
    }),
    holds(store)
  ])
]
