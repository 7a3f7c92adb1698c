/** Forbidden is the error of rejected requests and of a rejected license key. This file says what each of its reasons means. */
import * as Struct from "effect/Struct"
import type { Forbidden, ForbiddenReason, NutritionAdvisorError } from "../../NutritionAdvisorError.js"

interface Meaning {
  /** Whether the same call may succeed later without any change. For every Forbidden, `isTransient` returns false. */
  readonly isTemporary: boolean
  /** The end of the message, after "was rejected (status 403)": the rest of its first sentence, and what to do. */
  readonly ending: string
}

export const keyAdvice = "Check the license key, baseUrl and tokenRoute, and any proxy in between."

const licenseAdvice =
  "Check that the license covers this call, that serviceId is correct, and that no proxy is rejecting the request."

export const forbiddenReasons: Readonly<Record<ForbiddenReason, Meaning>> = {
  RejectedAgain: {
    isTemporary: false,
    ending: `, even with a new token. ${licenseAdvice}`
  },
  TokenUnchanged: {
    isTemporary: false,
    ending: `, and the token exchange returned the same token again. ${licenseAdvice}`
  },
  CoolingDown: {
    isTemporary: true,
    ending:
      `, and the token can't be renewed again until the cool-down ends. ${licenseAdvice} Another program with this key may be revoking your tokens.`
  },
  KeyRejected: {
    isTemporary: false,
    ending: `. ${keyAdvice}`
  },
  BodyNotReplayable: {
    isTemporary: false,
    ending: ", and a streamed body can't be sent again with the new token. Send the request again."
  }
}

export type RequestReason = Exclude<ForbiddenReason, "KeyRejected">

export const requestReasons = Struct.keys(forbiddenReasons).filter((reason) => reason !== "KeyRejected")

/** Whether an error is a Forbidden that concerns a request. */
export const isForbiddenRequest = (
  error: NutritionAdvisorError
): error is Forbidden & { readonly reason: RequestReason } =>
  error._tag === "Forbidden" && error.reason !== "KeyRejected"
