import type { NutritionAdvisorError } from "../NutritionAdvisorError.js"

/** The same error for one caller alone, since callers write on errors, as Sentry does; its `retryAfter` is at most so many seconds. */
export const ownError = (error: NutritionAdvisorError, longest = Infinity): NutritionAdvisorError => {
  const { retryAfter } = { retryAfter: undefined, ...error }
  const left = retryAfter !== undefined && { retryAfter: Math.min(retryAfter, longest) }
  return Reflect.construct(error.constructor, [{ ...error, ...left }])
}
