/**
 * Provides one usable token to all callers. It runs one exchange at a time, refreshes the token before it expires, and renews it after a
 * rejection.
 *
 * @since 1.0.0
 * @module
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as AccessToken from "./AccessToken.js"
import * as Composition from "./internal/settings/composition.js"
import { withTimeoutRepeatingIfSuspended } from "./internal/token/exchangeTimeout.js"
import * as Provider from "./internal/token/provider.js"
import type * as Status from "./internal/token/status.js"
import type { ConfigurationError, TokenError } from "./NutritionAdvisorError.js"
import type * as RefreshPolicy from "./RefreshPolicy.js"
import { TokenIssuer } from "./TokenIssuer.js"
import { TokenStore } from "./TokenStore.js"

/**
 * The current state of the token, for health checks. It contains no secret, unless your own code puts one into a token or an error.
 *
 * @since 1.0.0
 * @category models
 */
export interface TokenStatus extends Status.TokenStatus {}

/**
 * An exchange that failed.
 *
 * @since 1.0.0
 * @category models
 */
export interface Failure {
  /** The error that the exchange failed with. */
  readonly error: TokenError
  /** The time of the failure, in epoch milliseconds. */
  readonly at: number
  /** The end of the backoff, in epoch milliseconds: no other exchange starts earlier. */
  readonly retryAt: number
}

/**
 * Gets, replaces and inspects the token. `get` and `renew` can fail with any `TokenError`; `status` never fails.
 *
 * @example
 * ```ts
 * import { Effect, Option } from "effect"
 * import { TokenProvider } from "effect-nutrition-advisor"
 *
 * export const health = Effect.gen(function*() {
 *   const provider = yield* TokenProvider.TokenProvider
 *   const { expiresAt, lastFailure, state } = yield* provider.status
 *   return {
 *     state,
 *     expiresAt: Option.getOrNull(expiresAt),
 *     lastFailure: Option.getOrNull(Option.map(lastFailure, ({ error }) => error._tag))
 *   }
 * })
 * ```
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /**
   * Returns a token that has not expired: the current one, or the result of an exchange that all callers wait for. A stale token is
   * returned immediately, while a refresh runs in the background.
   */
  readonly get: Effect.Effect<AccessToken.AccessToken, TokenError>
  /**
   * Returns a token that differs from the rejected one: the current token if it differs already, or the result of a new exchange. If the
   * exchange fails and no other token has arrived, the rejected token is used again.
   *
   * Also fails with `Forbidden`, reason "CoolingDown", if two renewals started within the last `coolDown`, and with reason "TokenUnchanged" if
   * the exchange returns the rejected token. Its `operation` is always "request" and its `status` 403, because a TokenProvider doesn't know
   * the response. The caller does, and can create a `Forbidden` from it.
   */
  readonly renew: (rejected: AccessToken.AccessToken) => Effect.Effect<AccessToken.AccessToken, TokenError>
  /** Returns the state of the token without starting an exchange. */
  readonly status: Effect.Effect<TokenStatus>
}

/**
 * The tag of the TokenProvider: one usable token for all callers.
 *
 * @since 1.0.0
 * @category tags
 */
export class TokenProvider extends Context.Tag("effect-nutrition-advisor/TokenProvider")<TokenProvider, Service>() {}

/**
 * Options of a TokenProvider that you compose yourself. You can also pass all options of the client.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The refresh options, unless `policy` is set. Every field has a default. */
  readonly refresh?: RefreshPolicy.Options | undefined
  /**
   * The timeout of one exchange, including TokenIssuer and TokenStore. A number means milliseconds. 10 seconds by default. With a
   * SharedTokenIssuer, add the wait for another replica: `lease` + 2 x `tokenTimeout` + 3 x `cacheTimeout` of its options.
   */
  readonly tokenTimeout?: Duration.DurationInput | undefined
}

/**
 * Creates a TokenProvider from the TokenIssuer and the TokenStore in the context. Its exchanges and its background refresh stop when the
 * scope is closed; calls that need an exchange then fail with `TransportError`, reason "Closed". If the issuer or the store takes longer
 * than `tokenTimeout`, calls fail with `TransportError`, reason "Timeout".
 *
 * Fails with `ConfigurationError` if a field of the policy or an option is invalid.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  policy?: RefreshPolicy.Options,
  options: Options = {}
): Effect.Effect<Service, ConfigurationError, TokenIssuer | TokenStore | Scope.Scope> =>
  Effect.gen(function*() {
    const { refresh, tokenTimeout } = yield* Composition.parseProvider({
      ...options,
      refresh: policy ?? options.refresh
    })
    const withTimeout = withTimeoutRepeatingIfSuspended(tokenTimeout)
    return yield* Provider.make({
      policy: refresh,
      issuer: yield* TokenIssuer,
      store: yield* TokenStore,
      withFlightTimeout: withTimeout,
      withReadTimeout: withTimeout
    })
  })

/**
 * A layer with a TokenProvider from the TokenIssuer and the TokenStore in the context. Call this function once for each license key: the
 * layer is memoized, so all clients that use the same layer share its token. It fails with `ConfigurationError` if a field of the
 * policy or an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (
  policy?: RefreshPolicy.Options,
  options?: Options
): Layer.Layer<TokenProvider, ConfigurationError, TokenIssuer | TokenStore> =>
  Layer.scoped(TokenProvider, make(policy, options))
