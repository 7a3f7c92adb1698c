/**
 * Every error a caller can meet. Each is matched by `_tag`, carries numbers, literals and scrubbed short texts only, and
 * says in its `message` what happened and what to do. None holds a request, a response, a header, a URL or a foreign cause.
 *
 * @since 1.0.0
 */
import * as Schema from "effect/Schema"

/**
 * The call an error belongs to: the exchange of the license key, a food search, or a request through the authorized client.
 *
 * @since 1.0.0
 * @category models
 */
export const Operation = Schema.Literal("token", "search", "request")

/**
 * The call an error belongs to: "token", "search" or "request".
 *
 * @since 1.0.0
 * @category models
 */
export type Operation = typeof Operation.Type

const callNames: Record<Operation, string> = {
  token: "The token exchange",
  search: "The search",
  request: "The request"
}

const statusText = (status: number | undefined) => status === undefined ? "" : ` with status ${status}`

const retryText = (retryAfter: number | undefined) =>
  retryAfter === undefined ? "Try again later." : `Try again in ${Math.ceil(retryAfter)} s.`

const detailText = (detail: string | undefined) => detail === undefined ? "" : ` (${detail})`

/**
 * The service called the request malformed (400, SERVICE.md section 7), or the client refused it before it was sent: a blank
 * or ill-formed search term, or a URL outside the base URL. `status` is absent when nothing was sent.
 *
 * @since 1.0.0
 * @category errors
 */
export class BadRequest extends Schema.TaggedError<BadRequest>("effect-nutrition-advisor/BadRequest")("BadRequest", {
  operation: Operation,
  status: Schema.optional(Schema.Number),
  detail: Schema.optional(Schema.String)
}) {
  override get message(): string {
    return this.status === undefined
      ? `${callNames[this.operation]} was not sent${detailText(this.detail)}. Correct the request.`
      : this.operation === "token"
      ? `${callNames.token} was refused${statusText(this.status)}${detailText(this.detail)}. Check the license key.`
      : `${callNames[this.operation]} was refused${statusText(this.status)}${
        detailText(this.detail)
      }. Correct the request.`
  }
}

/**
 * The service failed (5xx, SERVICE.md section 7). `retryAfter` is in seconds, where the service named a time
 * (RFC 9110 section 10.2.3).
 *
 * @since 1.0.0
 * @category errors
 */
export class ServerError
  extends Schema.TaggedError<ServerError>("effect-nutrition-advisor/ServerError")("ServerError", {
    operation: Operation,
    status: Schema.Number,
    retryAfter: Schema.optional(Schema.Number)
  })
{
  override get message(): string {
    return `${callNames[this.operation]} failed at the service${statusText(this.status)}. ${retryText(this.retryAfter)}`
  }
}

/**
 * Why a {@link Forbidden} is final: `RejectedAgain` after one renewal; `TokenUnchanged`, the exchange handed back the very
 * token that was rejected; `CoolingDown`, the last renewal did not help and the next one must wait; `KeyRejected`, the
 * token route refused the license key; `BodyNotReplayable`, the token was renewed, but a streamed body can't be sent twice.
 *
 * @since 1.0.0
 * @category models
 */
export const ForbiddenReason = Schema.Literal(
  "RejectedAgain",
  "TokenUnchanged",
  "CoolingDown",
  "KeyRejected",
  "BodyNotReplayable"
)

/**
 * Why a {@link Forbidden} is final.
 *
 * @since 1.0.0
 * @category models
 */
export type ForbiddenReason = typeof ForbiddenReason.Type

const forbiddenTexts: Record<ForbiddenReason, string> = {
  RejectedAgain: "was rejected, and rejected again with a new token. The license may not cover it.",
  TokenUnchanged: "was rejected, and the service handed back the same token. The license may not cover it.",
  CoolingDown: "was rejected, and renewing the token did not help a moment ago. The license may not cover it.",
  KeyRejected: "was rejected. Check the license key, and the route it was sent to: baseUrl and tokenRoute.",
  BodyNotReplayable:
    "was rejected, the token was renewed, and a streamed body can't be sent twice. Send the request again."
}

/**
 * A token was rejected and renewing it did not help or would be pointless (SERVICE.md section 5, rule 6), or the token route
 * refused the license key. `status` is the status that the service answered with.
 *
 * @since 1.0.0
 * @category errors
 */
export class Forbidden extends Schema.TaggedError<Forbidden>("effect-nutrition-advisor/Forbidden")("Forbidden", {
  operation: Operation,
  status: Schema.Number,
  reason: ForbiddenReason
}) {
  override get message(): string {
    return `${callNames[this.operation]} ${forbiddenTexts[this.reason]} (status ${this.status})`
  }
}

/**
 * The exchange brought no customer identifier and none is configured, so no data request can be sent (SERVICE.md section 5,
 * rule 4).
 *
 * @since 1.0.0
 * @category errors
 */
export class MissingServiceId
  extends Schema.TaggedError<MissingServiceId>("effect-nutrition-advisor/MissingServiceId")("MissingServiceId", {
    operation: Operation
  })
{
  override get message(): string {
    return `${
      callNames[this.operation]
    } brought no customer identifier. Set serviceId to the one on the product dashboard.`
  }
}

/**
 * The service asked for fewer requests (429, RFC 6585 section 4). `retryAfter` is in seconds, where the service named a time.
 *
 * @since 1.0.0
 * @category errors
 */
