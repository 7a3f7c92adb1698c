import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"

/** The same error for one caller alone: many wait for one exchange, and callers write on errors, as Sentry does. */
export const ownError = (error: NutritionAdvisorError): NutritionAdvisorError =>
  Reflect.construct(error.constructor, [{ ...error }])
