/**
 * All errors of the client. Match them by `_tag`. The `message` says what happened and what to do.
 *
 * No error contains a request, a response, a URL or the error of another library. Text from the service or a schema is redacted, in `body`
 * and `issue`. The only exception is `headers`, which contains the headers that `observeHeaders` lists. All other fields are numbers,
 * literals, error codes, or short strings that the client writes. The `detail` of a LicenseKeyUnavailable can come from your own code.
 *
 * @since 1.0.0
 * @module
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { copyOfError } from "./internal/errors/copyOfError.js"
import { messageOf } from "./internal/errors/messages.js"
import { isPermanent } from "./internal/errors/transportCodes.js"

/**
 * The schema of `operation`, the call that failed: the token exchange, a food search, or a request through the authorized client.
 *
 * @since 1.0.0
 * @category models
 */
export const Operation = Schema.Literal("token", "search", "request")

/**
 * The call that failed: "token", "search" or "request".
 *
 * @since 1.0.0
 * @category models
 */
export type Operation = typeof Operation.Type

/**
 * A redacted string that may repeat what the service sent. It is never printed and never encoded, so it stays in the process. Decoding
 * ignores any value in its place.
 */
const Hidden = Schema.optionalToOptional(Schema.String, Schema.UndefinedOr(Schema.RedactedFromSelf(Schema.String)), {
  decode: () => Option.none(),
  encode: () => Option.none()
})

/** Creates the class of an error. Its identifier is also a valid name of an OpenAPI component. */
const tagged = <Self>() => <const Tag extends string, Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
  Schema.TaggedError<Self>(`NutritionAdvisor.${tag}`)(tag, fields)

/** The fields of an error that is caused by a response. */
const ofResponse = {
  /** The call that failed. */
  operation: Operation,
  /** The status code of the response. */
  status: Schema.Number,
  /** The first 4 KiB of the response body, if it is text, JSON or XML. It may repeat secrets, so it is never printed and never encoded. */
  body: Hidden,
  /** The response headers that `observeHeaders` lists, with their names in lower case. */
  headers: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
}

/**
 * The service rejected the request as malformed (400, SERVICE.md section 7), or the client could not send it: for example, because the
 * search term is blank, the URL is outside the base URL, or the stream of the body failed.
 *
 * @since 1.0.0
 * @category errors
 */
export class BadRequest extends tagged<BadRequest>()("BadRequest", {
  ...ofResponse,
  /** The status code of the response, 400. Absent if the request was not sent, or only part of it was. */
  status: Schema.optional(Schema.Number),
  /** Why the client could not send the request. It never repeats what the service sent. */
  detail: Schema.optional(Schema.String)
}) {}

/**
 * The service failed with a 5xx status code (SERVICE.md section 7).
 *
 * @since 1.0.0
 * @category errors
 */
export class ServerError extends tagged<ServerError>()("ServerError", {
  ...ofResponse,
  /** The time to wait, in seconds, if the response has a Retry-After header (RFC 9110, section 10.2.3). */
  retryAfter: Schema.optional(Schema.Number)
}) {}

/**
 * The schema of the `reason` of a {@link Forbidden}:
 *
 * - `RejectedAgain`: the new token was also rejected.
 * - `TokenUnchanged`: the exchange returned the rejected token again.
 * - `CoolingDown`: the token was renewed too often, and can't be renewed again until the cool-down ends.
 * - `KeyRejected`: the token route rejected the license key.
 * - `BodyNotReplayable`: the token was renewed, but this body can't be sent twice. It is an Effect stream, a Node stream or an async
 *   iterable.
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
 * Why the client doesn't try again after a {@link Forbidden}.
 *
 * @since 1.0.0
 * @category models
 */
export type ForbiddenReason = typeof ForbiddenReason.Type

/**
 * The service rejected a request or the license key (SERVICE.md section 5, rule 6). `reason` says why the client didn't try again.
 *
 * @since 1.0.0
 * @category errors
 */
export class Forbidden extends tagged<Forbidden>()("Forbidden", {
  ...ofResponse,
  /** Why the client doesn't try again. */
  reason: ForbiddenReason
}) {}

