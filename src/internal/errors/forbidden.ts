/** Forbidden is the error of rejected requests and of a rejected license key. This file says what each of its reasons means. */
import * as Struct from "effect/Struct"
import type { Forbidden, ForbiddenReason, NutritionAdvisorError } from "../../NutritionAdvisorError.js"

interface Meaning {
  /** What the service rejected. */
  readonly rejected: "request" | "key"
  /** Whether the same call may succeed later without any change. For every Forbidden, `isTransient` returns false. */
  readonly isTemporary: boolean
  /** The end of the message, from the comma or the period after "was rejected (status 403)". */
  readonly ending: string
}

export const keyAdvice = "Check the license key, baseUrl and tokenRoute, and any proxy between you and the service."

const licenseAdvice =
  "Check that the license covers this call, that serviceId is correct, and that no proxy is rejecting the request."

export const forbiddenReasons = {
  RejectedAgain: {
    rejected: "request",
    isTemporary: false,
    ending: `, even with a new token. ${licenseAdvice}`
  },
  TokenUnchanged: {
    rejected: "request",
    isTemporary: false,
    ending: `, and the token exchange returned the same token again. ${licenseAdvice}`
  },
  CoolingDown: {
    rejected: "request",
    isTemporary: true,
    ending:
      `, and the token can't be renewed again yet. ${licenseAdvice} Another program with this key may be revoking your tokens.`
  },
  KeyRejected: {
    rejected: "key",
    isTemporary: false,
    ending: `. ${keyAdvice}`
  },
  BodyNotReplayable: {
    rejected: "request",
    isTemporary: false,
    ending: ". The token was renewed, but a streamed body can't be sent twice. Send the request again."
  }
} as const satisfies Record<ForbiddenReason, Meaning>

export type RequestReason = {
  [Reason in ForbiddenReason]: (typeof forbiddenReasons)[Reason]["rejected"] extends "request" ? Reason : never
}[ForbiddenReason]

const isRequestReason = (reason: ForbiddenReason): reason is RequestReason =>
  forbiddenReasons[reason].rejected === "request"

export const requestReasons = Struct.keys(forbiddenReasons).filter(isRequestReason)

/** Checks for a Forbidden that concerns a request. */
export const isForbiddenRequest = (
  error: NutritionAdvisorError
): error is Forbidden & { readonly reason: RequestReason } =>
  error._tag === "Forbidden" && isRequestReason(error.reason)
