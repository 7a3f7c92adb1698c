/** Tables of the values of each error's fields, and of the status codes that cause it. */
import { Redacted, Struct } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"

const { Forbidden, Operation, TransportError, UnexpectedResponse } = NutritionAdvisorError

/** Parts of a response that no message may contain. */
export const body = Redacted.make("a hidden body")

export const issue = Redacted.make("total: a hidden issue")

type AnyError = NutritionAdvisorError.NutritionAdvisorError

type WithConfiguration = AnyError | NutritionAdvisorError.ConfigurationError

type Tag = WithConfiguration["_tag"]

type FieldsOf<Name extends Tag> = Required<
  Exclude<ConstructorParameters<(typeof NutritionAdvisorError)[Name]>[0], void>
>

/** The first value of each field is not undefined, so that there is an error with all fields. */
type ValuesOf<Name extends Tag> = {
  readonly [Field in keyof FieldsOf<Name>]: readonly [
    FieldsOf<Name>[Field] & NonNullable<unknown>,
    ...ReadonlyArray<FieldsOf<Name>[Field] | undefined>
  ]
}

const operation = Operation.literals

const ofResponse = { operation, headers: [{ "x-request-id": "request-1" }], body: [body, undefined] } as const

/** Values of each field. Their combinations produce every message, except the advice for each `code`. */
const values: { readonly [Name in Tag]: ValuesOf<Name> } = {
  BadRequest: { ...ofResponse, status: [400, undefined], detail: ["the search term is blank", undefined] },
  ServerError: { ...ofResponse, status: [503], retryAfter: [29.5, undefined] },
  Forbidden: { ...ofResponse, status: [403], reason: Forbidden.fields.reason.literals },
  MissingServiceId: { operation },
  TooManyRequests: { ...ofResponse, status: [429, undefined], retryAfter: [7, undefined] },
  TransportError: {
    operation,
    reason: TransportError.fields.reason.literals,
    code: ["ECONNREFUSED", "HPE_INVALID_HEADER_TOKEN", undefined]
  },
  UnexpectedResponse: {
    ...ofResponse,
    status: [200],
    reason: UnexpectedResponse.fields.reason.literals,
    field: ["access_token", "expires_in", undefined],
    issue: [issue, undefined]
  },
  LicenseKeyUnavailable: { operation, detail: ["the vault is sealed", undefined] },
  ConfigurationError: { field: ["baseUrl"], rule: ["is blank", undefined], variable: ["A_VARIABLE", undefined] }
}

const tags = Object.keys(values) as ReadonlyArray<Tag>

/** Each combination of the values of an error. The first one has all fields. */
const combinationsOf = (tag: Tag) =>
  Object.entries<ReadonlyArray<unknown>>({ ...values[tag] }).reduce<ReadonlyArray<object>>(
    (all, [field, some]) => all.flatMap((fields) => some.map((value) => ({ ...fields, [field]: value }))),
    [{}]
  )

const errorOf = (tag: Tag, fields: object): WithConfiguration => new NutritionAdvisorError[tag](fields as never)

/** Each error with all of its fields, and those that are encoded: the body of a response and the issue of a schema never are. */
export const completeErrors = tags.map((tag) => {
  const [fields = {}] = combinationsOf(tag)
  return [errorOf(tag, fields), Struct.omit({ body, issue, ...fields }, "body", "issue")] as const
})

export const errors = tags.flatMap((tag) => combinationsOf(tag).map((fields) => errorOf(tag, fields)))
  .filter((error) => error._tag !== "ConfigurationError")

/** Status codes for each error that is created from a response. */
const statuses: {
  readonly [Name in Extract<AnyError, { readonly headers?: unknown }>["_tag"]]: ReadonlyArray<number>
} = {
  BadRequest: [400],
  ServerError: [500, 502, 503],
  Forbidden: [401, 403],
  TooManyRequests: [429],
  UnexpectedResponse: [302, 402, 404, 409, 418, 422]
}

/** Each of these status codes with the error of a data request that gets it. */
export const errorStatuses = Object.entries(statuses).flatMap(([tag, all]) =>
  all.map((status) => [status, tag] as const)
)
