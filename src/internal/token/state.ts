import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as AccessToken from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import * as RefreshPolicy from "../../RefreshPolicy.js"
import type { ExchangeRequest } from "../../TokenIssuer.js"
import type { Moment } from "../clock.js"
import * as Pause from "../pause.js"
import * as Renewals from "./renewals.js"

/** One exchange for all who wait. `result` is where they wait: the state never looks into it. */
export interface Flight<Result> extends ExchangeRequest {
  readonly result: Result
}

/** An exchange that failed: when, and before which time no other one is tried, in epoch milliseconds. */
export interface Failure {
  readonly error: TokenError
  readonly at: number
  readonly retryAt: number
}

interface BackingOff {
  readonly _tag: "BackingOff"
  /** Failed exchanges in a row. */
  readonly failures: number
  /** Of the last one. */
  readonly cause: Cause.Cause<TokenError>
  readonly pause: Pause.Pause
}

type Resting = { readonly _tag: "Idle" } | BackingOff

interface InFlight<Result> {
  readonly _tag: "InFlight"
  readonly flight: Flight<Result>
  /** The token that a waiting request had rejected: it must not outlive the flight. */
  readonly rejected: Option.Option<AccessToken.AccessToken>
  readonly before: Resting
}

/** Everything that is known of the life of tokens beside the token itself, which is in the TokenStore. */
export interface State<Result> {
  readonly exchange: Resting | InFlight<Result>
  /** After an exchange that brought nothing better than the stale token: no refresh before this is over. */
  readonly refreshHold: Pause.Pause | undefined
  readonly renewals: Renewals.Renewals
  readonly lastFailure: Option.Option<Failure>
}

export type Decision<Result> =
  /** Wait for the flight that is under way. */
  | { readonly _tag: "Join"; readonly flight: Flight<Result> }
  /** Start this flight, and wait for it. */
  | { readonly _tag: "Start"; readonly flight: Flight<Result> }
  /** The last exchange failed a moment ago: its failure is the answer. */
  | { readonly _tag: "Fail"; readonly cause: Cause.Cause<TokenError> }
  /** Renewals did not help a moment ago. */
  | { readonly _tag: "CoolDown" }
  /** A refresh brought nothing better a moment ago. */
  | { readonly _tag: "Hold" }

/** The part of the window to wait after a refresh that brought nothing better. */
const unchangedFraction = 0.1

const idle: Resting = { _tag: "Idle" }

export const initial: State<never> = {
  exchange: idle,
  refreshHold: undefined,
  renewals: Renewals.initial,
  lastFailure: Option.none()
}

const start = <Result>(state: State<Result>, before: Resting, flight: Flight<Result>): State<Result> => ({
  ...state,
  exchange: {
    _tag: "InFlight",
    flight,
    rejected: flight.reason === "rejection" ? flight.replacing : Option.none(),
    before
  }
})

/** Someone wants a token that is not at hand. */
export const request = <Result>(
  state: State<Result>,
  wanted: ExchangeRequest,
  makeResult: () => Result,
  now: Moment
): readonly [Decision<Result>, State<Result>] => {
  const { exchange } = state
  if (exchange._tag === "InFlight") return [{ _tag: "Join", flight: exchange.flight }, state]
  if (exchange._tag === "BackingOff" && Pause.isRunning(exchange.pause, now)) {
    return [{ _tag: "Fail", cause: exchange.cause }, state]
  }
  if (wanted.reason === "refresh" && Pause.isRunning(state.refreshHold, now)) return [{ _tag: "Hold" }, state]
  const flight = { ...wanted, result: makeResult() }
  return [{ _tag: "Start", flight }, start(state, exchange, flight)]
}

/** The service rejected the token: counted once, whatever follows. */
export const reject = <Result>(state: State<Result>, token: AccessToken.AccessToken): State<Result> => ({
  ...state,
  renewals: Renewals.rejected(state.renewals, token)
})

/** Someone whose token was rejected, and is still the current one, wants another. */
export const renew = <Result>(
  state: State<Result>,
  rejected: AccessToken.AccessToken,
  mustExchange: boolean,
  makeResult: () => Result,
  now: Moment
): readonly [Decision<Result>, State<Result>] => {
  const { exchange } = state
  const replacing = Option.some(rejected)
  if (exchange._tag === "InFlight") {
    return [{ _tag: "Join", flight: exchange.flight }, { ...state, exchange: { ...exchange, rejected: replacing } }]
  }
  if (exchange._tag === "BackingOff" && Pause.isRunning(exchange.pause, now)) {
    return [{ _tag: "Fail", cause: exchange.cause }, state]
  }
  const [isAllowed, renewals] = Renewals.mayRenew(state.renewals, now)
  return isAllowed
    ? request({ ...state, renewals }, { reason: "rejection", replacing, mustExchange }, makeResult, now)
    : [{ _tag: "CoolDown" }, { ...state, renewals }]
}

