/**
 * Every error a caller can meet. Each is matched by `_tag`, and says in its `message` what happened and what to do. Its fields
 * are numbers, literals, texts of the client's own, `headers` with those that `observeHeaders` names, and `body`, what the service
 * said, which is redacted. None holds a request, a response, a URL or a foreign cause.
 *
 * @since 1.0.0
 */
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Transport from "./internal/transportError.js"

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

const bodyText = (body: Redacted.Redacted<string> | undefined) =>
  body === undefined ? "" : " What the service said is in the field body, redacted."

/** Never encoded, and ignored when decoding: what the service said stays in the process that heard it. */
const Body = Schema.optionalToOptional(Schema.Unknown, Schema.UndefinedOr(Schema.RedactedFromSelf(Schema.String)), {
  decode: () => Option.none(),
  encode: () => Option.none()
})

/** What an error says of the answer that it came from. */
const answered = {
  /** What the service said: the first 4 KiB of a text or JSON answer. It may repeat secrets; no rendering and no encoding shows it. */
  body: Body,
  /** Headers of the answer that `observeHeaders` lists, by their names in lower case. */
  headers: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
}

/**
 * The service called the request malformed (400, SERVICE.md section 7), or the client refused it before it was sent: a blank
 * or ill-formed search term, or a URL outside the base URL. `status` is absent when nothing was sent.
 *
 * @since 1.0.0
 * @category errors
 */
export class BadRequest extends Schema.TaggedError<BadRequest>("effect-nutrition-advisor/BadRequest")("BadRequest", {
  /** The call that failed. */
  operation: Operation,
  /** The status of the answer, 400; absent when nothing was sent. */
  status: Schema.optional(Schema.Number),
  /** Why the client did not send the call, in its own words; never a text of the service. */
  detail: Schema.optional(Schema.String),
  ...answered
}) {
  override get message(): string {
    const what = this.status === undefined ? "was not sent" : `was refused${statusText(this.status)}`
    const advice = this.operation === "token" && this.status !== undefined
      ? "Check the license key."
      : "Correct the request."
    return `${callNames[this.operation]} ${what}${detailText(this.detail)}. ${advice}${bodyText(this.body)}`
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
    /** The call that failed. */
    operation: Operation,
    /** The status of the answer, from 500 to 599. */
    status: Schema.Number,
    /** The seconds to wait, where the service named a time. */
    retryAfter: Schema.optional(Schema.Number),
    ...answered
  })
{
  override get message(): string {
    return `${callNames[this.operation]} failed at the service${statusText(this.status)}. ${retryText(this.retryAfter)}`
  }
}

/**
 * Why a {@link Forbidden} is final: `RejectedAgain` after one renewal; `TokenUnchanged`, the exchange handed back the very
 * token that was rejected; `CoolingDown`, renewals cool down, and the next one must wait; `KeyRejected`, the
 * token route refused the license key; `BodyNotReplayable`, the token was renewed, but this body can't be sent
 * twice: a stream, or raw and neither text nor bytes.
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
  /** The call that failed: "token" where the token route refused the license key. */
  operation: Operation,
  /** The status of the answer that refused the token or the key. */
  status: Schema.Number,
  /** Why it is final. */
  reason: ForbiddenReason,
  ...answered
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
    /** The call that failed. */
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
 * The service asked for fewer requests (429, RFC 6585 section 4), or the client held the call back and sent nothing; `status` is
 * absent then. `retryAfter` is in seconds, where a time is known.
 *
 * @since 1.0.0
 * @category errors
 */
export class TooManyRequests
  extends Schema.TaggedError<TooManyRequests>("effect-nutrition-advisor/TooManyRequests")("TooManyRequests", {
    /** The call that failed. */
    operation: Operation,
    /** The status of the answer, 429; absent when the call was held back and nothing was sent. */
    status: Schema.optional(Schema.Number),
    /** The seconds to wait, where a time is known. */
    retryAfter: Schema.optional(Schema.Number),
    ...answered
  })
{
  override get message(): string {
    const what = this.status === undefined
      ? "was held back and not sent, to keep within the rate limit of the service"
      : "met the rate limit of the service"
    return `${callNames[this.operation]} ${what}. ${retryText(this.retryAfter)}`
  }
}

