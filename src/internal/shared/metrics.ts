import { counterByLabel } from "../telemetry/metrics.js"

export const sharedTokens = counterByLabel(
  "shared_tokens_total",
  "outcome",
  ["HandedOver", "Exchanged", "ExchangedAlone"],
  "Tokens that SharedTokenIssuer returned, by how it got them"
)

export const cacheFailures = counterByLabel(
  "shared_cache_failures_total",
  "reason",
  ["Unavailable", "Timeout"],
  "Failed calls to the shared token cache, by reason"
)
