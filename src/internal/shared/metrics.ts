import { byLabel } from "../metrics.js"

const tokens = "Tokens of replicas that share one, by how they came by it"
export const sharedTokens = byLabel(
  "shared_tokens_total",
  "outcome",
  ["HandedOver", "Exchanged", "ExchangedAlone"],
  tokens
)

const failures = "Calls of the shared token cache that failed"
export const cacheFailures = byLabel("shared_cache_failures_total", "reason", ["Unavailable", "Timeout"], failures)