/**
 * The codes that a {@link TransportError} can name: those of Node, undici and OpenSSL.
 *
 * @since 1.0.0
 * @category models
 */
export const TransportCode: Schema.Schema<TransportCode> = Schema.Literal(...Transport.transportCodes)

/**
 * A code of Node, undici or OpenSSL, such as "ECONNREFUSED".
 *
 * @since 1.0.0
 * @category models
 */
export type TransportCode = Transport.TransportCode

/**
 * No response, or half of one: the service could not be reached, the connection broke, or the request timed out.
 *
 * @since 1.0.0
 * @category errors
 */
export class TransportError
  extends Schema.TaggedError<TransportError>("effect-nutrition-advisor/TransportError")("TransportError", {
    /** The call that failed. */
    operation: Operation,
    /** Whether the request timed out, the service was not reached, or the request was cut off. */
    reason: Schema.Literal("Timeout", "Connection", "Aborted"),
    /** The code of Node, undici or OpenSSL that says why, where there is one. */
    code: Schema.optional(TransportCode)
  })
{
  override get message(): string {
    return `${callNames[this.operation]} ${Transport.transportText(this.reason, this.code)}`
  }
}

const unexpectedTexts = {
  Status: "a status that the service does not document",
  Redirect: "a redirect, which is never followed",
  TooLarge: "a body that is too large",
  NotJson: "a body that is not JSON",
  Schema: "JSON of another shape than expected"
}

const unexpectedAdvice = {
  Status: "Check baseUrl and the path.",
  Redirect: "Check baseUrl.",
  TooLarge: "Raise maxResponseBytes.",
  NotJson: "Check baseUrl.",
  Schema: "Check the schema."
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
    /** The call that failed. */
    operation: Operation,
    /** The status of the answer. */
    status: Schema.Number,
    /** What the client can't use about the answer. */
    reason: Schema.Literal("Status", "Redirect", "TooLarge", "NotJson", "Schema"),
    /** Where `reason` is "Status", what the service said: the first 4 KiB of a text or JSON answer. It may repeat secrets; no rendering and no encoding shows it. */
    body: Body,
    /** Headers of the answer that `observeHeaders` lists, by their names in lower case. */
    headers: answered.headers
  })
{
  override get message(): string {
    const what = `was answered with ${unexpectedTexts[this.reason]} (status ${this.status}).`
    const advice = this.operation === "token" ? "Check baseUrl and tokenRoute." : unexpectedAdvice[this.reason]
    return `${callNames[this.operation]} ${what} ${advice}${bodyText(this.body)}`
  }
}

/**
 * The license key is not available: the effect that reads it failed, or what it read can't be a key. Create this error in that
 * effect; `operation` is "token" by default.
 *
 * @since 1.0.0
 * @category errors
 */
export class LicenseKeyUnavailable
  extends Schema.TaggedError<LicenseKeyUnavailable>("effect-nutrition-advisor/LicenseKeyUnavailable")(
    "LicenseKeyUnavailable",
    {
      /** The call that failed; "token" by default. */
      operation: Operation.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => "token" as const)),
      /** Why; the message shows it, so put nothing into it that was read from the place of the key. */
      detail: Schema.optional(Schema.String)
    }
  )
{
  override get message(): string {
    return `The license key is not available${detailText(this.detail)}. Check where the application keeps it.`
  }
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
    /** The name of the setting. */
    field: Schema.String,
    /** The one rule that it broke, in the client's own words, such as "looks like a placeholder". */
    rule: Schema.optional(Schema.String),
    /** The variable that it was read from, such as NUTRITION_ADVISOR_LICENSE_KEY; absent where it was read from none. */
    variable: Schema.optional(Schema.String)
  })
{
  override get message(): string {
    const setting = `The setting ${this.field}${this.variable === undefined ? "" : ` (${this.variable})`}`
    const rule = this.rule ?? "has a value that the client can't work with"
    return rule.startsWith("`") ? `${setting}: ${rule}.` : `${setting} ${rule}.`
  }
}

/**
 * The classes of all errors that a call can end in. ConfigurationError is not among them: it ends the building of a layer.
 *
 * @since 1.0.0
 * @category errors
 */
