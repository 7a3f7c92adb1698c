/** Forbidden is the error of rejected requests and of a rejected license key. This file says what each of its reasons means. */
import * as Struct from "effect/Struct"
import type { Forbidden, ForbiddenReason, NutritionAdvisorError } from "../../NutritionAdvisorError.js"

export const keyAdvice = "Check the license key, baseUrl and tokenRoute, and any proxy in between."

const licenseAdvice =
  "Check that the license covers this call, that serviceId is correct, and that no proxy is rejecting the request."

interface ReasonMeaning {
  /** The end of the message, after "was rejected (status 403)": the rest of its first sentence, and what to do. */
  readonly ending: string
  /**
   * Whether the reason goes away with time, so that the same call may succeed later. Tools then tell the model that searching again later
   * may help. `isTransient` is about something else: temporary problems with the service or the network. It returns false for every
   * Forbidden.
   */
  readonly isTemporary: boolean
}

export const reasons: Readonly<Record<ForbiddenReason, ReasonMeaning>> = {
  RejectedAgain: { ending: `, even with a new token. ${licenseAdvice}`, isTemporary: false },
  TokenUnchanged: {
    ending: `, and the token exchange returned the same token again. ${licenseAdvice}`,
    isTemporary: false
  },
  CoolingDown: {
    ending:
      `, and the token can't be renewed again until the cool-down ends. ${licenseAdvice} Another program with this key may be revoking your tokens.`,
    isTemporary: true
  },
  KeyRejected: { ending: `. ${keyAdvice}`, isTemporary: false },
  BodyNotReplayable: {
    ending: ", and a streamed body can't be sent again with the new token. Send the request again.",
    isTemporary: false
  }
}

export type RequestReason = Exclude<ForbiddenReason, "KeyRejected">

const isRequestReason = (reason: ForbiddenReason): reason is RequestReason => reason !== "KeyRejected"

export const requestReasons = Struct.keys(reasons).filter(isRequestReason)

/** Whether the error is about a request that was rejected, and not about the license key. */
export const concernsRequest = (
  error: NutritionAdvisorError
): error is Forbidden & { readonly reason: RequestReason } =>
  error._tag === "Forbidden" && isRequestReason(error.reason)
