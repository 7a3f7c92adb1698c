import * as Option from "effect/Option"
import type * as AccessToken from "../../AccessToken.js"
import type { Failure } from "../../TokenProvider.js"

/** What `TokenProvider.status` returns. */
export interface TokenStatus {
  /** The state of the current token; "none" if there is no token. */
  readonly state: "none" | AccessToken.State
  /** The time at which the service stops accepting the token, in epoch milliseconds. `None` if there is no token. */
  readonly expiresAt: Option.Option<number>
  /** The last exchange that failed, if any. It remains after a later success. Neither closing the client nor a defect counts as a failure. */
  readonly lastFailure: Option.Option<Failure>
}

/** Returns a new status each time, because a caller may change it. */
export const tokenStatusOf = (
  current: Option.Option<{ readonly token: AccessToken.AccessToken; readonly state: AccessToken.State }>,
  lastFailure: TokenStatus["lastFailure"]
): TokenStatus => ({
  state: Option.match(current, { onNone: () => "none", onSome: ({ state }) => state }),
  expiresAt: Option.map(current, ({ token }) => token.expiresAt),
  lastFailure
})
