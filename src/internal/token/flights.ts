import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as AccessToken from "../../AccessToken.js"
import { type TokenError, TransportError } from "../../NutritionAdvisorError.js"
import type { ExchangeRequest } from "../../TokenIssuer.js"
import type { RunInBackground } from "../background.js"
import { type Moment, momentOf } from "../clock.js"
import { ownError } from "../ownError.js"
import * as Exchange from "./exchange.js"
import * as Report from "./report.js"
import * as State from "./state.js"
import { withTimeout, withTokenTimeout } from "./withTimeout.js"

/** One exchange for all callers who wait for it. */
export interface Flight extends Exchange.Progress {
  readonly request: ExchangeRequest
  readonly token: Deferred.Deferred<AccessToken.AccessToken, TokenError>
}

export interface Options extends Exchange.Options {
  /** How long one flight may take, in milliseconds. */
  readonly flightTimeout: number
  readonly run: RunInBackground
}

const interrupted = Cause.fail(new TransportError({ operation: "token", reason: "Aborted" }))

/** The result of the flight. It serves many callers, so its span has no parent, and is linked to the span of each of them. */
const arrival = (flight: Flight): Effect.Effect<AccessToken.AccessToken, TokenError> =>
  Effect.ensuring(
    Deferred.await(flight.token),
    Effect.suspend(() => flight.span === undefined ? Effect.void : Effect.linkSpanCurrent(flight.span))
  )

/** What a decision comes to for one caller. */
export const outcomeOf = (decision: State.Decision<Flight>): Effect.Effect<AccessToken.AccessToken, TokenError> =>
  Effect.mapError(decision._tag === "Wait" ? arrival(decision.flight) : Effect.failCause(decision.cause), ownError)

/** The token that callers go on using although the exchange failed. */
const servedAfterFailure = ({ request, withdrawn }: Flight, { policy }: Options, now: number): Report.Served => {
  const isUsable = (token: AccessToken.AccessToken) => AccessToken.stateAt(token, now, policy) !== "expired"
  if (withdrawn !== undefined) return isUsable(withdrawn) ? "rejected" : "none"
  return request.reason === "refresh" && Option.exists(request.replacing, isUsable) ? "current" : "none"
}

const makeFlight = (request: ExchangeRequest): Flight => ({
  request,
  token: Deferred.unsafeMake(FiberId.none),
  span: undefined,
  withdrawn: undefined
})

/** Changes nothing for a flight that has ended. One that was closed before its fiber ran completes nothing itself. */
const completeClosed = ({ token }: Flight) => Deferred.unsafeDone(token, Exit.failCause(State.closedCause))

/** The flights, one at a time, each in a fiber of the layer, and what is known between them. */
export const make = (options: Options) =>
  Effect.gen(function*() {
    const { flightTimeout, policy, run } = options
    let state: State.State<Flight> = State.initial

    // First the state, then the waiting callers, then what others see.

    const succeed = ({ request, token }: Flight, exchanged: Exchange.Exchanged) =>
      Effect.clockWith((clock) => {
        const failuresBefore = State.failuresOf(state)
        state = State.succeeded(state, exchanged.token, policy, momentOf(clock))
        Deferred.unsafeDone(token, Exit.succeed(exchanged.token))
        return Report.succeeded(request, exchanged, failuresBefore)
      })

    const fail = (flight: Flight, ending: Cause.Cause<TokenError>) =>
      Effect.gen(function*() {
        const now = momentOf(yield* Effect.clock)
        const cause = Cause.isInterruptedOnly(ending) ? interrupted : ending
        const next = State.failed(state, cause, yield* Random.next, policy, now)
        state = next
        if (next._tag === "Closed") return
        Deferred.unsafeDone(flight.token, Exit.failCause(cause))
        const retryAt = now.wall + next.until - now.monotonic
        yield* Report.failed(flight.request, { cause, retryAt, served: servedAfterFailure(flight, options, now.wall) })
      })

    const running = (flight: Flight) =>
      Effect.uninterruptibleMask((restore) => {
        const putBack = withTimeout(Exchange.putBack(options, flight), flightTimeout, () => "Timeout" as const)
        return Exchange.exchange(options, flight.request, flight).pipe(
          withTokenTimeout(flightTimeout),
          restore,
          Effect.matchCauseEffect({
            onFailure: (cause) => Effect.zipRight(Effect.ignore(restore(putBack)), fail(flight, cause)),
            onSuccess: (exchanged) => succeed(flight, exchanged)
          })
        )
      })

    const start = (flight: Flight) => run(running(flight)).addObserver(() => completeClosed(flight))

    const decide = <D extends State.Decision<Flight> | State.CoolingDown>(
      request: ExchangeRequest,
      transition: (flight: Flight, now: Moment) => readonly [D, State.State<Flight>]
    ): Effect.Effect<D> =>
      Effect.map(Effect.clock, (clock) => {
        const flight = makeFlight(request)
        const [decision, next] = transition(flight, momentOf(clock))
        state = next
        if (decision._tag === "Wait" && decision.flight === flight) start(flight)
        return decision
      })

    const close = Effect.sync(() => {
      if (state._tag === "InFlight") completeClosed(state.flight)
      state = State.close(state)
    })
    yield* Effect.addFinalizer(() => close)

    return {
      /** A token is missing or grows old. */
      ask: (request: ExchangeRequest) => decide(request, (flight, now) => State.ask(state, flight, now)),
      /** A token was rejected. */
      renew: (request: ExchangeRequest) => decide(request, (flight, now) => State.renew(state, flight, policy, now)),
      isRefreshHeld: Effect.map(Effect.clock, (clock) => State.isRefreshHeld(state, momentOf(clock))),
      lastFailure: Effect.sync(() => state.lastFailure)
    }
  })

export type Flights = Effect.Effect.Success<ReturnType<typeof make>>
