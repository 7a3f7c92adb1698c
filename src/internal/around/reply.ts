import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"

/** What the service said to a request: nothing, where none was sent or none came back. */
export type Reply =
  | { readonly _tag: "Success" }
  | { readonly _tag: "TooMany"; readonly retryAfter: number | undefined }
  | { readonly _tag: "Answer" }
  | { readonly _tag: "None" }

const ofError = (error: NutritionAdvisorError): Reply => {
  if (error.operation === "token") return { _tag: "None" }
  switch (error._tag) {
    case "TooManyRequests":
      return error.status === undefined ? { _tag: "None" } : { _tag: "TooMany", retryAfter: error.retryAfter }
    case "BadRequest":
      return error.status === undefined ? { _tag: "None" } : { _tag: "Answer" }
    case "ServerError":
    case "Forbidden":
    case "UnexpectedResponse":
      return { _tag: "Answer" }
    case "TransportError":
    case "MissingServiceId":
    case "LicenseKeyUnavailable":
      return { _tag: "None" }
  }
}

export const replyOf = (exit: Exit.Exit<unknown, NutritionAdvisorError>): Reply =>
  Exit.match(exit, {
    onSuccess: () => ({ _tag: "Success" }),
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), { onNone: () => ({ _tag: "None" }), onSome: ofError })
  })
