import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as AccessToken from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import * as RefreshPolicy from "../../RefreshPolicy.js"
import type { Failure } from "../../TokenProvider.js"
import type { Moment } from "../clock.js"
import { closed } from "../closed.js"

// Each transition is told what time it is. Waits are measured by the monotonic clock, in milliseconds.

/** What outlives an exchange. */
interface History {
  /** When the last renewals after a rejection began. */
  readonly renewals: ReadonlyArray<number>
  /** No refresh begins before: the last exchange returned a token that was not fresh. */
  readonly refreshHeldUntil: number
  readonly lastFailure: Option.Option<Failure>
}

interface Idle extends History {
  readonly _tag: "Idle"
}

interface InFlight<Flight> extends History {
  readonly _tag: "InFlight"
  readonly flight: Flight
  /** Failed exchanges in a row before this one. */
  readonly failures: number
}

interface BackingOff extends History {
  readonly _tag: "BackingOff"
  /** Failed exchanges in a row. */
  readonly failures: number
  readonly cause: Cause.Cause<TokenError>
  readonly until: number
}

interface Closed extends History {
  readonly _tag: "Closed"
}

/** Everything that is known about a client's tokens besides the token itself. A `Flight` is what callers wait for; it is opaque here. */
export type State<Flight> = Idle | InFlight<Flight> | BackingOff | Closed

export const initial: State<never> = {
  _tag: "Idle",
  renewals: [],
  refreshHeldUntil: Number.NEGATIVE_INFINITY,
  lastFailure: Option.none()
}

/** What a caller who wants a token does next: wait for a flight, or fail with what is known already. */
export type Decision<Flight> =
  | { readonly _tag: "Wait"; readonly flight: Flight }
  | { readonly _tag: "Fail"; readonly cause: Cause.Cause<TokenError> }

/** No further renewal may begin in this cool-down. */
export interface CoolingDown {
  readonly _tag: "CoolingDown"
}

export const closedCause: Cause.Cause<TokenError> = Cause.fail(closed("token"))

const historyOf = ({ lastFailure, refreshHeldUntil, renewals }: History): History => ({
  renewals,
  refreshHeldUntil,
  lastFailure
})

export const failuresOf = (state: State<unknown>): number => "failures" in state ? state.failures : 0

/** What the state decides without a new flight; undefined if one may begin. */
const decided = <Flight>(state: State<Flight>, now: Moment): Decision<Flight> | undefined => {
  switch (state._tag) {
    case "Idle":
      return undefined
    case "InFlight":
      return { _tag: "Wait", flight: state.flight }
    case "BackingOff":
      return now.monotonic < state.until ? { _tag: "Fail", cause: state.cause } : undefined
    case "Closed":
      return { _tag: "Fail", cause: closedCause }
  }
}

const starting = <Flight>(state: State<Flight>, flight: Flight): readonly [Decision<Flight>, State<Flight>] => [
  { _tag: "Wait", flight },
  { ...historyOf(state), _tag: "InFlight", flight, failures: failuresOf(state) }
]

/** A token is missing or grows old. The given flight starts if the decision is to wait for it. */
export const ask = <Flight>(
  state: State<Flight>,
  flight: Flight,
  now: Moment
): readonly [Decision<Flight>, State<Flight>] => {
  const decision = decided(state, now)
  return decision === undefined ? starting(state, flight) : [decision, state]
}

/** The token was rejected, and a caller wants another one. */
export const renew = <Flight>(
  state: State<Flight>,
  flight: Flight,
  { coolDown, renewalsPerCoolDown }: RefreshPolicy.CheckedPolicy,
  now: Moment
): readonly [Decision<Flight> | CoolingDown, State<Flight>] => {
  const decision = decided(state, now)
  if (decision !== undefined) return [decision, state]
  const recent = state.renewals.filter((at) => now.monotonic < at + coolDown)
  return recent.length < renewalsPerCoolDown
    ? starting({ ...state, renewals: [...recent, now.monotonic] }, flight)
    : [{ _tag: "CoolingDown" }, state]
}

/** Whether a stale token is not worth an exchange yet. */
export const isRefreshHeld = ({ refreshHeldUntil }: State<unknown>, now: Moment): boolean =>
  now.monotonic < refreshHeldUntil

/** The flight returned this token, which is the current one now. */
export const succeeded = <Flight>(
  state: State<Flight>,
  token: AccessToken.AccessToken,
  policy: RefreshPolicy.CheckedPolicy,
  now: Moment
): State<Flight> => {
  if (state._tag === "Closed") return state
  const isFresh = AccessToken.stateAt(token, now.wall, policy) === "fresh"
  return {
    ...historyOf(state),
    _tag: "Idle",
    refreshHeldUntil: isFresh
      ? initial.refreshHeldUntil
      : now.monotonic + RefreshPolicy.windowOf(policy, token) / 10
  }
}

const retryAfterOf = (error: TokenError) => "retryAfter" in error ? error.retryAfter : undefined

/** The flight failed: exchanges back off. `random` is between 0 and 1. */
export const failed = <Flight>(
  state: State<Flight>,
  cause: Cause.Cause<TokenError>,
  random: number,
  policy: RefreshPolicy.CheckedPolicy,
  now: Moment
): BackingOff | Closed => {
  if (state._tag === "Closed") return state
  const error = Cause.failureOption(cause)
  const failures = failuresOf(state) + 1
  const retryAfter = Option.getOrUndefined(Option.map(error, retryAfterOf))
  const backoff = RefreshPolicy.backoffAfter(policy, failures, random, retryAfter)
  const failure = Option.map(error, (error) => ({ error, at: now.wall, retryAt: Math.ceil(now.wall + backoff) }))
  return {
    ...historyOf(state),
    _tag: "BackingOff",
    failures,
    cause,
    until: Math.ceil(now.monotonic + backoff),
    lastFailure: Option.orElse(failure, () => state.lastFailure)
  }
}

/** Nothing begins any more. */
export const close = (state: State<unknown>): Closed => ({ ...historyOf(state), _tag: "Closed" })
