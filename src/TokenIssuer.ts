/**
 * Exchanges the license key for an AccessToken through a token route of the service.
 *
 * @since 1.0.0
 * @module
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type { AccessToken } from "./AccessToken.js"
import * as Composition from "./internal/settings/composition.js"
import type * as Settings from "./internal/settings/settings.js"
import { withTimeoutRepeatingIfSuspended } from "./internal/token/exchangeTimeout.js"
import * as Issuer from "./internal/token/issuer.js"
import type { ConfigurationError, TokenError } from "./NutritionAdvisorError.js"

/**
 * The argument of `issue`. An issuer that always exchanges the key can ignore it.
 *
 * @since 1.0.0
 * @category models
 */
export interface ExchangeRequest {
  /** Why a token is needed: there is none, the current one is about to expire, or the service rejected it. */
  readonly reason: "missing" | "refresh" | "rejection"
  /** The token to replace, if there is one. */
  readonly replacing: Option.Option<AccessToken>
}

/**
 * The token exchange (SERVICE.md section 5, rules 1 and 2).
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** Exchanges the license key for a token. Can fail with any TokenError. */
  readonly issue: (request: ExchangeRequest) => Effect.Effect<AccessToken, TokenError>
}

/**
 * The service that exchanges the license key for a token.
 *
 * @since 1.0.0
 * @category tags
 */
export class TokenIssuer extends Context.Tag("effect-nutrition-advisor/TokenIssuer")<TokenIssuer, Service>() {}

/**
 * The name of a token route of SERVICE.md section 4, or your own path, which starts with `/` and ends with `/{key}`.
 *
 * @since 1.0.0
 * @category models
 */
export type TokenRoute = NonNullable<Settings.ExchangeOptions["tokenRoute"]>

/**
 * The options of the token exchange. Only `baseUrl` and `licenseKey` are required.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends Settings.ExchangeOptions {}

/**
 * Creates an issuer that uses the HttpClient in the context. It retries an exchange if there is no response or a 5xx, up to
 * `refresh.attempts` attempts within `tokenTimeout`. Before a retry, it waits as long as a Retry-After header asks (RFC 9110, section
 * 10.2.3). It doesn't retry if `tokenTimeout` would end first. Fails with ConfigurationError if an option is invalid.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Service, ConfigurationError, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const settings = yield* Composition.parseExchange(options)
    const { issue } = yield* Issuer.make(settings)
    return { issue: (request) => withTimeoutRepeatingIfSuspended(settings.tokenTimeout)(issue(request)) }
  })

/**
 * Provides an issuer that uses the HttpClient in the context. Fails with ConfigurationError if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<TokenIssuer, ConfigurationError, HttpClient.HttpClient> =>
  Layer.effect(TokenIssuer, make(options))
