/**
 * Exchanges the license key for an AccessToken through a token route of the service.
 *
 * @since 1.0.0
 * @module
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { AccessToken } from "./AccessToken.js"
import { isRetryable } from "./internal/errors/isRetryable.js"
import { retryAfterMillis } from "./internal/errors/retryAfter.js"
import { isOk } from "./internal/http/dispatch.js"
import * as Send from "./internal/http/send.js"
import * as ServiceResponse from "./internal/http/serviceResponse.js"
import * as Url from "./internal/http/url.js"
import { monotonicMillis } from "./internal/runtime/clock.js"
import * as Settings from "./internal/settings/settings.js"
import { serverAttributes } from "./internal/telemetry/span.js"
import { betweenAttempts } from "./internal/token/delays.js"
import { readLicenseKey } from "./internal/token/licenseKey.js"
import * as TokenResponse from "./internal/token/response.js"
import { withTimeoutRepeatingIfStopped } from "./internal/token/withTimeout.js"
import { type ConfigurationError, Forbidden, type TokenError } from "./NutritionAdvisorError.js"

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
 * The name of a token route of SERVICE.md sections 4.1 to 4.3, or your own path, which starts with `/` and ends with `/{key}`.
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

const limits: Send.ResponseLimits = { maxBytes: 64 * 1024, observeHeaders: [] }

/**
 * Creates an issuer that uses the HttpClient in the context. It retries an exchange if there is no response or a 5xx, up to
 * `refresh.attempts` attempts within `tokenTimeout`. It waits for the time in a Retry-After header (RFC 9110 section 10.2.3), and
 * doesn't retry if that time is beyond `tokenTimeout`. Fails with ConfigurationError if a setting is invalid.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Service, ConfigurationError, HttpClient.HttpClient> =>
  Effect.suspend(() => Settings.parseExchange(options)).pipe(
    Effect.flatMap((settings) =>
      Effect.map(fromSettings(settings), ({ issue }) => ({
        issue: (request) => withTimeoutRepeatingIfStopped(settings.tokenTimeout)(issue(request))
      }))
    )
  )

/** Creates an issuer whose exchanges have no timeout, because the caller applies `tokenTimeout`. @internal */
export const fromSettings = (
  { baseUrl, licenseKey, refresh, serviceId, tokenRoute, tokenTimeout, userAgent }: Settings.ExchangeSettings
): Effect.Effect<Service, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (client) => {
    const send = Send.make(client)
    const attributes = { ...serverAttributes(baseUrl), "http.request.method": "POST", "url.template": tokenRoute }

    const exchange = (key: Redacted.Redacted<string>): Effect.Effect<AccessToken, TokenError> =>
      Effect.gen(function*() {
        const response = yield* send(
          {
            method: "POST",
            origin: baseUrl.origin,
            path: baseUrl.pathname + tokenRoute.replace("{key}", () => Url.encode(Redacted.value(key))),
            headers: { accept: "*/*", "user-agent": userAgent },
            body: HttpBody.empty
          },
          "token",
          limits
        )
        const receivedAt = yield* Clock.currentTimeMillis
        const { status } = response
        yield* Effect.annotateCurrentSpan("http.response.status_code", status)
        if (status === 401 || status === 403) {
          return yield* new Forbidden({ ...ServiceResponse.fieldsWithBody(response), reason: "KeyRejected" })
        }
        if (!isOk(status)) return yield* ServiceResponse.statusError(response)
        const json = yield* ServiceResponse.json(response)
        return yield* TokenResponse.tokenFrom(json, { key, serviceId, status, receivedAt })
      })

    return {
      issue: () =>
        Effect.gen(function*() {
          yield* Effect.annotateCurrentSpan(attributes)
          const clock = yield* Effect.clock
          const deadline = monotonicMillis(clock) + tokenTimeout
          const key = yield* readLicenseKey(licenseKey)
          return yield* Effect.retry(exchange(key), {
            schedule: betweenAttempts(refresh, retryAfterMillis),
            while: (error) => isRetryable(error) && monotonicMillis(clock) + retryAfterMillis(error) < deadline
          })
        })
    }
  })

/**
 * Provides an issuer that uses the HttpClient in the context. Fails with ConfigurationError if a setting is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<TokenIssuer, ConfigurationError, HttpClient.HttpClient> =>
  Layer.effect(TokenIssuer, make(options))