/**
 * The exchange returned no customer identifier and `serviceId` is not set, so the client can't send a data request (SERVICE.md
 * section 5, rule 4).
 *
 * @since 1.0.0
 * @category errors
 */
export class MissingServiceId extends tagged<MissingServiceId>()("MissingServiceId", {
  /** The call that failed. */
  operation: Operation
}) {}

/**
 * The service asked for fewer requests (429; RFC 6585, section 4), or the client held the call back and did not send it.
 *
 * @since 1.0.0
 * @category errors
 */
export class TooManyRequests extends tagged<TooManyRequests>()("TooManyRequests", {
  ...ofResponse,
  /** The status code of the response, 429. Absent if the call was held back and not sent. */
  status: Schema.optional(Schema.Number),
  /** The time to wait, in seconds, if it is known. */
  retryAfter: Schema.optional(Schema.Number)
}) {}

/**
 * There was no response, or an incomplete one: the service could not be reached, the connection broke, the request timed out, or the
 * client is closed.
 *
 * @since 1.0.0
 * @category errors
 */
export class TransportError extends tagged<TransportError>()("TransportError", {
  /** The call that failed. */
  operation: Operation,
  /** What happened: the request timed out, the service could not be reached, the request was cut off, or the client is closed. */
  reason: Schema.Literal("Timeout", "Connection", "Aborted", "Closed"),
  /** The error code of Node, undici or OpenSSL, or of the client itself, such as "BAD_PORT" for a port that fetch blocks. */
  code: Schema.optional(Schema.String)
}) {}

/**
 * The client can't use the response. Either it is a redirect or has another status code that no other error covers, or its body is too
 * large, isn't JSON, or doesn't match the schema. `body` is set only if `reason` is "Status".
 *
 * @since 1.0.0
 * @category errors
 */
export class UnexpectedResponse extends tagged<UnexpectedResponse>()("UnexpectedResponse", {
  ...ofResponse,
  /** Why the client can't use the response. */
  reason: Schema.Literal("Status", "Redirect", "TooLarge", "NotJson", "Schema"),
  /** The name of the field of a token response that is missing or invalid, such as "expires_in"; never its value. */
  field: Schema.optional(Schema.String),
  /**
   * Where and why the payload doesn't match the schema of `searchAs`: the message of the schema, cut to 4,096 characters. It may repeat
   * the payload, so it is redacted like `body`. Unwrap it to print it while you develop a schema.
   */
  issue: Hidden
}) {}

/**
 * The license key is not available: the Effect that reads it failed, or the value that it returned can't be a key. If you write that
 * Effect, let it fail with this error.
 *
 * @since 1.0.0
 * @category errors
 */
export class LicenseKeyUnavailable extends tagged<LicenseKeyUnavailable>()("LicenseKeyUnavailable", {
  /** The call that failed. "token" by default. */
  operation: Operation.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => "token" as const)),
  /** The reason. It is part of the message, so don't include anything that was read together with the key. */
  detail: Schema.optional(Schema.String)
}) {}

/**
 * A setting is missing or invalid. Layers and their `make` fail with this error, and `createClient` throws it. It never contains the value.
 *
 * @since 1.0.0
 * @category errors
 */
export class ConfigurationError extends tagged<ConfigurationError>()("ConfigurationError", {
  /** The name of the setting. */
  field: Schema.String,
  /** The rule that the value breaks, such as "looks like a placeholder". */
  rule: Schema.optional(Schema.String),
  /** The variable that the setting was read from, such as NUTRITION_ADVISOR_LICENSE_KEY. Absent if it was not read from a variable. */
  variable: Schema.optional(Schema.String)
}) {}

/**
 * The classes of all errors that a call can fail with. ConfigurationError is not one of them, because it comes from building a client.
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
 * Any error that a search or an authorized request can fail with. If the token exchange failed, `operation` is "token".
 *
 * @since 1.0.0
 * @category models
 */
export type NutritionAdvisorError = InstanceType<(typeof errors)[number]>

/**
 * The schema of all errors that a call can fail with. It also works with `instanceof`. Encoding omits `body` and `issue`.
 *
 * @since 1.0.0
 * @category schemas
 */
