/**
 * License key in, AccessToken out: the three token routes of the service.
 *
 * @since 1.0.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { AccessToken } from "./AccessToken.js"
import * as Answer from "./internal/answer.js"
import * as Configuration from "./internal/configuration.js"
import * as ExchangeSpan from "./internal/exchangeSpan.js"
import * as Http from "./internal/http.js"
import * as LicenseKey from "./internal/licenseKey.js"
import * as Url from "./internal/url.js"
import {
  type ConfigurationError,
  Forbidden,
  type LicenseKeyUnavailable,
  MissingServiceId,
  type ServerError,
  type TokenError,
  TransportError,
  UnexpectedResponse
} from "./NutritionAdvisorError.js"
import * as RefreshPolicy from "./RefreshPolicy.js"

/**
 * Why a token is asked for: there is none, the one in use grows old, or the service rejected it.
 *
 * @since 1.0.0
 * @category models
 */
export type Reason = "missing" | "refresh" | "rejection"

/**
 * How a token is bought (SERVICE.md section 5, rules 1 and 2).
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /**
   * Exchanges the license key for a token; `replacing` is the one that is no longer good enough, if there is one, and `reason`
   * says why. An issuer that always exchanges need not look at either. Ends in any error of TokenError.
   */
  readonly issue: (replacing: Option.Option<AccessToken>, reason?: Reason) => Effect.Effect<AccessToken, TokenError>
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
export type TokenRoute = Configuration.TokenRoute

/**
 * The settings of the exchange; only `baseUrl` and `licenseKey` are needed.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The address of the service: https; http only to a loopback host, or with `allowInsecureHttp`. A path prefix is kept. */
  readonly baseUrl: string | URL
  /** The key itself, or an effect that is run at each exchange, so that a rotated key is picked up. */
  readonly licenseKey: Redacted.Redacted<string> | Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable>
  /** The route of the exchange (SERVICE.md sections 4.1 to 4.3); "advisor-licence" by default. */
  readonly tokenRoute?: TokenRoute | undefined
  /** The identifier from the product dashboard; it wins over the customer_id of the exchange. */
  readonly serviceId?: string | undefined
  /** Its `attempts`, `attemptDelay` and `longestLife` count here. */
  readonly refresh?: Partial<RefreshPolicy.RefreshPolicy> | undefined
  /** The time of one exchange, its retries included; 10 seconds by default. */
  readonly tokenTimeout?: Duration.DurationInput | undefined
  /** Allows plain http to any host: for tests. */
  readonly allowInsecureHttp?: boolean | undefined
}

const maxTokenBytes = 64 * 1024

const HeaderToken = Schema.String.pipe(Schema.pattern(/^[\x21-\x7e]+$/))

const Seconds = Schema.Union(Schema.Number, Schema.NumberFromString).pipe(
  Schema.finite(),
  Schema.positive()
)

/** SERVICE.md section 2: the token response. Its parse errors hold secrets and are dropped where it is used. */
const TokenResponse = Schema.Struct({
  access_token: Schema.Redacted(HeaderToken),
  expires_in: Seconds,
  token_type: Schema.optional(Schema.NullOr(Schema.String.pipe(Schema.pattern(/^bearer$/i)))),
  scope: Schema.optional(Schema.NullOr(Schema.String)),
  customer_id: Schema.optional(Schema.Unknown)
})

/** Floored to the millisecond, after the product is rounded to what a double holds: 1.001 * 1000 falls just short of 1001. */
const wholeMillis = (seconds: number): number => Math.floor(Number((seconds * 1000).toPrecision(15)))

const isTransient = (error: TokenError): error is TransportError | ServerError =>
  error._tag === "TransportError" || error._tag === "ServerError"

const retryAfterMillis = (error: TokenError): number =>
  error._tag === "ServerError" && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0

const retries = (timing: RefreshPolicy.Timing) =>
  RefreshPolicy.betweenAttempts(timing).pipe(
    Schedule.intersect(Schedule.identity<TokenError>()),
    Schedule.modifyDelay(([, error], delay) => Duration.max(delay, Duration.millis(retryAfterMillis(error))))
  )

const unexpected = (status: number) => new UnexpectedResponse({ operation: "token", status, reason: "Schema" })

