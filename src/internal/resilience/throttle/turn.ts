import * as Hold from "./hold.js"

/** What decides whether a request may go. All times are in milliseconds on the monotonic clock. */
interface Situation {
  readonly request: object
  readonly now: number
  readonly hold: Hold.Hold
  /** How long the rate delays the next request. */
  readonly paced: number
  /** How long the rate delays this request after the next one, because of the requests ahead of it. */
  readonly behind: number
  readonly deadline: number
  readonly onTooManyRequests: "fail" | "wait"
}

/** Whether a request may go now, has to wait, or fails because it would wait too long. `millis` is its wait, as far as it is known. */
export type Turn =
  | { readonly _tag: "Now" }
  | { readonly _tag: "Wait" | "TooLate"; readonly reason: "TooManyRequests" | "Rate"; readonly millis: number }

export const decide = ({ behind, deadline, hold, now, onTooManyRequests, paced, request }: Situation): Turn => {
  const held = Hold.wait(hold, request, now)
  const millis = behind + Math.max(held, paced)
  if (millis <= 0) return { _tag: "Now" }
  const reason = held > 0 ? "TooManyRequests" : "Rate"
  // The response to a probe may end the hold at any time.
  const shortest = hold._tag === "Probing" ? behind + paced : millis
  const failsAtOnce = reason === "TooManyRequests" && onTooManyRequests === "fail"
  const isTooLate = failsAtOnce || now >= deadline || now + shortest > deadline
  return { _tag: isTooLate ? "TooLate" : "Wait", reason, millis }
}
