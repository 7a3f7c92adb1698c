/**
 * One usable token for all callers: single flight, a refresh schedule, and renewal after a rejection.
 *
 * @since 1.0.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as AccessToken from "./AccessToken.js"
import * as Background from "./internal/background.js"
import * as Settings from "./internal/settings.js"
import * as Provider from "./internal/token/provider.js"
import type { ConfigurationError, Forbidden, TokenError } from "./NutritionAdvisorError.js"
import type * as RefreshPolicy from "./RefreshPolicy.js"
import { TokenIssuer } from "./TokenIssuer.js"
import { TokenStore } from "./TokenStore.js"

/**
 * What a health page may show: nothing of it prints a secret, unless a `detail` of the application's own in `lastFailure` does.
 *
 * @since 1.0.0
 * @category models
 */
export interface TokenStatus {
  readonly state: "none" | AccessToken.State
  /** When the service stops accepting the token, in epoch milliseconds. */
  readonly expiresAt: Option.Option<number>
  /** The last exchange that ended in an error, if any did; later successes do not take it away. */
  readonly lastFailure: Option.Option<Failure>
}

/**
 * An exchange that failed: when, and before which time no other is tried, in epoch milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export interface Failure {
  readonly error: TokenError
  readonly at: number
  readonly retryAt: number
}

/**
 * How the token is used, replaced and watched; `get` and `renew` can end in any error of TokenError, the others can't fail.
 *
 * @example
 * ```ts
 * import { Effect, Option } from "effect"
 * import { TokenProvider } from "effect-nutrition-advisor"
 *
 * export const health = Effect.gen(function*() {
 *   const { expiresAt, lastFailure, state } = yield* Effect.flatMap(TokenProvider.TokenProvider, ({ status }) => status)
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
  /** A token that is not expired: the current one at once, or the one of the exchange that all callers wait for. */
  readonly get: Effect.Effect<AccessToken.AccessToken, TokenError>
  /**
   * A token other than the rejected one: the current one if it is another, or the token of a new exchange. If the exchange fails and no
   * other token has arrived, the rejected one stays in use. A renewal that would be pointless fails with Forbidden, reason "CoolingDown"
   * or "TokenUnchanged"; whoever has the response that rejected the token adds its status and body.
   */
  readonly renew: (rejected: AccessToken.AccessToken) => Effect.Effect<AccessToken.AccessToken, TokenError | Forbidden>
  /** What is known of the token now, without an exchange. */
  readonly status: Effect.Effect<TokenStatus>
}

/**
 * Gives all callers one usable token, and runs at most one exchange at a time.
 *
 * @since 1.0.0
 * @category tags
 */
export class TokenProvider extends Context.Tag("effect-nutrition-advisor/TokenProvider")<TokenProvider, Service>() {}

/**
 * What a composition of one's own may say beside the policy.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The time for one exchange, whatever TokenIssuer and TokenStore do; 10 seconds by default. A number is milliseconds. */
  readonly tokenTimeout?: Duration.DurationInput | undefined
}

/**
 * A provider over the TokenIssuer and the TokenStore in the context; its exchanges and its Schedule end with the scope. An issuer or
 * a store that does not answer in time ends a call in TransportError with reason "Timeout". Ends in ConfigurationError where a number
 * of the policy is wrong.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  policy?: Partial<RefreshPolicy.RefreshPolicy>,
  options: Options = {}
): Effect.Effect<Service, ConfigurationError, TokenIssuer | TokenStore | Scope.Scope> =>
  Effect.gen(function*() {
    const settings = yield* Settings.parseProvider({ ...options, refresh: policy })
    return yield* Provider.make({
      policy: settings.policy,
      issuer: yield* TokenIssuer,
      store: yield* TokenStore,
      run: yield* Background.make,
      flightTimeout: settings.tokenTimeout,
      storeIsPrompt: false
    })
  })

/**
 * A provider over the TokenIssuer and the TokenStore in the context. Building it ends in ConfigurationError where a number of
 * the policy is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (
  policy?: Partial<RefreshPolicy.RefreshPolicy>,
  options?: Options
): Layer.Layer<TokenProvider, ConfigurationError, TokenIssuer | TokenStore> =>
  Layer.scoped(TokenProvider, make(policy, options))
