/**
 * What a token is, and when it is fresh, stale and expired. No I/O.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as RefreshPolicy from "./RefreshPolicy.js"

/**
 * A bearer token with the customer identifier that came with it (SERVICE.md section 2). The two are one value: they are
 * replaced together and sent together.
 *
 * @since 1.0.0
 * @category models
 */
export class AccessToken extends Data.Class<{
  readonly value: Redacted.Redacted<string>
  readonly serviceId: Redacted.Redacted<string>
  readonly tokenType: "Bearer"
  /** What the service says that the token may be used for; none where that repeats the key, the token or the identifier. */
  readonly scope: Option.Option<string>
  /** When the answer with the token was received, in epoch milliseconds. */
  readonly receivedAt: number
  /** When the service stops to accept the token, in epoch milliseconds (SERVICE.md section 5, rule 5). */
  readonly expiresAt: number
  /** "cache" for a token that a peer exchanged; the service may have stopped accepting it without this process being told. */
  readonly origin?: "cache" | undefined
}> {}

/**
 * A token out of its parts, for stores, issuers and doubles of one's own; plain strings are wrapped at once.
 *
 * @example
 * ```ts
 * import { AccessToken, TokenStore } from "effect-nutrition-advisor"
 *
 * const receivedAt = Date.now()
 *
 * const token = AccessToken.make({
 *   value: "token-from-a-vault",
 *   serviceId: "0b8f6f0e-5f0a-4f5e-9d7e-2f4f1c1f9b11",
 *   receivedAt,
 *   expiresAt: receivedAt + 3_600_000
 * })
 *
 * export const Store = TokenStore.layerStatic(token)
 * ```
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (options: {
  readonly value: string | Redacted.Redacted<string>
  readonly serviceId: string | Redacted.Redacted<string>
  readonly scope?: string | undefined
  /** Epoch milliseconds. */
  readonly receivedAt: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
}): AccessToken =>
  new AccessToken({
    value: redacted(options.value),
    serviceId: redacted(options.serviceId),
    tokenType: "Bearer",
    scope: Option.fromNullable(options.scope),
    receivedAt: options.receivedAt,
    expiresAt: options.expiresAt
  })

const redacted = (secret: string | Redacted.Redacted<string>) =>
  typeof secret === "string" ? Redacted.make(secret) : secret

/**
 * Whether two tokens would make the same headers, whenever they were received.
 *
 * @since 1.0.0
 * @category predicates
 */
export const isSame = (self: AccessToken, that: AccessToken): boolean =>
  self === that || (Equal.equals(self.value, that.value) && Equal.equals(self.serviceId, that.serviceId))

/**
 * `fresh`: used, nothing else happens. `stale`: used, and one refresh runs in the background. `expired`: never sent.
 *
 * @since 1.0.0
 * @category models
 */
export type State = "fresh" | "stale" | "expired"

/**
 * The one predicate that callers and the refresh Schedule share; `now` is in epoch milliseconds. A token that was received in the future (the clock was set
 * back) is stale: nobody knows how old it is, so it is used while a new one is fetched. One whose times are no numbers is expired.
 *
 * @since 1.0.0
 * @category predicates
 */
export const stateAt = (token: AccessToken, now: number, policy: RefreshPolicy.CheckedPolicy): State => {
  const { expiresAt, receivedAt } = token
  const isTimed = typeof expiresAt === "number" && typeof receivedAt === "number"
  if (!isTimed || !(now < expiresAt - RefreshPolicy.marginOf(policy, token))) return "expired"
  return now < expiresAt - RefreshPolicy.windowOf(policy, token) && now >= receivedAt ? "fresh" : "stale"
}
