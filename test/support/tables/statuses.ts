import type { NutritionAdvisorError } from "effect-nutrition-advisor"

type AnyError = NutritionAdvisorError.NutritionAdvisorError

type ErrorOfResponse = Extract<AnyError, { readonly headers?: unknown }>["_tag"]

/** Status codes for each error that is created from a response. The compiler requires an entry for each new error. */
const statuses: Readonly<Record<ErrorOfResponse, ReadonlyArray<number>>> = {
  BadRequest: [400],
  ServerError: [500, 502, 503],
  Forbidden: [401, 403],
  TooManyRequests: [429],
  UnexpectedResponse: [302, 402, 404, 409, 418, 422]
}

/** Each of these status codes with the error of a data request that gets it. */
export const errorStatuses: ReadonlyArray<readonly [status: number, tag: string]> = Object.entries(statuses)
  .flatMap(([tag, all]) => all.map((status) => [status, tag] as const))
