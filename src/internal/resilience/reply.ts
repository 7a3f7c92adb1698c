import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"

/** What the service said to a request: nothing, where none was sent or none came back. */
export type Reply =
  | { readonly _tag: "Answer"; readonly isSuccess: boolean }
  | { readonly _tag: "TooMany"; readonly retryAfter: number | undefined }
  | { readonly _tag: "None" }

/** An error with a status came from an answer to the request, unless an exchange of the license key ended in it. */
const ofError = (error: NutritionAdvisorError): Reply => {
  if (error.operation === "token" || !("status" in error) || error.status === undefined) return { _tag: "None" }
  return error._tag === "TooManyRequests"
    ? { _tag: "TooMany", retryAfter: error.retryAfter }
    : { _tag: "Answer", isSuccess: false }
}

export const replyOf = (exit: Exit.Exit<unknown, NutritionAdvisorError>): Reply =>
  Exit.match(exit, {
    onSuccess: () => ({ _tag: "Answer", isSuccess: true }),
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), { onNone: () => ({ _tag: "None" }), onSome: ofError })
  })
