import type { ExchangeRequest } from "../../TokenIssuer.js"
import { counter, errorTags, type FailureLabel, gauge } from "../telemetry/metrics.js"

const reasons = ["missing", "refresh", "rejection"] as const satisfies ReadonlyArray<ExchangeRequest["reason"]>

const outcomes = ["issued", "unchanged"] as const

export const exchanges = counter<{
  readonly reason: (typeof reasons)[number]
  readonly outcome: (typeof outcomes)[number] | "failed"
  readonly error: FailureLabel | "none"
}>("token_exchanges_total", "Exchanges of the license key for a token")

export const setExpiry = gauge("token_expiry_timestamp_seconds", "When the token in use expires, in Unix time")

/** Creates all series, by adding zero. A series that exists keeps its value. */
export const createSeries = (): void => {
  for (const reason of reasons) {
    for (const outcome of outcomes) exchanges({ reason, outcome, error: "none" })(0)
    for (const error of [...errorTags, "Defect"] as const) exchanges({ reason, outcome: "failed", error })(0)
  }
}
