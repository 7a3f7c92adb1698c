import { NutritionAdvisorError, RefreshPolicy } from "effect-nutrition-advisor"

/** A policy that a test knows to be right. */
export const timingOf = (policy?: Partial<RefreshPolicy.RefreshPolicy>): RefreshPolicy.Timing => {
  const timing = RefreshPolicy.make(policy)
  if (timing instanceof NutritionAdvisorError.ConfigurationError) throw timing
  return timing
}
