/** A circuit breaker that a 429 of the service opens. All times are milliseconds of the monotonic clock. */
interface Common {
  /** Requests with a lower number began before it was opened. */
  readonly since: number
  /** How often it was opened without a success of a request begun since. */
  readonly openings: number
}

export type Breaker =
  | Common & { readonly _tag: "Closed" }
  /** No request goes before this time. */
  | Common & { readonly _tag: "Open"; readonly until: number }
  /** One request, of this number, is out: its answer decides for the others. */
  | Common & { readonly _tag: "HalfOpen"; readonly trial: number }

export const closed: Breaker = { _tag: "Closed", since: 0, openings: 0 }

const longest = 3_600_000

const backoff = (openings: number) => Math.min(60_000, 1_000 * 2 ** openings)

/** Milliseconds of a `retryAfter` in seconds; what is no number of seconds counts as not given. */
const named = (retryAfter: number | undefined) =>
  retryAfter !== undefined && retryAfter >= 0 ? Math.min(longest, Math.ceil(retryAfter * 1000)) : undefined

/** Milliseconds for which it is still open. */
export const remaining = (breaker: Breaker, now: number) =>
  breaker._tag === "Open" ? Math.max(0, breaker.until - now) : 0

/** What stands in the way of the next request: milliseconds until the time is over, or one request that is out. */
export type Obstacle = { readonly _tag: "Time"; readonly millis: number } | { readonly _tag: "Trial" }

export const obstacle = (breaker: Breaker, now: number): Obstacle | undefined => {
  if (breaker._tag === "HalfOpen") return { _tag: "Trial" }
  const millis = remaining(breaker, now)
  return millis > 0 ? { _tag: "Time", millis } : undefined
}

/** A request of this number begins. */
export const begin = (breaker: Breaker, number: number): Breaker =>
  breaker._tag === "Closed"
    ? breaker
    : { _tag: "HalfOpen", trial: number, since: breaker.since, openings: breaker.openings }

/** A 429 to the request of this number, of which the next number is still free. */
export const tooMany = (
  breaker: Breaker,
  number: number,
  next: number,
  retryAfter: number | undefined,
  now: number
): Breaker => {
  const { openings, since } = breaker
  const millis = named(retryAfter)
  if (number >= since) {
    return { _tag: "Open", until: now + (millis ?? backoff(openings)), since: next, openings: openings + 1 }
  }
  return millis === undefined || millis <= remaining(breaker, now)
    ? breaker
    : { _tag: "Open", until: now + millis, since: next, openings }
}

const isTrial = (breaker: Breaker, number: number) => breaker._tag === "HalfOpen" && breaker.trial === number

/** Another answer to the request of this number; the same breaker where nothing changes, as on nearly every request. */
export const answered = (breaker: Breaker, number: number, isSuccess: boolean): Breaker => {
  const openings = isSuccess && number >= breaker.since ? 0 : breaker.openings
  if (isTrial(breaker, number)) return { _tag: "Closed", since: breaker.since, openings }
  return openings === breaker.openings ? breaker : { ...breaker, openings }
}

/** The request of this number ended without an answer: the next one takes its place. */
export const unanswered = (breaker: Breaker, number: number, now: number): Breaker =>
  isTrial(breaker, number)
    ? { _tag: "Open", until: now, since: breaker.since, openings: breaker.openings }
    : breaker
