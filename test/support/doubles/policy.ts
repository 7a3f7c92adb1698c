import { Either } from "effect"
import { RefreshPolicy } from "effect-nutrition-advisor"

/** Checks a policy, and throws if it is invalid. */
export const policyOf = (policy?: Partial<RefreshPolicy.RefreshPolicy>): RefreshPolicy.CheckedPolicy =>
  Either.getOrThrow(RefreshPolicy.make(policy))
