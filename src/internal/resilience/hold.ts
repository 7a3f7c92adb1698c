import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"

/** What a 429 of the service does to the requests after it. All times are milliseconds of the monotonic clock. */
export type Hold =
  | { readonly _tag: "None" }
  /** No request begins before this time, and only one when it has come. */
  | { readonly _tag: "Held"; readonly until: number }
  /** One request is out: its answer decides for the others. */
  | { readonly _tag: "Trying"; readonly request: object }

export const none: Hold = { _tag: "None" }

/** Milliseconds that are left; undefined until the one request that is out has an answer. */
export const left = (hold: Hold, now: number): number | undefined =>
  hold._tag === "Trying" ? undefined : hold._tag === "Held" ? Math.max(0, hold.until - now) : 0

export const begin = (hold: Hold, request: object): Hold => hold._tag === "Held" ? { _tag: "Trying", request } : hold

/** To the request itself, not to an exchange of the license key. */
const isAnswer = (error: NutritionAdvisorError) =>
  error.operation !== "token" && "status" in error && error.status !== undefined

/** A request ended: a 429 holds the others, any other answer to the one that went first lets them follow. */
export const end = (
  hold: Hold,
  request: object,
  exit: Exit.Exit<unknown, NutritionAdvisorError>,
  now: number
): Hold => {
  const failure = Exit.isFailure(exit) ? Cause.failureOption(exit.cause) : Option.none()
  const answer = Option.getOrUndefined(Option.filter(failure, isAnswer))
  if (answer?._tag === "TooManyRequests") {
    const until = now + Math.min(3600, answer.retryAfter ?? 1) * 1000
    return { _tag: "Held", until: hold._tag === "Held" ? Math.max(hold.until, until) : until }
  }
  if (hold._tag !== "Trying" || hold.request !== request) return hold
  return Exit.isSuccess(exit) || answer !== undefined ? none : { _tag: "Held", until: now }
}
