import { byLabel } from "../metrics.js"

export const sharedTokens = byLabel(
  "shared_tokens_total",
  "outcome",
  ["HandedOver", "Exchanged", "ExchangedAlone"],
  "Tokens of replicas that share one, by how they came by it"
)

export const cacheFailures = byLabel(
  "shared_cache_failures_total",
  "reason",
  ["Unavailable", "Timeout"],
  "Calls of the shared token cache that failed"
)
