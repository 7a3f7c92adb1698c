import { isTransient, type NutritionAdvisorError } from "../../NutritionAdvisorError.js"

/** Whether an error is a 5xx or a missing response, which a retry may fix. A 429 isn't retried, because the service asks for fewer requests. */
export const isRetryable = (error: NutritionAdvisorError): boolean =>
  isTransient(error) && error._tag !== "TooManyRequests"

/** A longer `Retry-After` is cut to this, in milliseconds. */
export const maxRetryAfterMillis = 3_600_000

export const retryAfterMillis = (error: NutritionAdvisorError): number =>
  "retryAfter" in error && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0
