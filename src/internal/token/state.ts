import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import { type AccessToken, windowOf } from "../../AccessToken.js"
import { Forbidden, type TokenError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type { ExchangeRequest } from "../../TokenIssuer.js"
import type { Failure } from "../../TokenProvider.js"
import { retryAfterMillis } from "../errors/retry.js"
import { closedError } from "../errors/transportErrors.js"
import type { Moment } from "../runtime/clock.js"
import { backoffAfter } from "./delays.js"

// Transitions are pure: each one gets the current time. Backoff and cool-down use the monotonic clock, in milliseconds.

/** What the exchanges of a client do now. A `Flight` is what callers wait for, and opaque here. */
type Phase<Flight> =
  | { readonly _tag: "Idle" }
  | { readonly _tag: "InFlight"; readonly flight: Flight }
  /** The last exchange failed with `cause`. The backoff ends at `until`. */
  | { readonly _tag: "BackingOff"; readonly cause: Cause.Cause<TokenError>; readonly until: Moment }
  | { readonly _tag: "Closed" }

/** The state of a client's exchanges; the token itself is in the store. */
export interface State<Flight> {
  readonly policy: RefreshPolicy.CheckedPolicy
  readonly phase: Phase<Flight>
  /** The start times of the last two renewals, in monotonic milliseconds. */
  readonly renewals: ReadonlyArray<number>
  /** The time before which no refresh starts, in monotonic milliseconds. */
  readonly noRefreshUntil: number
  /** The number of consecutive failed exchanges. */
  readonly failures: number
  readonly lastFailure: Option.Option<Failure>
}

export const initial = (policy: RefreshPolicy.CheckedPolicy): State<never> => ({
  policy,
  phase: { _tag: "Idle" },
  renewals: [],
  noRefreshUntil: 0,
  failures: 0,
  lastFailure: Option.none()
})

/** With two, the client can renew again if the new token is revoked immediately, or came from another replica and is rejected as well. */
const renewalsPerCoolDown = 2

/** The error of a renewal that ends without a new token, although no exchange failed. The JSDoc of `renew` explains its status. */
export const notRenewed = (reason: "CoolingDown" | "TokenUnchanged"): Forbidden =>
  new Forbidden({ operation: "request", status: 403, reason })

const coolingDown = Cause.fail(notRenewed("CoolingDown"))

export const clientClosed = Cause.fail(closedError("token"))

/** Whether it is too early to replace a token that callers have. If they have none, it never is. */
const isTooEarly = (
  { noRefreshUntil, policy, renewals }: State<unknown>,
  reason: ExchangeRequest["reason"],
  { monotonic }: Moment
): boolean => {
  switch (reason) {
    case "missing":
      return false
    case "refresh":
      return monotonic < noRefreshUntil
    case "rejection":
      return renewals.filter((startedAt) => monotonic < startedAt + policy.coolDown).length >= renewalsPerCoolDown
  }
}

/** What callers fail with if no flight may start, or undefined if one may. The last exchange may have died with a defect, so it is a Cause. */
export const refusalOf = (
  state: State<unknown>,
  reason: ExchangeRequest["reason"],
  now: Moment
): Cause.Cause<TokenError> | undefined => {
  const { phase } = state
  if (phase._tag === "Closed") return clientClosed
  if (phase._tag === "BackingOff" && now.monotonic < phase.until.monotonic) return phase.cause
  // Only a renewal fails with this error. A refresh that can't start is skipped, because its callers have a token.
  return isTooEarly(state, reason, now) ? coolingDown : undefined
}

/** A flight starts. Only one may be pending. */
export const started = <Flight>(
  state: State<Flight>,
  flight: Flight,
  reason: ExchangeRequest["reason"],
  now: Moment
): State<Flight> => {
  // Earlier renewals no longer matter. They are dropped only to bound the memory.
  const renewals = reason === "rejection"
    ? [...state.renewals, now.monotonic].slice(-renewalsPerCoolDown)
    : state.renewals
  return { ...state, phase: { _tag: "InFlight", flight }, renewals }
}

/** The flight succeeded, and this token is now the current one. */
export const succeeded = <Flight>(
  state: State<Flight>,
  token: AccessToken,
  now: Moment
): State<Flight> => {
  if (state.phase._tag === "Closed") return state
  // The token may not be fresh, even if it is new. If each exchange returns the same token, its window has time for ten refreshes at most.
  const noRefreshUntil = now.monotonic + windowOf(token, state.policy) / 10
  return { ...state, phase: { _tag: "Idle" }, failures: 0, noRefreshUntil }
}

/** The flight failed, so the backoff starts. `random` is between 0 and 1. */
export const failed = <Flight>(
  state: State<Flight>,
  cause: Cause.Cause<TokenError>,
  random: number,
  now: Moment
): State<Flight> => {
  if (state.phase._tag === "Closed") return state
  const error = Cause.failureOption(cause)
  const failures = state.failures + 1
  const retryAfter = Option.match(error, { onNone: () => 0, onSome: retryAfterMillis })
  const backoff = backoffAfter(state.policy, failures, random, retryAfter)
  const until = { wall: Math.ceil(now.wall + backoff), monotonic: Math.ceil(now.monotonic + backoff) }
  const failure = Option.map(error, (error) => ({ error, at: now.wall, retryAt: until.wall }))
  return {
    ...state,
    phase: { _tag: "BackingOff", cause, until },
    failures,
    lastFailure: Option.orElse(failure, () => state.lastFailure)
  }
}

export const closed = (state: State<unknown>): State<never> => ({ ...state, phase: { _tag: "Closed" } })
