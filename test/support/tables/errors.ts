/** Tables of complete errors, of the status codes that cause them, and of the messages of each error. */
import { Redacted } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"

const {
  BadRequest,
  ConfigurationError,
  Forbidden,
  LicenseKeyUnavailable,
  MissingServiceId,
  ServerError,
  TooManyRequests,
  TransportError,
  UnexpectedResponse
} = NutritionAdvisorError

/** Parts of a response that no message may contain. */
export const body = Redacted.make("a hidden body")

export const issue = Redacted.make("total: a hidden issue")

type AnyError = NutritionAdvisorError.NutritionAdvisorError

type WithConfiguration = AnyError | NutritionAdvisorError.ConfigurationError

const headers = { "x-request-id": "request-1" }

type FieldsOf<Class extends abstract new(...args: never) => WithConfiguration> = Required<
  Exclude<ConstructorParameters<Class>[0], void>
>

/** An error with all of its fields, and those that are encoded: the body of a response and the issue of a schema never are. */
const complete = <Class extends new(fields: never) => WithConfiguration>(Class: Class, fields: FieldsOf<Class>) => {
  const { body: _body, issue: _issue, ...encoded } = { body, issue, ...fields }
  return [new Class(fields as never), encoded] as const
}

/** Each error with all of its fields. */
export const completeErrors: {
  readonly [Tag in WithConfiguration["_tag"]]: readonly [error: WithConfiguration, encoded: object]
} = {
  BadRequest: complete(BadRequest, { operation: "search", status: 400, detail: "no term", headers, body }),
  ServerError: complete(ServerError, { operation: "token", status: 503, retryAfter: 2.5, headers, body }),
  Forbidden: complete(Forbidden, { operation: "search", status: 403, reason: "RejectedAgain", headers, body }),
  MissingServiceId: complete(MissingServiceId, { operation: "token" }),
  TooManyRequests: complete(TooManyRequests, { operation: "request", status: 429, retryAfter: 30, headers, body }),
  TransportError: complete(TransportError, { operation: "search", reason: "Connection", code: "ENOTFOUND" }),
  UnexpectedResponse: complete(UnexpectedResponse, {
    operation: "token",
    status: 200,
    reason: "Schema",
    field: "scope",
    headers,
    body,
    issue
  }),
  LicenseKeyUnavailable: complete(LicenseKeyUnavailable, { operation: "token", detail: "the vault is sealed" }),
  ConfigurationError: complete(ConfigurationError, {
    field: "baseUrl",
    rule: "is blank",
    variable: "NUTRITION_ADVISOR_BASE_URL"
  })
}

/** Status codes for each error that is created from a response. */
const statuses: {
  readonly [Tag in Extract<AnyError, { readonly headers?: unknown }>["_tag"]]: ReadonlyArray<number>
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

/** An error for each message, except for the advice for each `code`. */
const byTag = (operation: AnyError["operation"]): { readonly [E in AnyError as E["_tag"]]: ReadonlyArray<E> } => ({
  BadRequest: [
    new BadRequest({ operation }),
    new BadRequest({ operation, detail: "the search term is blank" }),
    new BadRequest({ operation, status: 400, body })
  ],
  ServerError: [
    new ServerError({ operation, status: 503 }),
    new ServerError({ operation, status: 503, retryAfter: 29.5, body })
  ],
  Forbidden: Forbidden.fields.reason.literals.map((reason) => new Forbidden({ operation, status: 403, reason, body })),
  MissingServiceId: [new MissingServiceId({ operation })],
  TooManyRequests: [
    new TooManyRequests({ operation }),
    new TooManyRequests({ operation, status: 429, retryAfter: 7, body })
  ],
  TransportError: [
    ...TransportError.fields.reason.literals.map((reason) => new TransportError({ operation, reason })),
    new TransportError({ operation, reason: "Connection", code: "ECONNREFUSED" }),
    new TransportError({ operation, reason: "Connection", code: "HPE_INVALID_HEADER_TOKEN" })
  ],
  UnexpectedResponse: [
    ...UnexpectedResponse.fields.reason.literals.map((reason) =>
      new UnexpectedResponse({ operation, status: 302, reason, body })
    ),
    new UnexpectedResponse({ operation, status: 200, reason: "Schema", issue }),
    new UnexpectedResponse({ operation, status: 200, reason: "Schema", field: "access_token" }),
    new UnexpectedResponse({ operation, status: 200, reason: "Schema", field: "expires_in" })
  ],
  LicenseKeyUnavailable: [
    new LicenseKeyUnavailable({ operation }),
    new LicenseKeyUnavailable({ operation, detail: "the vault is sealed" })
  ]
})

export const errorsOf = (operation: AnyError["operation"]): ReadonlyArray<AnyError> =>
  Object.values(byTag(operation)).flat()

export const errors = NutritionAdvisorError.Operation.literals.flatMap(errorsOf)
