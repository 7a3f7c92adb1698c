import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as AccessToken from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import * as RefreshPolicy from "../../RefreshPolicy.js"
import type { Failure } from "../../TokenProvider.js"

// All times are epoch milliseconds, and each transition is told what time it is.

interface Interval {
  readonly from: number
  readonly until: number
}

/** What is known whatever the exchange does. */
interface Known {
  /** When the last renewals after a rejection began. */
  readonly renewals: ReadonlyArray<number>
  /** No refresh begins in this interval: the last exchange brought no fresh token. */
  readonly refreshHold: Option.Option<Interval>
  readonly lastFailure: Option.Option<Failure>
}

interface Idle extends Known {
  readonly _tag: "Idle"
}

interface InFlight<Flight> extends Known {
  readonly _tag: "InFlight"
  readonly flight: Flight
  /** Failed exchanges in a row before this one. */
  readonly failures: number
}

interface BackingOff extends Known {
  readonly _tag: "BackingOff"
  /** Failed exchanges in a row. */
  readonly failures: number
  readonly cause: Cause.Cause<TokenError>
  readonly backoff: Interval
}

/** All that is known of the life of tokens beside the token itself. A `Flight` is what callers wait for: it is never looked into. */
export type State<Flight> = Idle | InFlight<Flight> | BackingOff

export const initial: State<never> = {
  _tag: "Idle",
  renewals: [],
  refreshHold: Option.none(),
  lastFailure: Option.none()
}

/** What someone who wants a token does next: wait for a flight, or take the error of the exchange that failed a moment ago. */
export type Decision<Flight> =
  | { readonly _tag: "Wait"; readonly flight: Flight }
  | { readonly _tag: "Fail"; readonly cause: Cause.Cause<TokenError> }

/** All renewals of this cool-down have begun: no other one may. */
export interface CoolingDown {
  readonly _tag: "CoolingDown"
}

/** It is also over where the clock was set back to before its beginning. */
const isWithin = ({ from, until }: Interval, now: number) => from <= now && now < until

const knownOf = ({ lastFailure, refreshHold, renewals }: Known): Known => ({ renewals, refreshHold, lastFailure })

export const failuresOf = (state: State<unknown>): number => state._tag === "Idle" ? 0 : state.failures

/** What the exchange that runs, or the one that failed a moment ago, says to all. */
const standing = <Flight>(state: State<Flight>, now: number): Decision<Flight> | undefined => {
  if (state._tag === "InFlight") return { _tag: "Wait", flight: state.flight }
  if (state._tag === "BackingOff" && isWithin(state.backoff, now)) return { _tag: "Fail", cause: state.cause }
  return undefined
}

const begun = <Flight>(state: State<Flight>, flight: Flight): readonly [Decision<Flight>, State<Flight>] => [
  { _tag: "Wait", flight },
  { ...knownOf(state), _tag: "InFlight", flight, failures: failuresOf(state) }
]

/** Someone wants a token: there is none, or it grows old. The flight begins where the decision is to wait for it. */
export const ask = <Flight>(
  state: State<Flight>,
  flight: Flight,
  now: number
): readonly [Decision<Flight>, State<Flight>] => {
  const decision = standing(state, now)
  return decision === undefined ? begun(state, flight) : [decision, state]
}

/** The token was rejected: someone wants another one. */
export const renew = <Flight>(
  state: State<Flight>,
  flight: Flight,
  { coolDown, renewalsPerCoolDown }: RefreshPolicy.CheckedPolicy,
  now: number
): readonly [Decision<Flight> | CoolingDown, State<Flight>] => {
  const decision = standing(state, now)
  if (decision !== undefined) return [decision, state]
  const recent = state.renewals.filter((at) => isWithin({ from: at, until: at + coolDown }, now))
  return recent.length < renewalsPerCoolDown
    ? begun({ ...state, renewals: [...recent, now] }, flight)
    : [{ _tag: "CoolingDown" }, state]
}

/** Whether a stale token is not worth an exchange yet. */
export const isRefreshHeld = ({ refreshHold }: State<unknown>, now: number): boolean =>
  Option.exists(refreshHold, (hold) => isWithin(hold, now))

/** The flight brought this token, which is the current one now. */
export const succeeded = <Flight>(
  state: State<Flight>,
  token: AccessToken.AccessToken,
  policy: RefreshPolicy.CheckedPolicy,
  now: number
): State<Flight> => ({
  ...knownOf(state),
  _tag: "Idle",
  refreshHold: AccessToken.stateAt(token, now, policy) === "fresh"
    ? Option.none()
    : Option.some({ from: now, until: now + RefreshPolicy.windowOf(policy, token) / 10 })
})

const retryAfterOf = (error: TokenError) => "retryAfter" in error ? error.retryAfter : undefined

/** The flight failed: exchanges back off. `random` is between 0 and 1. */
export const failed = <Flight>(
  state: State<Flight>,
  cause: Cause.Cause<TokenError>,
  random: number,
  policy: RefreshPolicy.CheckedPolicy,
  now: number
): BackingOff => {
  const error = Cause.failureOption(cause)
  const failures = failuresOf(state) + 1
  const retryAfter = Option.getOrUndefined(Option.map(error, retryAfterOf))
  const until = Math.ceil(now + RefreshPolicy.backoffAfter(policy, failures, random, retryAfter))
  const failure = Option.map(error, (error) => ({ error, at: now, retryAt: until }))
  return {
    ...knownOf(state),
    _tag: "BackingOff",
    failures,
    cause,
    backoff: { from: now, until },
    lastFailure: Option.orElse(failure, () => state.lastFailure)
  }
}
