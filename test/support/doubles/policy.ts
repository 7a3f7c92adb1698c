import { Either } from "effect"
import { RefreshPolicy } from "effect-nutrition-advisor"

/** A policy that a test knows to be right. */
export const policyOf = (policy?: Partial<RefreshPolicy.RefreshPolicy>): RefreshPolicy.CheckedPolicy =>
  Either.getOrThrow(RefreshPolicy.make(policy))
