import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"

/**
 * The same error for one caller alone: many wait for one exchange, and callers write on errors, as Sentry does. The constructor isn't used,
 * because that of a subclass may have other parameters.
 */
export const ownError = (error: NutritionAdvisorError): NutritionAdvisorError =>
  Object.setPrototypeOf(
    Object.defineProperties(new Error(), Object.getOwnPropertyDescriptors(error)),
    Object.getPrototypeOf(error)
  )
