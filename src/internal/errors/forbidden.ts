/** Forbidden is the error of rejected requests and of a rejected license key. */
import { Forbidden, ForbiddenReason, type NutritionAdvisorError } from "../../NutritionAdvisorError.js"

/** What each reason means: what the service rejected, and whether the same call may succeed later without any change. */
const meanings = {
  RejectedAgain: { rejected: "request", isTemporary: false },
  TokenUnchanged: { rejected: "request", isTemporary: false },
  CoolingDown: { rejected: "request", isTemporary: true },
  KeyRejected: { rejected: "key", isTemporary: false },
  BodyNotReplayable: { rejected: "request", isTemporary: false }
} as const satisfies Record<ForbiddenReason, { rejected: "request" | "key"; isTemporary: boolean }>

export type RequestReason = {
  [Reason in ForbiddenReason]: (typeof meanings)[Reason]["rejected"] extends "request" ? Reason : never
}[ForbiddenReason]

const isRequestReason = (reason: ForbiddenReason): reason is RequestReason => meanings[reason].rejected === "request"

export const requestReasons = ForbiddenReason.literals.filter(isRequestReason)

/** Checks whether the same call may succeed later. For every Forbidden, `isTransient` returns false. */
export const isTemporary = (reason: ForbiddenReason): boolean => meanings[reason].isTemporary

/** Checks for a Forbidden that concerns a request. */
export const isForbiddenRequest = (
  error: NutritionAdvisorError
): error is Forbidden & { readonly reason: RequestReason } =>
  error._tag === "Forbidden" && isRequestReason(error.reason)

/** The error of a renewal that gets no other token although no exchange failed. The JSDoc of `renew` explains its status. */
export const notRenewed = (reason: "CoolingDown" | "TokenUnchanged"): Forbidden =>
  new Forbidden({ operation: "request", status: 403, reason })