export class TooManyRequests
  extends Schema.TaggedError<TooManyRequests>("effect-nutrition-advisor/TooManyRequests")("TooManyRequests", {
    operation: Operation,
    retryAfter: Schema.optional(Schema.Number)
  })
{
  override get message(): string {
    return `${callNames[this.operation]} met the rate limit of the service. ${retryText(this.retryAfter)}`
  }
}

const transportTexts = {
  Timeout: "had no complete answer in time. Try again, or raise the timeout.",
  Connection: "could not reach the service. Check the base URL and the network.",
  Aborted: "was cut off before the answer was complete. Try again."
}

/**
 * No answer, or half of one: the service could not be reached, the connection broke, or the time was up.
 *
 * @since 1.0.0
 * @category errors
 */
export class TransportError
  extends Schema.TaggedError<TransportError>("effect-nutrition-advisor/TransportError")("TransportError", {
    operation: Operation,
    reason: Schema.Literal("Timeout", "Connection", "Aborted")
  })
{
  override get message(): string {
    return `${callNames[this.operation]} ${transportTexts[this.reason]}`
  }
}

const unexpectedTexts = {
  Status: "was answered with a status that the service does not document",
  Redirect: "was answered with a redirect, which is never followed. Check the base URL",
  TooLarge: "was answered with a body above maxResponseBytes",
  NotJson: "was answered with a body that is not JSON. Check the base URL",
  Schema: "was answered with JSON of another shape than expected"
}

/**
 * An answer that the client can't use: another status, a redirect, a body that is too large, not JSON, or not what the
 * schema says.
 *
 * @since 1.0.0
 * @category errors
 */
export class UnexpectedResponse
  extends Schema.TaggedError<UnexpectedResponse>("effect-nutrition-advisor/UnexpectedResponse")("UnexpectedResponse", {
    operation: Operation,
    status: Schema.Number,
    reason: Schema.Literal("Status", "Redirect", "TooLarge", "NotJson", "Schema")
  })
{
  override get message(): string {
    return `${callNames[this.operation]} ${unexpectedTexts[this.reason]} (status ${this.status}).`
  }
}

/**
 * The license key could not be had: the effect that reads it failed, or what it read can't be a key. Users construct it in
 * that effect; `operation` is "token" unless said otherwise.
 *
 * @since 1.0.0
 * @category errors
 */
export class LicenseKeyUnavailable
  extends Schema.TaggedError<LicenseKeyUnavailable>("effect-nutrition-advisor/LicenseKeyUnavailable")(
    "LicenseKeyUnavailable",
    {
      operation: Operation.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => "token" as const)),
      detail: Schema.optional(Schema.String)
    }
  )
{
  override get message(): string {
    return `The license key is not available${detailText(this.detail)}. Check where the application keeps it.`
  }
}

const aDuration =
  "a duration above zero and below 2^31 milliseconds (24.8 days), such as \"30 seconds\"; a number is milliseconds"

const durationText = `must be ${aDuration}`

const configurationTexts: Record<string, string> = {
  baseUrl:
    "must be an absolute https address without query, fragment or user name (http only to this machine itself, " +
    "or with allowInsecureHttp)",
  licenseKey:
    "must be the key from the product dashboard, as a Redacted or an Effect of one: not blank, no dot segment, " +
    "no control characters, no white space at its ends, no placeholder",
  tokenRoute: "must be advisor-licence, advisor-token, unified, or a path that starts with / and ends with /{key}",
  serviceId: "must be the identifier from the product dashboard, in visible ASCII characters",
  serviceIdHeader: "must be a header name that HTTP allows and that nothing else uses",
  rejectedStatuses: "must be whole numbers from 400 to 499",
  requestTimeout: durationText,
  tokenTimeout: durationText,
  cacheTimeout: durationText,
  keepAliveTimeout: durationText,
  connectTimeout: durationText,
  headersTimeout: durationText,
  bodyTimeout: durationText,
  maxResponseBytes: "must be a whole number above zero",
  connections: "must be a whole number above zero",
  undici: "must be settings that undici takes",
  lease: `must be longer than tokenTimeout, and ${aDuration}`,
  url: "must be an address that starts with redis:// or rediss://",
  prefix: "must hold no braces",
  environment: "must be a server: in a browser the license key would be visible to everyone"
}

/**
 * A setting that the client can't work with, found while the layer is built. `field` is the name of the setting; its value
 * is never repeated.
 *
 * @since 1.0.0
 * @category errors
 */
export class ConfigurationError
  extends Schema.TaggedError<ConfigurationError>("effect-nutrition-advisor/ConfigurationError")("ConfigurationError", {
    field: Schema.String
  })
{
  override get message(): string {
    return `The setting ${this.field} ${
      configurationTexts[this.field] ?? "must be positive and finite, and in proportion to the others"
    }.`
  }
}

/**
 * What an exchange of the license key can end in.
 *
 * @since 1.0.0
 * @category models
 */
export type TokenError =
  | BadRequest
  | ServerError
  | Forbidden
  | MissingServiceId
  | TooManyRequests
  | TransportError
  | UnexpectedResponse
  | LicenseKeyUnavailable

/**
 * What a search or an authorized request can end in. A token error that ends one keeps `operation` "token".
 *
 * @since 1.0.0
 * @category models
 */
export type NutritionAdvisorError =
  | BadRequest
  | ServerError
  | Forbidden
  | MissingServiceId
  | TooManyRequests
  | TransportError
  | UnexpectedResponse
  | LicenseKeyUnavailable
