import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { NutritionAdvisorError } from "../../../NutritionAdvisorError.js"
import { maxRetryAfterMillis } from "../../errors/retry.js"

// All times are in milliseconds on the monotonic clock.

/** A request in the queue. The probe is recognized by its identity. */
interface Permitted {
  /** The time of its last permit. */
  readonly permittedAt: number
}

/** Whether requests have to wait because of a 429. */
export type Hold =
  | { readonly _tag: "Open" }
  /** No request is sent before `until`, and then only one. */
  | { readonly _tag: "Held"; readonly until: number }
  /** One request, the probe, has got a permit. The others wait for its response, or until the next one replaces it at `until`. */
  | { readonly _tag: "Probing"; readonly probe: Permitted; readonly since: number; readonly until: number }

export const open: Hold = { _tag: "Open" }

/** How long the other requests wait for the response to a probe. */
const probeMillis = 5_000

/** Returns how long a request has to wait for a permit. */
export const waitTime = (hold: Hold, request: Permitted, now: number): number =>
  hold._tag === "Open" || (hold._tag === "Probing" && hold.probe === request) ? 0 : Math.max(0, hold.until - now)

/** Updates the hold after a request has got a permit. During a hold, it becomes the probe. */
export const grant = (hold: Hold, request: Permitted, now: number): Hold => {
  if (hold._tag === "Open") return hold
  const since = hold._tag === "Probing" ? hold.since : now
  return { _tag: "Probing", probe: request, since, until: now + probeMillis }
}

/** Whether the error is a response to the request itself, and not to an exchange of the license key. */
const isResponse = (error: NutritionAdvisorError) =>
  error.operation !== "token" && "status" in error && error.status !== undefined

/**
 * Returns how many milliseconds a 429 holds the requests. Some services send a Retry-After of zero, and a date is in the past if the clock
 * of this process is ahead. Neither means that the service is ready again.
 */
const holdMillis = (retryAfter: number | undefined): number => {
  const seconds = retryAfter === undefined || retryAfter === 0 ? 1 : retryAfter
  return Math.min(maxRetryAfterMillis, seconds * 1000)
}

/** Updates the hold after a request with a permit has ended. */
export const end = (
  hold: Hold,
  request: Permitted,
  exit: Exit.Exit<unknown, NutritionAdvisorError>,
  now: number
): Hold => {
  const failure = Exit.isFailure(exit) ? Cause.failureOption(exit.cause) : Option.none()
  const response = Option.getOrUndefined(Option.filter(failure, isResponse))
  if (response?._tag === "TooManyRequests") {
    const until = now + holdMillis(response.retryAfter)
    return { _tag: "Held", until: hold._tag === "Held" ? Math.max(hold.until, until) : until }
  }
  if (hold._tag !== "Probing" || request.permittedAt < hold.since) return hold
  if (Exit.isSuccess(exit) || response !== undefined) return open
  return hold.probe === request ? { ...hold, until: now } : hold
}
