import { byLabel } from "../metrics.js"

const retried = "Searches and requests that were sent again, or were not since the budget was used up"
export const retries = byLabel("retries_total", "outcome", ["Retried", "OutOfBudget"], retried)

const held = "Searches and requests that a throttle refused or made wait, by what held them first"
export const heldRequests = byLabel("held_requests_total", "reason", ["TooManyRequests", "Rate"], held)

const cached = "Searches through the cache, by where their payload comes from"
export const cachedSearches = byLabel("search_cache_total", "outcome", ["Hit", "Miss", "Joined"], cached)
