import { isTransient, type NutritionAdvisorError } from "../../NutritionAdvisorError.js"

/** Checks for a 5xx or a missing response that a retry may fix. A 429 isn't retried, because the service asks for fewer requests. */
export const isRetryable = (error: NutritionAdvisorError): boolean =>
  isTransient(error) && error._tag !== "TooManyRequests"
