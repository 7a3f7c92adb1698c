import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"

/** A longer `Retry-After` is cut to this, in milliseconds. */
export const longestRetryAfter = 3_600_000

/** Returns `retryAfter` of an error in milliseconds, or 0 if the error has none. */
export const retryAfterMillis = (error: NutritionAdvisorError): number =>
  "retryAfter" in error && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0