export const NutritionAdvisorError = Schema.Union(...errors) as Schema.Union<[...typeof errors]> & {
  readonly [Symbol.hasInstance]: (error: unknown) => error is NutritionAdvisorError
}

/**
 * An error of a token exchange. The type has the same members as `NutritionAdvisorError`. Their `operation` is "token", except that `renew`
 * of a TokenProvider can also fail with a `Forbidden` that concerns the rejected request.
 *
 * @since 1.0.0
 * @category models
 */
export type TokenError = NutritionAdvisorError

/**
 * The guards check for this symbol, so they accept errors from another copy of this package. Hot reloads and Next.js load several copies.
 */
const brand = Symbol.for("effect-nutrition-advisor/NutritionAdvisorError")

for (const { prototype } of [...errors, ConfigurationError]) {
  Object.defineProperties(prototype, {
    [brand]: { value: true },
    // The `toJSON` of Effect returns an object that isn't an Error, so AWS Lambda and other loggers would leave out its message and stack.
    // Vitest and Sentry call `toJSON` again on what it returns, so the copy has none.
    toJSON: {
      configurable: true,
      writable: true,
      value(this: NutritionAdvisorError | ConfigurationError) {
        return Object.defineProperty(copyOfError(this), "toJSON", { value: undefined })
      }
    },
    message: {
      configurable: true,
      get(this: NutritionAdvisorError | ConfigurationError) {
        return messageOf(this)
      },
      set(value: string) {
        Object.defineProperty(this, "message", { value, configurable: true, writable: true })
      }
    }
  })
}

/**
 * Checks whether a value is one of the errors that a call can fail with. This includes errors from another copy of this package.
 *
 * @since 1.0.0
 * @category guards
 */
export const isNutritionAdvisorError = (error: unknown): error is NutritionAdvisorError =>
  Predicate.hasProperty(error, brand) && !Predicate.isTagged(error, "ConfigurationError")

Object.defineProperty(NutritionAdvisorError, Symbol.hasInstance, { value: isNutritionAdvisorError })

/** Whether the error means a temporary problem with the service or the network. */
const transience = {
  BadRequest: false,
  ServerError: true,
  Forbidden: false,
  MissingServiceId: false,
  TooManyRequests: true,
  TransportError: true,
  UnexpectedResponse: false,
  LicenseKeyUnavailable: false
} as const satisfies Record<NutritionAdvisorError["_tag"], boolean>

type TransientTag = {
  [Tag in keyof typeof transience]: (typeof transience)[Tag] extends true ? Tag : never
}[keyof typeof transience]

/**
 * An error that {@link isTransient} accepts. A TransportError is not transient if its `reason` is "Closed", or if its `code` means a
 * permanent problem.
 *
 * @since 1.0.0
 * @category models
 */
export type TransientError =
  | Extract<NutritionAdvisorError, { _tag: Exclude<TransientTag, "TransportError"> }>
  | TransportError & { readonly reason: Exclude<TransportError["reason"], "Closed"> }

/**
 * Checks for a temporary problem with the service or the network: a 5xx, a rate limit, or no response. Returns true for ServerError,
 * TooManyRequests and TransportError, unless the client is closed or `code` means a permanent problem, such as a rejected certificate or a
 * port that fetch blocks. Never returns true for Forbidden, not even during a cool-down. You decide whether to retry: if a request changes
 * something, the service may have processed it even though no response arrived.
 *
 * @since 1.0.0
 * @category guards
 */
export const isTransient = (error: unknown): error is TransientError =>
  isNutritionAdvisorError(error) && transience[error._tag] &&
  !(error._tag === "TransportError" && (error.reason === "Closed" || isPermanent(error.code)))

/** The status code that a backend returns to its own callers. */
const statuses: Readonly<Record<NutritionAdvisorError["_tag"], number>> = {
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
 * Returns the HTTP status code that a backend can send to its own callers for an error, as listed in docs/errors.md. 400 and 429 stay the
 * same, because callers can act on them. A failed token exchange becomes a 503.
 *
 * @since 1.0.0
 * @category getters
 */
export const statusOf = ({ _tag, operation }: Pick<NutritionAdvisorError, "_tag" | "operation">): number =>
  operation === "token" ? 503 : statuses[_tag]
