/** What a 429 of the service does to the requests after it. All times are milliseconds of the monotonic clock. */
export interface Hold {
  /** Free: requests go. Holding: they don't, before `until` and before one of them has been answered. */
  readonly _tag: "Free" | "Holding"
  readonly until: number
  /** Requests with a lower number began before the hold. */
  readonly since: number
  /** The number of the one request that went first after the time was over, while it is out. */
  readonly probe: number | undefined
  /** Holds without a success of a request begun since. */
  readonly holds: number
}

export const free: Hold = { _tag: "Free", until: 0, since: 0, probe: undefined, holds: 0 }

const longest = 3_600_000

const backoff = (holds: number) => Math.min(60_000, 1_000 * 2 ** holds)

/** `retryAfter` in seconds; what is no number of seconds counts as not given. */
const named = (retryAfter: number | undefined) =>
  retryAfter !== undefined && retryAfter >= 0 ? Math.min(longest, Math.ceil(retryAfter * 1000)) : undefined

/** What stands in the way of the next request: milliseconds until the time is over, or one request that is out. */
export type Obstacle = { readonly _tag: "Time"; readonly millis: number } | { readonly _tag: "Probe" } | undefined

export const obstacle = (hold: Hold, now: number): Obstacle =>
  hold._tag === "Free"
    ? undefined
    : hold.probe !== undefined
    ? { _tag: "Probe" }
    : hold.until > now
    ? { _tag: "Time", millis: hold.until - now }
    : undefined

/** Milliseconds that are left of it. */
export const remaining = (hold: Hold, now: number) => hold._tag === "Free" ? 0 : Math.max(0, hold.until - now)

/** A request of this number begins. */
export const begin = (hold: Hold, number: number): Hold => hold._tag === "Free" ? hold : { ...hold, probe: number }

/** A 429 to the request of this number, of which the next number is still free. */
export const tooMany = (
  hold: Hold,
  number: number,
  next: number,
  retryAfter: number | undefined,
  now: number
): Hold => {
  const millis = named(retryAfter)
  if (number >= hold.since) {
    const until = now + (millis ?? backoff(hold.holds))
    return { _tag: "Holding", until, since: next, probe: undefined, holds: hold.holds + 1 }
  }
  return millis === undefined || now + millis <= hold.until
    ? hold
    : { ...hold, _tag: "Holding", until: now + millis, since: next, probe: undefined }
}

/** Another answer to the request of this number; the same hold where nothing changes, as on nearly every request. */
export const answered = (hold: Hold, number: number, isSuccess: boolean): Hold => {
  const isEnd = hold.probe === number
  const holds = isSuccess && number >= hold.since ? 0 : hold.holds
  if (isEnd) return { ...hold, _tag: "Free", until: 0, probe: undefined, holds }
  return holds === hold.holds ? hold : { ...hold, holds }
}

/** The request of this number ended without an answer. */
export const unanswered = (hold: Hold, number: number): Hold =>
  hold.probe === number ? { ...hold, probe: undefined } : hold
