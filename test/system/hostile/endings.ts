import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { NutritionAdvisorError } from "effect-nutrition-advisor"

const nameOf = (error: NutritionAdvisorError.NutritionAdvisorError) =>
  [
    error._tag,
    "reason" in error ? error.reason : undefined,
    "status" in error ? error.status : undefined
  ].filter((part) => part !== undefined).join(" ")

/** How an effect ended, in words: its value, the tag, reason and status of its error, or the defect. */
export const ending = <A>(
  effect: Effect.Effect<A, NutritionAdvisorError.NutritionAdvisorError>,
  show: (value: A) => string
): Effect.Effect<string> =>
  Effect.map(
    Effect.exit(effect),
    Exit.match({
      onFailure: (cause) =>
        Option.match(Cause.failureOption(cause), {
          onNone: () => `defect: ${Cause.pretty(cause)}`,
          onSome: nameOf
        }),
      onSuccess: show
    })
  )
