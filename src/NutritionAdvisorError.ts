/**
 * Every error a caller can meet. Each is matched by `_tag`, and says in its `message` what happened and what to do. Its fields
 * are numbers, literals, texts of the client's own, `headers` with those that `observeHeaders` names, and `body`, what the service
 * said, which is redacted. None holds a request, a response, a URL or a foreign cause.
 *
 * @since 1.0.0
 * @module
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { sentenceOf } from "./internal/sentences.js"
import { isPermanent } from "./internal/transportCodes.js"

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

/**
 * A string that may repeat what the service sent. It is redacted in every rendering and never encoded: it stays in the process. Whatever
 * takes its place in the JSON of an error is ignored.
 */
const Hidden = Schema.optionalToOptional(Schema.String, Schema.UndefinedOr(Schema.RedactedFromSelf(Schema.String)), {
  decode: () => Option.none(),
  encode: () => Option.none()
})

/** The class of an error. Its identifier is a name that a component of an OpenAPI document may have. */
const tagged = <Self>() => <const Tag extends string, Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
  Schema.TaggedError<Self>(`NutritionAdvisor.${tag}`)(tag, fields)

/** What an error says of the answer that it came from. */
const ofAnswer = {
  /** The call that failed. */
  operation: Operation,
  /** The status of the answer. */
  status: Schema.Number,
  /** What the service said: the first 4 KiB of a text or JSON answer. It may repeat secrets; no rendering and no encoding shows it. */
  body: Hidden,
  /** Headers of the answer that `observeHeaders` lists, by their names in lower case. */
  headers: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
}

/**
 * The service called the request malformed (400, SERVICE.md section 7), or the client refused it before it was sent: a blank
 * or ill-formed search term, or a URL outside the base URL.
 *
 * @since 1.0.0
 * @category errors
 */
export class BadRequest extends tagged<BadRequest>()("BadRequest", {
  ...ofAnswer,
  /** The status of the answer, 400; absent when there was none. */
  status: Schema.optional(Schema.Number),
  /** Why the client did not send the call, in its own words; never a text of the service. */
  detail: Schema.optional(Schema.String)
}) {}

/**
 * The service failed (5xx, SERVICE.md section 7).
 *
 * @since 1.0.0
 * @category errors
 */
export class ServerError extends tagged<ServerError>()("ServerError", {
  ...ofAnswer,
  /** The seconds to wait, where the service named a time (RFC 9110 section 10.2.3). */
  retryAfter: Schema.optional(Schema.Number)
}) {}

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

/**
 * A token was rejected and renewing it did not help or would be pointless (SERVICE.md section 5, rule 6), or the token route
 * refused the license key.
 *
 * @since 1.0.0
 * @category errors
 */
export class Forbidden extends tagged<Forbidden>()("Forbidden", {
  ...ofAnswer,
  /** Why it is final. */
  reason: ForbiddenReason
}) {}

/**
 * The exchange brought no customer identifier and none is configured, so no data request can be sent (SERVICE.md section 5,
 * rule 4).
 *
 * @since 1.0.0
 * @category errors
 */
export class MissingServiceId extends tagged<MissingServiceId>()("MissingServiceId", {
  /** The call that failed. */
  operation: Operation
}) {}

/**
 * The service asked for fewer requests (429, RFC 6585 section 4), or the client held the call back and sent nothing.
 *
 * @since 1.0.0
 * @category errors
 */
export class TooManyRequests extends tagged<TooManyRequests>()("TooManyRequests", {
  ...ofAnswer,
  /** The status of the answer, 429; absent when the call was held back and nothing was sent. */
  status: Schema.optional(Schema.Number),
  /** The seconds to wait, where a time is known. */
  retryAfter: Schema.optional(Schema.Number)
}) {}

/**
 * No response, or an incomplete one: the service could not be reached, the connection broke, the request timed out, or the client
 * is closed.
 *
 * @since 1.0.0
 * @category errors
 */
export class TransportError extends tagged<TransportError>()("TransportError", {
  /** The call that failed. */
  operation: Operation,
  /** Whether the request timed out, the service was not reached, the request was cut off, or the client is closed. */
  reason: Schema.Literal("Timeout", "Connection", "Aborted", "Closed"),
  /** The code of Node, undici or OpenSSL that says why, if there is one; "BAD_PORT" for a port that fetch blocks. */
  code: Schema.optional(Schema.String)
}) {}

/**
 * A response that the client can't use: another status code, a redirect, a body that is too large, not JSON, or not what the schema
 * expects. `body` is set if `reason` is "Status".
 *
 * @since 1.0.0
 * @category errors
 */
export class UnexpectedResponse extends tagged<UnexpectedResponse>()("UnexpectedResponse", {
  ...ofAnswer,
  /** What the client can't use about the response. */
  reason: Schema.Literal("Status", "Redirect", "TooLarge", "NotJson", "Schema"),
  /** The field of a token response that is missing or wrong, such as "expires_in"; never its value. */
  field: Schema.optional(Schema.String),
  /**
   * Where and why the payload doesn't match the schema of `searchAs`, in that schema's words: at most 4,096 characters. It may repeat the
   * payload, so it is redacted like `body`: unwrap it to print it while you develop a schema.
   */
  issue: Hidden
}) {}

