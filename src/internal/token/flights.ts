import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Tracer from "effect/Tracer"
import * as AccessToken from "../../AccessToken.js"
import { type TokenError, TransportError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type { ExchangeRequest } from "../../TokenIssuer.js"
import { ownError } from "../ownError.js"
import * as Exchange from "./exchange.js"
import * as Report from "./report.js"
import * as State from "./state.js"
import { withTimeout } from "./withTimeout.js"

/** One exchange for all who wait. */
export interface Flight {
  readonly request: ExchangeRequest
  readonly token: Deferred.Deferred<AccessToken.AccessToken, TokenError>
  span: Tracer.Span | undefined
}

interface Options extends Exchange.Options {
  /** How long one flight may take, in milliseconds. */
  readonly flightTimeout: number
  /** Forks in the context of the layer, until its scope ends. */
  readonly run: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
}

/** Whether callers have a token though the exchange failed. */
const isServing = ({ reason, replacing }: ExchangeRequest, policy: RefreshPolicy.CheckedPolicy, now: number) =>
  reason === "refresh" && Option.exists(replacing, (token) => AccessToken.stateAt(token, now, policy) !== "expired")

const aborted = Cause.fail(new TransportError({ operation: "token", reason: "Aborted" }))

/** What the flight ends in. It serves many, so its span has no parent, and is linked to the span of each who waits. */
const arrival = (flight: Flight): Effect.Effect<AccessToken.AccessToken, TokenError> =>
  Effect.ensuring(
    Deferred.await(flight.token),
    Effect.suspend(() => flight.span === undefined ? Effect.void : Effect.linkSpanCurrent(flight.span))
  )

/** What a decision comes to for one caller. */
export const outcomeOf = (decision: State.Decision<Flight>): Effect.Effect<AccessToken.AccessToken, TokenError> =>
  Effect.mapError(decision._tag === "Wait" ? arrival(decision.flight) : Effect.failCause(decision.cause), ownError)

/** The flights, one at a time, each in a fiber of the layer, and what is known between them. */
export const make = (options: Options) => {
  const { flightTimeout, policy, run } = options
  let state: State.State<Flight> = State.initial

  // State first, those who wait next, and then what others see.

  const succeed = ({ request, token }: Flight, exchanged: Exchange.Exchanged) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const failuresBefore = State.failuresOf(state)
      state = State.succeeded(state, exchanged.token, policy, now)
      Deferred.unsafeDone(token, Exit.succeed(exchanged.token))
      return Report.succeeded(request, exchanged, failuresBefore)
    })

  const fail = ({ request, token }: Flight, ending: Cause.Cause<TokenError>) =>
    Effect.flatMap(Effect.all([Clock.currentTimeMillis, Random.next]), ([now, random]) => {
      const isClosed = Cause.isInterruptedOnly(ending)
      const cause = isClosed ? aborted : ending
      const next = State.failed(state, cause, random, policy, now)
      state = next
      Deferred.unsafeDone(token, Exit.failCause(cause))
      const retryAt = next.backoff.until
      return Report.failed(request, { cause, retryAt, isClosed, isServing: isServing(request, policy, now) })
    })

  const running = (flight: Flight) =>
    Effect.uninterruptibleMask((restore) =>
      Exchange.exchange(options, flight.request, (span) => {
        flight.span = span
      }).pipe(
        withTimeout(flightTimeout),
        restore,
        Effect.matchCauseEffect({
          onFailure: (cause) => fail(flight, cause),
          onSuccess: (exchanged) => succeed(flight, exchanged)
        })
      )
    )

  /** A closed FiberSet runs nothing, and a logger may die: whoever waits hears of the end all the same. */
  const start = (flight: Flight) =>
    run(running(flight)).addObserver(() => Deferred.unsafeDone(flight.token, Exit.failCause(aborted)))

  const decide = <D extends State.Decision<Flight> | State.CoolingDown>(
    request: ExchangeRequest,
    transition: (flight: Flight, now: number) => readonly [D, State.State<Flight>]
  ): Effect.Effect<D> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const flight: Flight = { request, token: Deferred.unsafeMake(FiberId.none), span: undefined }
      const [decision, next] = transition(flight, now)
      state = next
      if (decision._tag === "Wait" && decision.flight === flight) start(flight)
      return decision
    })

  return {
    /** A token is missing or grows old. */
    ask: (request: ExchangeRequest) => decide(request, (flight, now) => State.ask(state, flight, now)),
    /** A token was rejected. */
    renew: (request: ExchangeRequest) => decide(request, (flight, now) => State.renew(state, flight, policy, now)),
    isRefreshHeld: (now: number): boolean => State.isRefreshHeld(state, now),
    lastFailure: Effect.sync(() => state.lastFailure)
  }
}

export type Flights = ReturnType<typeof make>
