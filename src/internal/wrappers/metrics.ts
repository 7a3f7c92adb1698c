import { counter } from "../telemetry/metrics.js"

export const retries = counter(
  "retries_total",
  "Retries of failed searches and requests, and those that were skipped because the budget was used up",
  [{ outcome: "Retried" }, { outcome: "OutOfBudget" }]
)

export const heldRequests = counter(
  "held_requests_total",
  "Searches and requests that Throttle delayed or didn't send, by the first reason for each",
  [{ reason: "TooManyRequests" }, { reason: "Rate" }]
)

export const cachedSearches = counter(
  "search_cache_total",
  "Searches through SearchCache, by where their payload comes from",
  [{ outcome: "Hit" }, { outcome: "Miss" }, { outcome: "Joined" }]
)
