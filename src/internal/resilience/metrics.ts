import { counterByLabel } from "../telemetry/metrics.js"

export const retries = counterByLabel(
  "retries_total",
  "outcome",
  ["Retried", "OutOfBudget"],
  "Retries of failed searches and requests, and those that were skipped because the budget was used up"
)

export const heldRequests = counterByLabel(
  "held_requests_total",
  "reason",
  ["TooManyRequests", "Rate"],
  "Searches and requests that Throttle delayed or didn't send, by the first reason for each"
)

export const cachedSearches = counterByLabel(
  "search_cache_total",
  "outcome",
  ["Hit", "Miss", "Joined"],
  "Searches through SearchCache, by where their payload comes from"
)