/**
 * The license key is not available: the effect that reads it failed, or what it read can't be a key. Create this error in that
 * effect.
 *
 * @since 1.0.0
 * @category errors
 */
export class LicenseKeyUnavailable extends tagged<LicenseKeyUnavailable>()("LicenseKeyUnavailable", {
  /** The call that failed; "token" by default. */
  operation: Operation.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => "token" as const)),
  /** Why; the message shows it, so put nothing into it that was read from the place of the key. */
  detail: Schema.optional(Schema.String)
}) {}

/**
 * A setting that the client can't work with, found while the layer is built. Its value is never repeated.
 *
 * @since 1.0.0
 * @category errors
 */
export class ConfigurationError extends tagged<ConfigurationError>()("ConfigurationError", {
  /** The name of the setting. */
  field: Schema.String,
  /** The one rule that it broke, in the client's own words, such as "looks like a placeholder". */
  rule: Schema.optional(Schema.String),
  /** The variable that it was read from, such as NUTRITION_ADVISOR_LICENSE_KEY; absent where it was read from none. */
  variable: Schema.optional(Schema.String)
}) {}

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
 * The schema of all errors that a call can end in, and what `instanceof` knows them by. Encoding leaves `body` out.
 *
 * @since 1.0.0
 * @category schemas
 */
export const NutritionAdvisorError = Schema.Union(...errors) as Schema.Union<[...typeof errors]> & {
  readonly [Symbol.hasInstance]: (error: unknown) => error is NutritionAdvisorError
}

/**
 * What an exchange of the license key can end in: the same errors, with `operation` "token".
 *
 * @since 1.0.0
 * @category models
 */
export type TokenError = NutritionAdvisorError

/** Guards look for it: so they know an error of another copy of this package, as after a reload, or in a page and a route of Next.js. */
const brand = Symbol.for("effect-nutrition-advisor/NutritionAdvisorError")

for (const { prototype } of [...errors, ConfigurationError]) {
  Object.defineProperties(prototype, {
    [brand]: { value: true },
    message: {
      configurable: true,
      get(this: NutritionAdvisorError | ConfigurationError) {
        return sentenceOf(this)
      },
      set(value: string) {
        Object.defineProperty(this, "message", { value, configurable: true, writable: true })
      }
    }
  })
}

/**
 * Whether it is one of the errors that a call can end in, also one of another copy of this package.
 *
 * @since 1.0.0
 * @category guards
 */
export const isNutritionAdvisorError = (error: unknown): error is NutritionAdvisorError =>
  Predicate.hasProperty(error, brand) && Predicate.hasProperty(error, "_tag") && error._tag !== "ConfigurationError"

Object.defineProperty(NutritionAdvisorError, Symbol.hasInstance, { value: isNutritionAdvisorError })

/** What an error means to a backend: whether the same call may succeed later, and the status to pass on to its own caller. */
const meanings = {
  BadRequest: { isTransient: false, passedOnAs: 400 },
  ServerError: { isTransient: true, passedOnAs: 502 },
  Forbidden: { isTransient: false, passedOnAs: 502 },
  MissingServiceId: { isTransient: false, passedOnAs: 503 },
  TooManyRequests: { isTransient: true, passedOnAs: 429 },
  TransportError: { isTransient: true, passedOnAs: 504 },
  UnexpectedResponse: { isTransient: false, passedOnAs: 502 },
  LicenseKeyUnavailable: { isTransient: false, passedOnAs: 503 }
} as const satisfies Record<NutritionAdvisorError["_tag"], { isTransient: boolean; passedOnAs: number }>

type TransientTag = {
  [Tag in keyof typeof meanings]: (typeof meanings)[Tag]["isTransient"] extends true ? Tag : never
}[keyof typeof meanings]

/**
 * An error that {@link isTransient} accepts. A TransportError is none if its `reason` is "Closed", nor with some codes.
 *
 * @since 1.0.0
 * @category models
 */
export type TransientError =
  | Extract<NutritionAdvisorError, { _tag: Exclude<TransientTag, "TransportError"> }>
  | TransportError & { readonly reason: Exclude<TransportError["reason"], "Closed"> }

/**
 * Whether the same call may succeed later, because the error passes by itself: ServerError, TooManyRequests, and TransportError unless
 * the client is closed or its `code` says that somebody has to act, as for a refused certificate or a port that fetch blocks. Whether the call can be sent again is up to the caller: a request that changes something may have been carried
 * out although its response did not arrive.
 *
 * @since 1.0.0
 * @category guards
 */
export const isTransient = (error: unknown): error is TransientError =>
  isNutritionAdvisorError(error) && meanings[error._tag].isTransient &&
  !(error._tag === "TransportError" && (error.reason === "Closed" || isPermanent(error.code)))

/**
 * The HTTP status with which a backend passes an error on to its own caller, as docs/errors.md lists them: that of the service where the
 * caller can act on it, and 503 where the exchange of the license key failed.
 *
 * @since 1.0.0
 * @category getters
 */
export const statusOf = ({ _tag, operation }: Pick<NutritionAdvisorError, "_tag" | "operation">): number =>
  operation === "token" ? 503 : meanings[_tag].passedOnAs
