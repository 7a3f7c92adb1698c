import { Either } from "effect"
import { RefreshPolicy } from "effect-nutrition-advisor"

/** Checks a policy, and throws if it is invalid. */
export const policyOf = (policy?: RefreshPolicy.Options): RefreshPolicy.CheckedPolicy =>
  Either.getOrThrow(RefreshPolicy.make(policy))