/**
 * An issuer over the HttpClient in the context. An exchange is tried again while there is no answer or a 5xx, within
 * `tokenTimeout`; a Retry-After (RFC 9110 section 10.2.3) is respected where it fits in. Ends in ConfigurationError where a
 * setting is wrong.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Service, ConfigurationError, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    yield* Configuration.server()
    const timing = yield* RefreshPolicy.make(options.refresh)
    const base = yield* Configuration.baseUrl(options.baseUrl, options.allowInsecureHttp)
    const licenseKey = yield* LicenseKey.check(options.licenseKey)
    const route = yield* Configuration.tokenRoute(options.tokenRoute)
    const serviceId = yield* Configuration.serviceId(options.serviceId)
    const timeout = yield* Configuration.timeout("tokenTimeout", options.tokenTimeout ?? "10 seconds")
    const client = Http.quiet(yield* HttpClient.HttpClient)
    const decodeResponse = Schema.decodeUnknownOption(TokenResponse)

    const identifierOf = (customerId: unknown, status: number) => {
      if (Option.isSome(serviceId)) return Effect.succeed(serviceId.value)
      const isMissing = customerId === undefined || customerId === null ||
        (typeof customerId === "string" && customerId.trim() === "")
      if (isMissing) return Effect.fail(new MissingServiceId({ operation: "token" }))
      return typeof customerId === "string" && Configuration.isHeaderValue(customerId)
        ? Effect.succeed(Redacted.make(customerId))
        : Effect.fail(unexpected(status))
    }

    const last = yield* Ref.make(Option.none<AccessToken>())

    const exchange = (key: Redacted.Redacted<string>, replacing: Option.Option<AccessToken>) =>
      Effect.gen(function*() {
        const request: Http.Request = {
          method: "POST",
          origin: base.origin,
          path: base.pathname + route.replace("{key}", () => Url.encode(Redacted.value(key))),
          headers: { accept: "*/*" },
          body: HttpBody.empty
        }
        const answer = yield* client(request, { operation: "token", maxBytes: maxTokenBytes })
        const receivedAt = yield* Clock.currentTimeMillis
        yield* Effect.annotateCurrentSpan("http.response.status_code", answer.status)
        if (answer.status === 401 || answer.status === 403) {
          return yield* new Forbidden({ operation: "token", status: answer.status, reason: "KeyRejected" })
        }
        if (!Answer.isOk(answer.status)) {
          const former = [...Option.toArray(replacing), ...Option.toArray(yield* Ref.get(last))]
          const secrets = [
            key,
            ...Option.toArray(serviceId),
            ...former.flatMap((token) => [token.value, token.serviceId])
          ]
          return yield* Answer.refusal(answer, "token", Option.some(secrets))
        }
        const { status } = answer
        const body = yield* Answer.json(answer, "token")
        const response = yield* Effect.mapError(decodeResponse(body), () => unexpected(status))
        return new AccessToken({
          value: response.access_token,
          serviceId: yield* identifierOf(response.customer_id, status),
          tokenType: "Bearer",
          scope: Option.fromNullable(response.scope),
          receivedAt,
          expiresAt: receivedAt + Math.min(wholeMillis(response.expires_in), timing.longestLife)
        })
      })

    const issue: Service["issue"] = (replacing) =>
      Effect.clockWith((clock) => {
        const deadline = clock.unsafeCurrentTimeMillis() + Duration.toMillis(timeout)
        return Effect.zipRight(ExchangeSpan.announce, LicenseKey.read(licenseKey)).pipe(
          Effect.flatMap((key) =>
            Effect.retry(exchange(key, replacing), {
              schedule: retries(timing),
              while: (error) =>
                isTransient(error) && clock.unsafeCurrentTimeMillis() + retryAfterMillis(error) < deadline
            })
          ),
          Effect.tap((token) => Ref.set(last, Option.some(token))),
          Effect.timeoutFail({
            duration: timeout,
            onTimeout: () => new TransportError({ operation: "token", reason: "Timeout" })
          }),
          Effect.withSpan("TokenIssuer.issue", {
            attributes: { "http.request.method": "POST", "url.template": route },
            captureStackTrace: false,
            kind: "client",
            root: true
          })
        )
      })

    return { issue }
  })

/**
 * An issuer over the HttpClient in the context. Building it ends in ConfigurationError where a setting is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<TokenIssuer, ConfigurationError, HttpClient.HttpClient> =>
  Layer.effect(TokenIssuer, make(options))
