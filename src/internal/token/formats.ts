/** The two formats of a token: the response of an exchange, and the JSON that replicas share. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { AccessToken } from "../../AccessToken.js"
import { MissingServiceId, UnexpectedResponse } from "../../NutritionAdvisorError.js"
import { isAsciiHeaderValue } from "../http/header.js"
import * as Url from "../http/url.js"

/** The error for a token response whose `field` is missing or wrong. Without a `field`, the body is not a JSON object. */
export const invalidResponse = (field?: string, status = 200): UnexpectedResponse =>
  new UnexpectedResponse({ operation: "token", status, reason: "Schema", ...field !== undefined && { field } })

const HeaderToken = Schema.String.pipe(Schema.pattern(/^[\x21-\x7e]+$/))

/** Converts seconds to whole milliseconds. The product is rounded to 15 digits first, because 1.001 * 1000 is slightly less than 1001. */
const flooredMillis = (seconds: number): number => Math.floor(Number((seconds * 1000).toPrecision(15)))

const Seconds = Schema.Union(Schema.Number, Schema.NumberFromString).pipe(
  Schema.finite(),
  Schema.filter((seconds) => flooredMillis(seconds) > 0)
)

/** The token response (SERVICE.md section 2). Its parse errors contain secrets, so only the name of a field leaves this file. */
const TokenResponse = Schema.Struct({
  access_token: Schema.Redacted(HeaderToken),
  expires_in: Seconds,
  token_type: Schema.optional(Schema.NullOr(Schema.String.pipe(Schema.pattern(/^bearer$/i)))),
  customer_id: Schema.optional(Schema.Unknown),
  scope: Schema.optional(Schema.Unknown)
})

type TokenResponse = typeof TokenResponse.Type

const decode = (json: unknown, status: number): Effect.Effect<TokenResponse, UnexpectedResponse> =>
  Effect.mapError(Schema.decodeUnknown(TokenResponse)(json), (error) => {
    const [first] = ParseResult.ArrayFormatter.formatErrorSync(error)
    return invalidResponse(first?.path[0]?.toString(), status)
  })

/** The longest lifetime of a token, in milliseconds: 365 days. A longer one is cut to this. */
const maxLife = 365 * 86_400_000

const identifierOf = (
  { customer_id: id }: TokenResponse,
  status: number
): Effect.Effect<Redacted.Redacted<string>, MissingServiceId | UnexpectedResponse> => {
  const isBlank = typeof id === "string" && id.trim() === ""
  if (id === undefined || id === null || isBlank) return new MissingServiceId({ operation: "token" })
  return typeof id === "string" && isAsciiHeaderValue(id)
    ? Effect.succeed(Redacted.make(id))
    : invalidResponse("customer_id", status)
}

/** Whether a string contains a secret, as it is or percent-encoded. */
const isRepeatedIn = (text: string) => (secret: Redacted.Redacted<string>) =>
  [Redacted.value(secret), Url.encode(Redacted.value(secret))].some((form) =>
    text.toLowerCase().includes(form.toLowerCase())
  )

/**
 * Whether a value from the service is text that may be printed, because it repeats no secret. Any other value is dropped: some services send
 * a list of scopes, and no call depends on it.
 */
const isPrintableText = (secrets: ReadonlyArray<Redacted.Redacted<string>>) => (value: unknown): value is string =>
  typeof value === "string" && !secrets.some(isRepeatedIn(value))

/** What an exchange knows besides the JSON of its response. */
interface Received {
  readonly key: Redacted.Redacted<string>
  /** Overrides the `customer_id` of the response. */
  readonly serviceId: Redacted.Redacted<string> | undefined
  readonly status: number
  readonly receivedAt: number
}

export const fromResponse = (json: unknown, { key, receivedAt, serviceId, status }: Received) =>
  Effect.gen(function*() {
    const response = yield* decode(json, status)
    const responseId = identifierOf(response, status)
    const id = serviceId ?? (yield* responseId)
    // The option `serviceId` may have replaced the identifier of the response, which is a secret all the same.
    const secrets = [key, response.access_token, id, ...Option.toArray(yield* Effect.option(responseId))]

    return new AccessToken({
      value: response.access_token,
      serviceId: id,
      tokenType: "Bearer",
      receivedAt,
      expiresAt: receivedAt + Math.min(flooredMillis(response.expires_in), maxLife),
      scope: Option.liftPredicate(response.scope, isPrintableText(secrets))
    })
  })

/**
 * An entry of the shared cache. Older versions write entries without newer fields, so those must be optional. This is a function, so that
 * bundlers can leave it out of programs that don't share their token.
 */
const sharedToken = () => {
  const HeaderValue = Schema.String.pipe(Schema.filter(isAsciiHeaderValue))
  return Schema.Struct({
    value: Schema.Redacted(HeaderValue),
    serviceId: Schema.Redacted(HeaderValue),
    receivedAt: Schema.JsonNumber,
    expiresAt: Schema.JsonNumber,
    scope: Schema.optionalWith(Schema.String, { as: "Option", nullable: true })
  })
}

/**
 * Encodes a token for other replicas. The result contains its secrets. The schema isn't used, because its error for the invalid token of a
 * custom issuer would contain them, too. Replicas check the token when they decode it.
 */
export const toSharedJson = (token: AccessToken): string => {
  const fields = {
    value: Redacted.value(token.value),
    serviceId: Redacted.value(token.serviceId),
    receivedAt: token.receivedAt,
    expiresAt: token.expiresAt,
    scope: Option.getOrNull(token.scope)
  } satisfies Required<ReturnType<typeof sharedToken>["Encoded"]>
  return JSON.stringify(fields)
}

/** Decodes a token of another replica, or returns none. The parse errors contain secrets, so they are dropped. */
export const fromSharedJson = (json: string): Option.Option<AccessToken> =>
  Option.map(
    Schema.decodeOption(Schema.parseJson(sharedToken()))(json),
    (fields) => new AccessToken({ ...fields, tokenType: "Bearer", isFromPeer: true })
  )