/** The token that a request had rejected while the flight was under way, or that the flight replaces for that reason. */
export const rejectedInFlight = <Result>({ exchange }: State<Result>): Option.Option<AccessToken.AccessToken> =>
  exchange._tag === "InFlight" ? exchange.rejected : Option.none()

/** The store held another usable token when the flight began: nothing was exchanged. */
export const reused = <Result>(state: State<Result>): State<Result> => ({
  ...state,
  exchange: state.exchange._tag === "InFlight" ? state.exchange.before : state.exchange
})

export const isUnchanged = ({ replacing }: ExchangeRequest, token: AccessToken.AccessToken): boolean =>
  Option.exists(replacing, (replaced) => AccessToken.isSame(replaced, token))

/**
 * Which token stays: the new one, or the current one where that one ends later. After a rejection the new one does. The same
 * token with a later end keeps the time at which it was first received, since its window is a part of its whole life.
 */
export const tokenThatStays = <Result>(
  state: State<Result>,
  flight: ExchangeRequest,
  token: AccessToken.AccessToken,
  current: Option.Option<AccessToken.AccessToken>,
  policy: RefreshPolicy.CheckedPolicy,
  now: number
): AccessToken.AccessToken =>
  Option.match(current, {
    onNone: () => token,
    onSome: (current) =>
      Option.isSome(rejectedInFlight(state)) || current.receivedAt > now ||
        AccessToken.stateAt(current, now, policy) === "expired"
        ? token
        : current.expiresAt >= token.expiresAt
        ? current
        : isUnchanged(flight, token)
        ? new AccessToken.AccessToken({ ...token, receivedAt: current.receivedAt })
        : token
  })

/** The exchange brought a token, and `stored` is the current one now. */
export const issued = <Result>(
  state: State<Result>,
  flight: ExchangeRequest,
  token: AccessToken.AccessToken,
  stored: AccessToken.AccessToken,
  policy: RefreshPolicy.CheckedPolicy,
  now: Moment
): State<Result> => ({
  ...state,
  exchange: idle,
  refreshHold: AccessToken.stateAt(stored, now.wall, policy) === "fresh"
    ? undefined
    : Pause.start(now, RefreshPolicy.windowOf(policy, stored) * unchangedFraction),
  renewals: flight.reason === "rejection" && isUnchanged(flight, token)
    ? Renewals.noNewToken(state.renewals, policy, now)
    : state.renewals
})

const retryAfterOf = (error: Option.Option<TokenError>): number | undefined =>
  Option.match(error, {
    onNone: () => undefined,
    onSome: (error) => error._tag === "ServerError" || error._tag === "TooManyRequests" ? error.retryAfter : undefined
  })

/** The exchange failed; `random` is between 0 and 1. Also tells when the next one may be tried, in epoch milliseconds. */
export const failed = <Result>(
  state: State<Result>,
  { reason }: ExchangeRequest,
  cause: Cause.Cause<TokenError>,
  random: number,
  policy: RefreshPolicy.CheckedPolicy,
  now: Moment
): readonly [number, State<Result>] => {
  const error = Cause.failureOption(cause)
  const before = state.exchange._tag === "InFlight" ? state.exchange.before : state.exchange
  const failures = (before._tag === "BackingOff" ? before.failures : 0) + 1
  const duration = RefreshPolicy.backoffAfter(policy, failures, random, retryAfterOf(error))
  const retryAt = Math.ceil(now.wall + duration)
  return [retryAt, {
    ...state,
    exchange: { _tag: "BackingOff", failures, cause, pause: Pause.start(now, duration) },
    renewals: reason === "rejection" ? Renewals.noNewToken(state.renewals, policy, now) : state.renewals,
    lastFailure: Option.match(error, {
      onNone: () => state.lastFailure,
      onSome: (error) => Option.some({ error, at: now.wall, retryAt })
    })
  }]
}

/** Milliseconds in which no refresh would start an exchange. */
export const refreshDelay = <Result>({ exchange, refreshHold }: State<Result>, now: Moment): number =>
  Math.max(
    Pause.remaining(exchange._tag === "BackingOff" ? exchange.pause : undefined, now),
    Pause.remaining(refreshHold, now)
  )
