import type * as Clock from "effect/Clock"
import type { AccessToken } from "../../AccessToken.js"
import * as InternalPart from "../internalPart.js"

/** What this package's own TokenProvider can do beside its interface, for the hot path of a search. */
interface ProviderPart {
  /** The token that `get` would give where it is fresh, at once; undefined where `get` has to look or to wait. */
  readonly freshToken: (clock: Clock.Clock) => AccessToken | undefined
  /** Whether the token was rejected more than once, and is not the current one any more. */
  readonly isRejected: (token: AccessToken) => boolean
}

export const ProviderPart = InternalPart.make<object, ProviderPart>("TokenProvider/hotPath")
