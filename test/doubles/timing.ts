import { Either } from "effect"
import { RefreshPolicy } from "effect-nutrition-advisor"

/** A policy that a test knows to be right. */
export const timingOf = (policy?: Partial<RefreshPolicy.RefreshPolicy>): RefreshPolicy.Timing =>
  Either.getOrThrow(RefreshPolicy.make(policy))
