import type { NutritionAdvisorError } from "effect-nutrition-advisor"

type AnyError = NutritionAdvisorError.NutritionAdvisorError

type ErrorOfResponse = Extract<AnyError, { readonly headers?: unknown }>["_tag"]

/** For each error that is made of a response, statuses that end in it: the compiler asks for those of a new error. */
const statuses: Readonly<Record<ErrorOfResponse, ReadonlyArray<number>>> = {
  BadRequest: [400],
  ServerError: [500, 502, 503],
  Forbidden: [401, 403],
  TooManyRequests: [429],
  UnexpectedResponse: [302, 402, 404, 409, 418, 422]
}

/** Statuses that are refusals, each with the error that a data request ends in. */
export const errorStatuses: ReadonlyArray<readonly [status: number, tag: string]> = Object.entries(statuses)
  .flatMap(([tag, all]) => all.map((status) => [status, tag] as const))

/** Those that are not about the token. */
export const statusesWithoutRejection = errorStatuses.filter(([, tag]) => tag !== "Forbidden")
