import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as AccessToken from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type { Service, TokenStatus } from "../../TokenProvider.js"
import { longestPause, pauseOf, untilNextCheck } from "./delays.js"
import * as Flights from "./flights.js"
import * as Metrics from "./metrics.js"
import { pointlessRenewal } from "./state.js"

type Token = AccessToken.AccessToken

interface Tokens {
  readonly policy: RefreshPolicy.CheckedPolicy
  /** Reads the token from the store. */
  readonly current: Effect.Effect<Option.Option<Token>, TokenError>
  readonly flights: Flights.Flights
}

const refresh = ({ flights }: Tokens, token: Token): Effect.Effect<void> =>
  Effect.flatMap(
    flights.isRefreshHeld,
    (isHeld) => isHeld ? Effect.void : flights.ask({ reason: "refresh", replacing: Option.some(token) })
  )

/** If the store fails or times out, it counts as empty here. Callers that need a token get the error from `get`. */
const currentOrNone = ({ current }: Tokens) => Effect.catchAllCause(current, () => Effect.succeedNone)

/** The background refresh ignores tokens with a shorter lifetime, in milliseconds: only calls refresh them. */
const shortestScheduledLife = 20_000

const isScheduled = ({ expiresAt, receivedAt }: Token) => expiresAt - receivedAt >= shortestScheduledLife

/** Refreshes the token if it is no longer fresh, and returns the longest time until the next check, in milliseconds. */
const refreshIfStale = (tokens: Tokens): Effect.Effect<number> =>
  Effect.clockWith((clock) =>
    Effect.flatMap(currentOrNone(tokens), (current) => {
      const token = Option.getOrUndefined(current)
      if (token === undefined || !isScheduled(token)) return Effect.succeed(longestPause)
      const pause = pauseOf(tokens.policy, token)
      const state = AccessToken.stateAt(token, clock.unsafeCurrentTimeMillis(), tokens.policy)
      return state === "fresh" ? Effect.succeed(pause) : Effect.as(refresh(tokens, token), pause)
    })
  )

/** Checks the token repeatedly, at the times of the Schedule in `delays`. */
const refreshing = (tokens: Tokens): Effect.Effect<never> =>
  Effect.forever(Effect.flatMap(refreshIfStale(tokens), untilNextCheck))

/** Returns a usable token in spite of a failed exchange. After a failed renewal, the rejected token is back in the store. */
const orCurrent = (tokens: Tokens, cause: Cause.Cause<TokenError>): Effect.Effect<Token, TokenError> =>
  Effect.flatMap(Effect.all([currentOrNone(tokens), Clock.currentTimeMillis]), ([current, now]) =>
    Option.match(
      Option.filter(current, (token) => AccessToken.isUsable(token, now, tokens.policy)),
      { onNone: () => Effect.failCause(cause), onSome: Effect.succeed }
    ))

/** Waits for a new token together with all other callers. */
const acquire = (tokens: Tokens, replacing: Option.Option<Token>): Effect.Effect<Token, TokenError> =>
  Effect.flatMap(tokens.flights.ask({ reason: "missing", replacing }), Flights.awaitDecision).pipe(
    Effect.catchAllCause((cause) => Cause.isInterruptedOnly(cause) ? Effect.failCause(cause) : orCurrent(tokens, cause))
  )

const serveOrAcquire = (tokens: Tokens, current: Option.Option<Token>, now: number) => {
  if (Option.isNone(current)) return acquire(tokens, current)
  const token = current.value
  switch (AccessToken.stateAt(token, now, tokens.policy)) {
    case "fresh":
      return Effect.succeed(token)
    case "stale":
      return Effect.as(refresh(tokens, token), token)
    case "expired":
      return acquire(tokens, current)
  }
}

const getFrom = (tokens: Tokens): Service["get"] =>
  Effect.clockWith((clock) =>
    Effect.flatMap(tokens.current, (current) => serveOrAcquire(tokens, current, clock.unsafeCurrentTimeMillis()))
  )

const renewFrom = (tokens: Tokens, get: Service["get"]) => {
  const { current, flights } = tokens
  const renew: Service["renew"] = (rejected) =>
    Effect.gen(function*() {
      const isOther = (token: Token) => !AccessToken.isSame(token, rejected)
      if (Option.exists(yield* current, isOther)) return yield* get
      const decision = yield* flights.ask({ reason: "rejection", replacing: Option.some(rejected) })
      const token = yield* Flights.awaitDecision(decision)
      if (isOther(token)) return token
      const isRenewal = decision._tag === "Wait" && decision.flight.request.reason === "rejection"
      return yield* isRenewal ? pointlessRenewal("TokenUnchanged") : renew(rejected)
    })
  return renew
}

const statusFrom = (tokens: Tokens): Effect.Effect<TokenStatus> =>
  Effect.gen(function*() {
    const { flights, policy } = tokens
    const current = yield* currentOrNone(tokens)
    const now = yield* Clock.currentTimeMillis
    return {
      state: Option.match(current, {
        onNone: () => "none",
        onSome: (token) => AccessToken.stateAt(token, now, policy)
      }),
      expiresAt: Option.map(current, ({ expiresAt }) => expiresAt),
      lastFailure: yield* flights.lastFailure
    }
  })

interface Options extends Flights.Options {
  /** Reads the token from the store. This must end in time, so it needs a timeout if the store may hang. */
  readonly current: Tokens["current"]
}

/** Creates the TokenProvider. Flights and the background refresh stop when the scope is closed. */
export const make = (options: Options): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { current, policy, run } = options
    Metrics.start()
    const tokens: Tokens = { policy, current, flights: yield* Flights.make(options) }
    let startsSchedule = policy.background
    /** Starts the background refresh when a caller gets the first token. */
    const served = Effect.map((token: Token) => {
      if (startsSchedule) {
        startsSchedule = false
        run(refreshing(tokens))
      }
      return token
    })
    const get = served(getFrom(tokens))
    const renew = renewFrom(tokens, get)
    return { get, renew: (rejected) => served(renew(rejected)), status: statusFrom(tokens) }
  })
