import { byLabel } from "../telemetry/metrics.js"

const retried = "Retries of failed searches and requests, and those that were skipped because the budget was used up"
export const retries = byLabel("retries_total", "outcome", ["Retried", "OutOfBudget"], retried)

const held = "Searches and requests that Throttle delayed or rejected, by the first reason for each"
export const heldRequests = byLabel("held_requests_total", "reason", ["TooManyRequests", "Rate"], held)

const cached = "Searches through SearchCache, by where their payload comes from"
export const cachedSearches = byLabel("search_cache_total", "outcome", ["Hit", "Miss", "Joined"], cached)
