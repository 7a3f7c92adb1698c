/** Brings about a cool-down by rejections, however many the rule asks for. */
import { Effect } from "effect"
import {
  type AccessToken,
  type NutritionAdvisorError,
  RefreshPolicy,
  type TokenProvider
} from "effect-nutrition-advisor"

const isCoolDown = (error: NutritionAdvisorError.NutritionAdvisorError) =>
  error._tag === "Forbidden" && error.reason === "CoolingDown"

const triesAtMost = 16

/** How many renewals in a row must not help before a cool-down begins. */
export const fewestUnhelpful = (policy: RefreshPolicy.CheckedPolicy): number => {
  let count = 1
  while (RefreshPolicy.coolDownAfter(policy, count) === 0) count++
  return count
}

/** A search that is always rejected, made until it is held up; ends in that. */
export const untilHeldUp = <A, R>(search: Effect.Effect<A, NutritionAdvisorError.NutritionAdvisorError, R>) =>
  Effect.retry(search, { until: isCoolDown, times: triesAtMost })

/** The current token, once each one that a renewal brought was rejected and no other renewal may follow. */
export const rejectUntilHeldUp = (
  { renew, settled }: Pick<TokenProvider.Service, "renew" | "settled">,
  first: AccessToken.AccessToken
) =>
  Effect.gen(function*() {
    let current = first
    for (let tries = 0; tries < triesAtMost; tries++) {
      const next = yield* renew(current).pipe(Effect.catchIf(isCoolDown, () => Effect.succeed(undefined)))
      if (next === undefined) return current
      yield* settled(next, "RejectedAgain")
      current = next
    }
    return yield* Effect.dieMessage("a cool-down was to be arranged")
  })
