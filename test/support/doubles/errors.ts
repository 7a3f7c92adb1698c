/** An error for each message of the client, except for the advice for each `code` and the rules of settings. */
import { Redacted } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"

const {
  BadRequest,
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
