/** Forbidden is the error of rejected requests and of a rejected license key. This file tells the two apart. */
import { Forbidden, ForbiddenReason, type NutritionAdvisorError } from "../../NutritionAdvisorError.js"

/** "KeyRejected" concerns an exchange, and all other reasons concern a request. */
const isRequestReason = (reason: ForbiddenReason) => reason !== "KeyRejected"

export const requestReasons = ForbiddenReason.literals.filter(isRequestReason)
export type RequestReason = (typeof requestReasons)[number]

/** Checks for a Forbidden that concerns a request. */
export const isForbiddenRequest = (
  error: NutritionAdvisorError
): error is Forbidden & { readonly reason: RequestReason } =>
  error._tag === "Forbidden" && isRequestReason(error.reason)

/** The error of a renewal that gets no other token although no exchange failed. The JSDoc of `renew` explains its status. */
export const notRenewed = (reason: "CoolingDown" | "TokenUnchanged"): Forbidden =>
  new Forbidden({ operation: "request", status: 403, reason })
