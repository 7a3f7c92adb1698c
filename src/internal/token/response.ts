import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { MissingServiceId, UnexpectedResponse } from "../../NutritionAdvisorError.js"
import * as RefreshPolicy from "../../RefreshPolicy.js"
import { isHeaderValue } from "../http/header.js"

/** The response to an exchange can't be used: `field` is missing or wrong. Without one, the body is not a JSON object. */
export const invalidResponse = (field?: string, status = 200): UnexpectedResponse =>
  new UnexpectedResponse({ operation: "token", status, reason: "Schema", ...field !== undefined && { field } })

const HeaderToken = Schema.String.pipe(Schema.pattern(/^[\x21-\x7e]+$/))

/** Floored to the millisecond, after the product is rounded to what a double holds: 1.001 * 1000 falls just short of 1001. */
const flooredMillis = (seconds: number): number => Math.floor(Number((seconds * 1000).toPrecision(15)))

const Seconds = Schema.Union(Schema.Number, Schema.NumberFromString).pipe(
  Schema.finite(),
  Schema.filter((seconds) => flooredMillis(seconds) > 0)
)

/** SERVICE.md section 2: the token response. Its parse errors hold secrets: nothing but the name of a field leaves this file. */
const TokenResponse = Schema.Struct({
  access_token: Schema.Redacted(HeaderToken),
  expires_in: Seconds,
  token_type: Schema.optional(Schema.NullOr(Schema.String.pipe(Schema.pattern(/^bearer$/i)))),
  scope: Schema.optional(Schema.NullOr(Schema.String)),
  customer_id: Schema.optional(Schema.Unknown)
})

const decodeResponse = Schema.decodeUnknown(TokenResponse)

/** The token response; it fails with the error that names the first field that is missing or wrong. */
export const decode = (
  json: unknown,
  status: number
): Effect.Effect<typeof TokenResponse.Type, UnexpectedResponse> =>
  Effect.mapError(decodeResponse(json), (error) => {
    const [first] = ParseResult.ArrayFormatter.formatErrorSync(error)
    return invalidResponse(first?.path[0]?.toString(), status)
  })

/** How long a token lives from the time its response was received, in milliseconds. */
export const lifeOf = ({ expires_in }: Pick<typeof TokenResponse.Type, "expires_in">): number =>
  Math.min(flooredMillis(expires_in), RefreshPolicy.longestLife)

/** The identifier that came with a token. */
export const identifierOf = (
  { customer_id: id }: Pick<typeof TokenResponse.Type, "customer_id">,
  status: number
): Effect.Effect<Redacted.Redacted<string>, MissingServiceId | UnexpectedResponse> => {
  const isBlank = typeof id === "string" && id.trim() === ""
  if (id === undefined || id === null || isBlank) return new MissingServiceId({ operation: "token" })
  return typeof id === "string" && isHeaderValue(id)
    ? Effect.succeed(Redacted.make(id))
    : invalidResponse("customer_id", status)
}
