import { counters, gauge } from "../counter.js"

export const retries = counters<{ readonly outcome: "Retried" | "OutOfBudget" }>(
  "retries_total",
  "Searches and requests that were sent again, or that were not since the budget was used up",
  [{ outcome: "Retried" }, { outcome: "OutOfBudget" }]
)

export type HeldReason = "TooManyRequests" | "Rate"

const heldReasons: ReadonlyArray<{ readonly reason: HeldReason }> = [{ reason: "TooManyRequests" }, { reason: "Rate" }]

export const heldRequests = counters(
  "held_requests_total",
  "Searches and requests that a throttle refused or made wait",
  heldReasons
)

export const refusedRequests = counters(
  "refused_requests_total",
  "Searches and requests that a throttle ended in TooManyRequests",
  heldReasons
)

export const setHold: (seconds: number) => void = gauge(
  "hold_seconds",
  "Seconds for which requests are still held after a 429 of the service"
)

export const cachedSearches = counters<{ readonly outcome: "Hit" | "Miss" | "Joined" | "Stale" }>(
  "search_cache_total",
  "Searches through the cache, by where their payload came from",
  [{ outcome: "Hit" }, { outcome: "Miss" }, { outcome: "Joined" }, { outcome: "Stale" }]
)
