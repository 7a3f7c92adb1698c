import { byLabel } from "../metrics.js"

const shared = "Tokens of replicas that share one, by how they came by it"
const outcomes = ["HandedOver", "Exchanged", "ExchangedAlone"] as const
export const sharedTokens = byLabel("shared_tokens_total", "outcome", outcomes, shared)

const failed = "Calls of the shared token cache that failed"
export const cacheFailures = byLabel("shared_cache_failures_total", "reason", ["Unavailable", "Timeout"], failed)
