import { counter } from "../telemetry/metrics.js"

export const sharedTokens = counter(
  "shared_tokens_total",
  "Tokens that SharedTokenIssuer returned, by how it got them",
  [{ outcome: "HandedOver" }, { outcome: "Exchanged" }, { outcome: "ExchangedAlone" }]
)

export const cacheFailures = counter(
  "shared_cache_failures_total",
  "Failed calls to the shared token cache, by reason",
  [{ reason: "Unavailable" }, { reason: "Timeout" }]
)
