import type { NutritionAdvisorError } from "effect-nutrition-advisor"

type AnyError = NutritionAdvisorError.NutritionAdvisorError

type OfAnswer = Extract<AnyError, { readonly headers?: unknown }>["_tag"]

/** For each error that is made of a response, statuses that end in it: the compiler asks for those of a new error. */
const statuses: Readonly<Record<OfAnswer, ReadonlyArray<number>>> = {
  BadRequest: [400],
  ServerError: [500, 502, 503],
  Forbidden: [401, 403],
  TooManyRequests: [429],
  UnexpectedResponse: [302, 402, 404, 409, 418, 422]
}

/** Statuses that are refusals, each with the error that a data request ends in. */
export const refusals: ReadonlyArray<readonly [status: number, tag: string]> = Object.entries(statuses)
  .flatMap(([tag, all]) => all.map((status) => [status, tag] as const))

/** Those that are not about the token. */
export const otherRefusals = refusals.filter(([, tag]) => tag !== "Forbidden")
