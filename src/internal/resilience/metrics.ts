import { byLabel } from "../telemetry/metrics.js"

export const retries = byLabel(
  "retries_total",
  "outcome",
  ["Retried", "OutOfBudget"],
  "Retries of failed searches and requests, and those that were skipped because the budget was used up"
)

export const heldRequests = byLabel(
  "held_requests_total",
  "reason",
  ["TooManyRequests", "Rate"],
  "Searches and requests that Throttle delayed or rejected, by the first reason for each"
)

export const cachedSearches = byLabel(
  "search_cache_total",
  "outcome",
  ["Hit", "Miss", "Joined"],
  "Searches through SearchCache, by where their payload comes from"
)
