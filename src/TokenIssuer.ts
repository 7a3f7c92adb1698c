/**
 * License key in, AccessToken out, over a token route of the service.
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
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { AccessToken } from "./AccessToken.js"
import { monotonicMillis } from "./internal/clock.js"
import * as Answer from "./internal/http/answer.js"
import * as HttpClientBoundary from "./internal/http/client.js"
import * as Url from "./internal/http/url.js"
import * as Settings from "./internal/settings.js"
import { readLicenseKey } from "./internal/token/licenseKey.js"
import * as TokenResponse from "./internal/token/response.js"
import { withTokenTimeout } from "./internal/token/withTimeout.js"
import { type ConfigurationError, Forbidden, isTransient, type TokenError } from "./NutritionAdvisorError.js"
import * as RefreshPolicy from "./RefreshPolicy.js"

/**
 * What an exchange is asked with. An issuer that always exchanges can ignore all of it.
 *
 * @since 1.0.0
 * @category models
 */
export interface ExchangeRequest {
  /** Why a token is asked for: there is none, the one in use grows old, or the service rejected it. */
  readonly reason: "missing" | "refresh" | "rejection"
  /** The token that must be replaced, if there is one. */
  readonly replacing: Option.Option<AccessToken>
}

/**
 * How the license key is exchanged for a token (SERVICE.md section 5, rules 1 and 2).
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** Exchanges the license key for a token. Ends in any error of TokenError. */
  readonly issue: (request: ExchangeRequest) => Effect.Effect<AccessToken, TokenError>
}

/**
 * Exchanges the license key for a token.
 *
 * @since 1.0.0
 * @category tags
 */
export class TokenIssuer extends Context.Tag("effect-nutrition-advisor/TokenIssuer")<TokenIssuer, Service>() {}

/**
 * The token routes of SERVICE.md sections 4.1 to 4.3 by name, or a path of one's own that ends with `/{key}`.
 *
 * @since 1.0.0
 * @category models
 */
export type TokenRoute = NonNullable<Settings.ExchangeOptions["tokenRoute"]>

/**
 * The settings of the exchange; only `baseUrl` and `licenseKey` are needed.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends Settings.ExchangeOptions {}

const kind: Answer.Kind = { operation: "token", maxBytes: 64 * 1024, observeHeaders: [] }

/** A route that asks for fewer exchanges is not asked again at once. */
const isWorthAnotherAttempt = (error: TokenError) => isTransient(error) && error._tag !== "TooManyRequests"

const retryAfterMillis = (error: TokenError): number =>
  error._tag === "ServerError" && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0

/**
 * An issuer over the HttpClient in the context. An exchange is tried again while there is no answer or a 5xx, within
 * `tokenTimeout`; a Retry-After (RFC 9110 section 10.2.3) is respected where it fits in. Ends in ConfigurationError where a
 * setting is wrong.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Service, ConfigurationError, HttpClient.HttpClient> =>
  Effect.suspend(() => Settings.parseExchange(options)).pipe(
    Effect.flatMap((settings) =>
      Effect.map(fromSettings(settings), ({ issue }) => ({
        issue: (request) => withTokenTimeout(settings.tokenTimeout)(issue(request))
      }))
    )
  )

/** Whether a text repeats a secret, as it is or percent-encoded. */
const isRepeatedIn = (text: string) => (secret: Redacted.Redacted<string>) =>
  [Redacted.value(secret), Url.encode(Redacted.value(secret))].some((form) =>
    text.toLowerCase().includes(form.toLowerCase())
  )

/** Without a bound of its own: a flight has one. @internal */
export const fromSettings = (
  { base, licenseKey, ownHeaders, policy, routeTemplate, serviceId, tokenTimeout }: Settings.ExchangeSettings
): Effect.Effect<Service, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (client) => {
    const send = HttpClientBoundary.make(client)
    const attributes = { ...Url.serverAttributes(base), "http.request.method": "POST", "url.template": routeTemplate }

    const tokenOf = (answer: Answer.Answer, key: Redacted.Redacted<string>, receivedAt: number) =>
      Effect.gen(function*() {
        const { status } = answer
        const json = yield* Answer.json(answer)
        const response = yield* TokenResponse.decode(json, status)
        const id = serviceId ?? (yield* TokenResponse.identifierOf(response, status))
        const secrets = [key, response.access_token, id]
        return new AccessToken({
          value: response.access_token,
          serviceId: id,
          tokenType: "Bearer",
          scope: Option.filter(Option.fromNullable(response.scope), (scope) => !secrets.some(isRepeatedIn(scope))),
          receivedAt,
          expiresAt: receivedAt + TokenResponse.lifeOf(response)
        })
      })

    const exchange = (key: Redacted.Redacted<string>): Effect.Effect<AccessToken, TokenError> =>
      Effect.gen(function*() {
        const answer = yield* send({
          method: "POST",
          origin: base.origin,
          path: base.pathname + routeTemplate.replace("{key}", () => Url.encode(Redacted.value(key))),
          headers: { accept: "*/*", ...ownHeaders },
          body: HttpBody.empty
        }, kind)
        const receivedAt = yield* Clock.currentTimeMillis
        const { status } = answer
        yield* Effect.annotateCurrentSpan("http.response.status_code", status)
        if (status === 401 || status === 403) {
          return yield* new Forbidden({ ...Answer.fieldsWithBody(answer), reason: "KeyRejected" })
        }
        if (!Answer.isOk(status)) return yield* Answer.statusError(answer)
        return yield* tokenOf(answer, key, receivedAt)
      })

    return {
      issue: () =>
        Effect.gen(function*() {
          yield* Effect.annotateCurrentSpan(attributes)
          const clock = yield* Effect.clock
          const deadline = monotonicMillis(clock) + tokenTimeout
          const key = yield* readLicenseKey(licenseKey)
          return yield* Effect.retry(exchange(key), {
            schedule: RefreshPolicy.betweenAttempts(policy, retryAfterMillis),
            while: (error) =>
              isWorthAnotherAttempt(error) && monotonicMillis(clock) + retryAfterMillis(error) < deadline
          })
        })
    }
  })

/**
 * An issuer over the HttpClient in the context. Building it ends in ConfigurationError where a setting is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<TokenIssuer, ConfigurationError, HttpClient.HttpClient> =>
  Layer.effect(TokenIssuer, make(options))