export const errors = [
  BadRequest,
  ServerError,
  Forbidden,
  MissingServiceId,
  TooManyRequests,
  TransportError,
  UnexpectedResponse,
  LicenseKeyUnavailable
] as const

/**
 * What a search or an authorized request can end in. A token error that ends one keeps `operation` "token".
 *
 * @since 1.0.0
 * @category models
 */
export type NutritionAdvisorError = InstanceType<(typeof errors)[number]>

/**
 * The schema of all errors that a call can end in. Encoding leaves `body` out.
 *
 * @since 1.0.0
 * @category schemas
 */
export const NutritionAdvisorError = Schema.Union(...errors)

/**
 * What an exchange of the license key can end in: the same errors, with `operation` "token".
 *
 * @since 1.0.0
 * @category models
 */
export type TokenError = NutritionAdvisorError

/**
 * Whether it is one of the errors that a call can end in.
 *
 * @since 1.0.0
 * @category guards
 */
export const isNutritionAdvisorError = (error: unknown): error is NutritionAdvisorError =>
  errors.some((one) => error instanceof one)

/**
 * The HTTP status with which a backend passes each error of a search on to its own callers: the service's own where they can act on it,
 * as on 400 and 429, else one from 502 to 504. An error whose `operation` is "token" is the backend's own trouble, whatever its tag: see
 * {@link statusOf}.
 *
 * @since 1.0.0
 * @category models
 */
export const statuses: Readonly<Record<NutritionAdvisorError["_tag"], number>> = {
  BadRequest: 400,
  ServerError: 502,
  Forbidden: 502,
  MissingServiceId: 503,
  TooManyRequests: 429,
  TransportError: 504,
  UnexpectedResponse: 502,
  LicenseKeyUnavailable: 503
}

/**
 * The HTTP status with which a backend answers its own caller: that of {@link statuses}, or 503 where the exchange of the license key
 * failed.
 *
 * @since 1.0.0
 * @category getters
 */
export const statusOf = ({ _tag, operation }: Pick<NutritionAdvisorError, "_tag" | "operation">): number =>
  operation === "token" ? 503 : statuses[_tag]

/**
 * Whose doing an error is: that of the caller, who corrects the call; that of the operator, who sees to the key, the settings, the
 * plan, and whatever neither another call nor waiting solves; or nobody's, and it passes by itself.
 *
 * @since 1.0.0
 * @category models
 */
export type Kind = "Caller" | "Operator" | "Passing"

const kinds = {
  BadRequest: "Caller",
  ServerError: "Passing",
  Forbidden: "Operator",
  MissingServiceId: "Operator",
  TooManyRequests: "Passing",
  TransportError: "Passing",
  UnexpectedResponse: "Operator",
  LicenseKeyUnavailable: "Operator"
} as const satisfies Record<NutritionAdvisorError["_tag"], Kind>

/**
 * Whose doing an error is. What a caller can't correct, since it belongs to the exchange of the license key, is the operator's.
 *
 * @since 1.0.0
 * @category getters
 */
export const kindOf = ({ _tag, operation }: Pick<NutritionAdvisorError, "_tag" | "operation">): Kind =>
  operation === "token" && kinds[_tag] === "Caller" ? "Operator" : kinds[_tag]

type Passing = { [Tag in keyof typeof kinds]: (typeof kinds)[Tag] extends "Passing" ? Tag : never }[keyof typeof kinds]

/**
 * Whether the same call may succeed later, since the error passes by itself: ServerError, TransportError and TooManyRequests. Whether it may be sent again is
 * for the caller to say: a request that changes something may have been carried out although its answer did not arrive.
 *
 * @example
 * ```ts
 * import { Effect, Schedule } from "effect"
 * import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
 *
 * export const payload = NutritionAdvisor.search("oats").pipe(
 *   Effect.retry({ schedule: Schedule.exponential("1 second"), times: 2, while: NutritionAdvisorError.isTransient })
 * )
 * ```
 *
 * @since 1.0.0
 * @category guards
 */
export const isTransient = (error: unknown): error is Extract<NutritionAdvisorError, { readonly _tag: Passing }> =>
  isNutritionAdvisorError(error) && kinds[error._tag] === "Passing"
