import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Tracer from "effect/Tracer"
import type * as AccessToken from "../AccessToken.js"
import { Forbidden, type TokenError } from "../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../RefreshPolicy.js"
import type { Reason } from "../TokenIssuer.js"
import * as Pause from "./pause.js"
import * as Rejections from "./rejections.js"

/** One exchange for all who wait for it. */
export interface Flight {
  readonly reason: Reason
  readonly replacing: Option.Option<AccessToken.AccessToken>
  /** The token that a joined caller had rejected: it must not outlive the flight. */
  readonly rejected: Option.Option<AccessToken.AccessToken>
  readonly landing: Deferred.Deferred<AccessToken.AccessToken, TokenError>
  /** Of the exchange, once it has begun. */
  readonly span: Ref.Ref<Option.Option<Tracer.Span>>
}

/** Stands after an exchange that failed. */
interface Gate {
  readonly failures: number
  readonly cause: Cause.Cause<TokenError>
  readonly pause: Pause.Pause
}

/** What callers meet who want a token that is not at hand. */
export interface Traffic {
  readonly flight: Flight | undefined
  readonly gate: Gate | undefined
  /** Stands after a refresh that brought nothing better than the stale token. */
  readonly respite: Pause.Pause | undefined
  readonly rejections: Rejections.Rejections
}

export const none: Traffic = {
  flight: undefined,
  gate: undefined,
  rejections: Rejections.none,
  respite: undefined
}

export type Departure = Data.TaggedEnum<{
  Boarded: { readonly flight: Flight; readonly launched: boolean }
  Barred: { readonly cause: Cause.Cause<TokenError> }
}>

export const { $match: match, Barred, Boarded } = Data.taggedEnum<Departure>()

/** Why a caller wants one, and which tokens won't do. */
export interface Passage extends Pick<Flight, "reason" | "replacing" | "rejected"> {}

const begin = (passage: Passage): Flight => ({
  ...passage,
  landing: Deferred.unsafeMake(FiberId.none),
  span: Ref.unsafeMake(Option.none())
})

/** Joins the flight that is under way, launches one, or says why there is none; and the traffic after that. */
export const depart = (
  before: Traffic,
  passage: Passage,
  timing: RefreshPolicy.Timing,
  clock: Clock.Clock
): readonly [Departure, Traffic] => {
  const { flight: running, gate, respite } = before
  const { reason, rejected } = passage
  if (running !== undefined && rejected._tag === "None") {
    return [Boarded({ flight: running, launched: false }), before]
  }
  const rejections = Option.match(rejected, {
    onNone: () => before.rejections,
    onSome: (rejected) => Rejections.rejected(before.rejections, rejected)
  })
  const state = { ...before, rejections }
  if (running !== undefined) {
    const joined = { ...running, rejected }
    return [Boarded({ flight: joined, launched: false }), { ...state, flight: joined }]
  }
  if (gate !== undefined && Pause.stands(gate.pause, clock)) {
    return [Barred({ cause: gate.cause }), state]
  }
  if (reason === "refresh" && Pause.stands(respite, clock)) {
    return [Barred({ cause: Cause.empty }), state]
  }
  const [mayLaunch, after] = reason === "rejection"
    ? Rejections.mayRenew(rejections, timing, clock)
    : [true, rejections]
  if (!mayLaunch) return [Barred({ cause: Cause.fail(forbidden("CoolingDown")) }), { ...state, rejections: after }]
  const flight = begin(passage)
  return [Boarded({ flight, launched: true }), { ...state, flight, rejections: after }]
}

export const forbidden = (reason: "CoolingDown" | "TokenUnchanged") =>
  new Forbidden({ operation: "request", status: 403, reason })
