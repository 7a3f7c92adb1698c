import type { ExchangeRequest } from "../../TokenIssuer.js"
import { counter, errorTags, type FailureLabel, gauge } from "../telemetry/metrics.js"

const reasons = ["missing", "refresh", "rejection"] as const satisfies ReadonlyArray<ExchangeRequest["reason"]>

const outcomes = ["issued", "unchanged"] as const

export const exchanges = counter<{
  readonly reason: (typeof reasons)[number]
  readonly outcome: (typeof outcomes)[number] | "failed"
  readonly error: FailureLabel | "none"
}>(
  "token_exchanges_total",
  "Exchanges of the license key for a token",
  reasons.flatMap((reason) => [
    ...outcomes.map((outcome) => ({ reason, outcome, error: "none" } as const)),
    ...[...errorTags, "Defect" as const].map((error) => ({ reason, outcome: "failed", error } as const))
  ])
)

export const setExpiry = gauge("token_expiry_timestamp_seconds", "When the token in use expires, in Unix time")
