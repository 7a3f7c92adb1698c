import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import { type AccessToken, isUsable } from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type { ExchangeRequest } from "../../TokenIssuer.js"
import { copyOfError } from "../errors/copyOfError.js"
import { abortedError } from "../errors/transportErrors.js"
import type { RunInBackground } from "../runtime/background.js"
import { momentOf } from "../runtime/clock.js"
import { onClose } from "../runtime/onClose.js"
import { withTimeout } from "../runtime/withTimeout.js"
import type { WithTimeout } from "./exchangeTimeout.js"
import * as Replace from "./replaceToken.js"
import * as Report from "./report.js"
import * as State from "./state.js"

/** An exchange, shared by all callers that wait for it. */
interface Flight extends Replace.Exchange {
  readonly result: Deferred.Deferred<AccessToken, TokenError>
}

export interface Options extends Replace.Options {
  readonly withFlightTimeout: WithTimeout
}

/** How long callers wait until the rejected token is back in the store, in milliseconds. */
const maxPutBackWait = 1_000

const interrupted = Cause.fail(abortedError("token"))

/** Waits for the token of a flight. A flight may have many callers, so its span has no parent. The span of each caller links to it. */
const awaitFlight = (flight: Flight) =>
  Deferred.await(flight.result).pipe(
    Effect.ensuring(Effect.suspend(() => flight.span ? Effect.linkSpanCurrent(flight.span) : Effect.void)),
    Effect.map((token) => ({ token, reason: flight.request.reason }))
  )

/** Whether callers still get a token after a failed exchange: the current one, or the rejected one, which is put back into the store. */
const hasUsableToken = ({ request }: Flight, policy: RefreshPolicy.CheckedPolicy, now: number): boolean =>
  Option.exists(request.replacing, (token) => isUsable(token, now, policy))

/**
 * Runs one flight at a time, each in a fiber of the layer, and keeps the state between them. `onToken` gets the token of each flight, even if
 * no caller waits for it any more.
 */
export const make = (options: Options, run: RunInBackground, onToken: (token: AccessToken) => void) =>
  Effect.gen(function*() {
    const { policy, store, withFlightTimeout } = options
    const clock = yield* Effect.clock
    let state: State.State<Flight> = State.initial(policy)

    const now = () => momentOf(clock)

    // The order matters: first the state, then the waiting callers, then metrics and logs.

    const succeed = ({ request, result }: Flight, replacement: Replace.Replacement) =>
      Effect.suspend(() => {
        const failuresBefore = state.failures
        state = State.succeeded(state, replacement.token, now())
        Deferred.unsafeDone(result, Exit.succeed(replacement.token))
        onToken(replacement.token)
        return Report.recordSuccess(request, replacement, failuresBefore)
      })

    const fail = (flight: Flight, exitCause: Cause.Cause<TokenError>) =>
      Effect.gen(function*() {
        const failedAt = now()
        const cause = Cause.isInterruptedOnly(exitCause) ? interrupted : exitCause
        const random = yield* Random.next
        state = State.failed(state, cause, random, failedAt)
        // There is no backoff if the client was closed in the meantime. `close` has then already failed the flight.
        if (state.phase._tag !== "BackingOff") return
        Deferred.unsafeDone(flight.result, Exit.failCause(cause))
        const hasToken = hasUsableToken(flight, policy, failedAt.wall)
        yield* Report.recordFailure(flight.request, { cause, retryAt: state.phase.until.wall, hasToken })
      })

    const runFlight = (flight: Flight) =>
      Effect.uninterruptibleMask((restore) => {
        const putBackWithTimeout = withTimeout(Replace.putBack(store, flight), maxPutBackWait, () => "Timeout" as const)
        return Replace.replaceToken(options, flight).pipe(
          // An issuer in JavaScript can fail with a value that has no properties, such as undefined.
          Effect.catchIf(Predicate.not(Predicate.isObject), Effect.die),
          withFlightTimeout,
          restore,
          Effect.matchCauseEffect({
            onFailure: (cause) => Effect.zipRight(Effect.exit(restore(putBackWithTimeout)), fail(flight, cause)),
            onSuccess: (replacement) => succeed(flight, replacement)
          })
        )
      })

    /** Joins the pending flight, or starts one. Fails if none may start. */
    const join = (request: ExchangeRequest): Effect.Effect<Flight, TokenError> =>
      Effect.suspend(() => {
        if (state.phase._tag === "InFlight") return Effect.succeed(state.phase.flight)
        const startedAt = now()
        const refusal = State.refusalOf(state, request.reason, startedAt)
        if (refusal !== undefined) return Effect.failCause(refusal)
        const flight: Flight = { request, result: Deferred.unsafeMake(FiberId.none) }
        state = State.started(state, flight, request.reason, startedAt)
        run(runFlight(flight))
        return Effect.succeed(flight)
      })

    const close = Effect.sync(() => {
      const { phase } = state
      state = State.closed(state)
      if (phase._tag === "InFlight") Deferred.unsafeDone(phase.flight.result, Exit.failCause(State.clientClosed))
    })
    yield* onClose(close)

    return {
      /** Starts a flight, unless one is pending or none may start. Doesn't wait for it. */
      start: (request: ExchangeRequest): Effect.Effect<void> => Effect.asVoid(Effect.exit(join(request))),
      /**
       * Waits for the token of the pending flight or of a new one. Also returns the reason of that flight. Each caller gets its own copy
       * of an error.
       */
      awaitToken: (request: ExchangeRequest) =>
        Effect.mapError(Effect.flatMap(join(request), awaitFlight), copyOfError),
      lastFailure: Effect.sync(() => state.lastFailure)
    }
  })

export type Flights = Effect.Effect.Success<ReturnType<typeof make>>
