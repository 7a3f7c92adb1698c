import type * as Cause from "effect/Cause"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type { ExchangeRequest } from "../../TokenIssuer.js"
import { counter, errorTags, type FailureLabel, failureLabels, gauge } from "../telemetry/metrics.js"

const reasons = ["missing", "refresh", "rejection"] as const satisfies ReadonlyArray<ExchangeRequest["reason"]>

type Reason = (typeof reasons)[number]

const outcomes = ["issued", "unchanged"] as const

type Outcome = (typeof outcomes)[number]

const exchanges = counter<{
  readonly reason: Reason
  readonly outcome: Outcome | "failed"
  readonly error: FailureLabel | "none"
}>("token_exchanges_total", "Exchanges of the license key for a token")

const setExpiry = gauge("token_expiry_timestamp_seconds", "When the token in use expires, in Unix time")

export const exchanged = (reason: Reason, outcome: Outcome): void => exchanges({ reason, outcome, error: "none" })(1)

export const exchangeFailed = (reason: Reason, cause: Cause.Cause<TokenError>): void =>
  exchanges({ reason, outcome: "failed", error: failureLabels(cause).outcome })(1)

export const tokenExpires = (epochMillis: number): void => setExpiry(epochMillis / 1000)

/** Creates all series, by adding zero. A series that exists keeps its value. */
export const createSeries = (): void => {
  for (const reason of reasons) {
    for (const outcome of outcomes) exchanges({ reason, outcome, error: "none" })(0)
    for (const error of [...errorTags, "Defect"] as const) exchanges({ reason, outcome: "failed", error })(0)
  }
}
