import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Tracer from "effect/Tracer"
import * as AccessToken from "../../AccessToken.js"
import { type TokenError, TransportError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type * as TokenIssuer from "../../TokenIssuer.js"
import type * as TokenStore from "../../TokenStore.js"
import { clockOf, type Moment, momentOf, monotonicOf, wallOf, withNow } from "../clock.js"
import { boundedBy, issueWithin, OwnDeadline, unusable } from "../exchange/issue.js"
import type * as Fork from "../fork.js"
import * as Metrics from "../metrics.js"
import type * as ExchangeLog from "./exchangeLog.js"
import * as State from "./state.js"

type Token = AccessToken.AccessToken

/** Where all who want a flight's token wait, and the span of its exchange, once it has begun. */
class Result {
  readonly token = Deferred.unsafeMake<Token, TokenError>(FiberId.none)
  span: Tracer.Span | undefined
  /** Until when the flight waits for parts that users bring, in milliseconds of the monotonic clock. */
  deadline = 0
}

type Flight = State.Flight<Result>

type Decision = State.Decision<Result>

export interface Parts {
  readonly policy: RefreshPolicy.CheckedPolicy
  /** In milliseconds. */
  readonly tokenTimeout: number
  readonly issuer: TokenIssuer.Service
  readonly store: TokenStore.Service
  /** Whether the store is in memory: it answers at once. */
  readonly isStoreInMemory: boolean
  readonly log: ExchangeLog.ExchangeLog
  readonly launch: Fork.Launch
}

/** One exchange serves many callers, so its span is a child of none of theirs. */
const spanOptions = { captureStackTrace: false, kind: "client", root: true } as const

const makeResult = () => new Result()

const aborted = Cause.fail(new TransportError({ operation: "token", reason: "Aborted" }))

/** The exchanges, one at a time, each in a fiber of its own, and what is known of the life of tokens between them. */
export class Exchanges {
  state: State.State<Result> = State.initial
  /** Whether the layer is closed, which interrupts the exchange that runs. */
  isClosed = false

  constructor(private readonly parts: Parts) {}

  request(wanted: TokenIssuer.ExchangeRequest): Effect.Effect<Decision> {
    return this.decide((state, now) => State.request(state, wanted, makeResult, now))
  }

  renew(rejected: Token, mustExchange: boolean): Effect.Effect<Decision> {
    return this.decide((state, now) => State.renew(state, rejected, mustExchange, makeResult, now))
  }

  wait(decision: Decision): Effect.Effect<Token, TokenError> {
    switch (decision._tag) {
      case "Join":
      case "Start": {
        const { result } = decision.flight
        return Effect.withFiberRuntime((fiber) => {
          const token = Deferred.await(result.token)
          return fiber.currentSpan === undefined ?
            token :
            Effect.ensuring(
              token,
              Effect.suspend(() => result.span === undefined ? Effect.void : Effect.linkSpanCurrent(result.span))
            )
        })
      }
      case "Fail":
        return Effect.failCause(decision.cause)
      case "CoolDown":
      case "Hold":
        return Effect.failCause(Cause.empty)
    }
  }

  /** Nothing comes between a decision and the state after it, and a flight that is started always lands. */
  private decide(
    transition: (state: State.State<Result>, now: Moment) => readonly [Decision, State.State<Result>]
  ): Effect.Effect<Decision> {
    return Effect.uninterruptible(Effect.withFiberRuntime((fiber) => {
      const [decision, state] = transition(this.state, momentOf(clockOf(fiber)))
      this.state = state
      const launched = decision._tag === "Start" ? this.parts.launch(this.fly(decision.flight)) : Effect.void
      return Effect.as(launched, decision)
    }))
  }

  private fly(flight: Flight): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      flight.result.deadline = momentOf(yield* Effect.clock).monotonic + this.parts.tokenTimeout
      const current = yield* this.within(flight, this.begin(flight))
      if (Option.isSome(current)) {
        this.state = State.reused(this.state)
        return current.value
      }
      return yield* this.land(flight, yield* this.issue(flight))
    }).pipe(
      Effect.catchAllCause((cause) => this.crash(flight, Cause.isInterrupted(cause) ? aborted : cause)),
      Effect.exit,
      Effect.flatMap((exit) => Deferred.done(flight.result.token, exit))
    )
  }

  /** Ends at the deadline of the flight. What comes from a part of the user's after that changes nothing. */
  private within<A, E>({ result }: Flight, effect: Effect.Effect<A, E>): Effect.Effect<A, E | TransportError> {
    return this.parts.isStoreInMemory
      ? effect
      : withNow(({ monotonic }) => boundedBy(result.deadline - monotonic)(effect))
  }

  /** Another usable token, if the store has got one meanwhile. Else the exchange begins, and a rejected token is gone. */
  private begin(flight: Flight) {
    return Effect.gen(this, function*() {
      const current = yield* this.reusable(flight)
      if (Option.isSome(current)) return current
      yield* Effect.annotateLogs(Effect.logDebug("An exchange begins"), { reason: flight.reason })
      if (flight.reason === "rejection") yield* this.invalidateRejected
      return current
    })
  }

  private reusable({ replacing }: Flight) {
    return withNow(({ wall }) =>
      Effect.map(
        this.parts.store.current,
        Option.filter((token) =>
          AccessToken.stateAt(token, wall, this.parts.policy) !== "expired" &&
          !Option.exists(replacing, (replaced) => AccessToken.isSame(replaced, token))
        )
      )
    )
  }

  private issue({ mustExchange, reason, replacing, result }: Flight): Effect.Effect<Token, TokenError> {
    const { issuer, policy } = this.parts
    return Effect.gen(function*() {
      const clock = yield* Effect.clock
      const begun = monotonicOf(clock)
      const token = yield* Effect.useSpan("TokenIssuer.issue", spanOptions, (span) => {
        result.span = span
        return issueWithin(issuer, result.deadline - begun, () => issuer.issue({ reason, replacing, mustExchange }))
          .pipe(
            Effect.tapErrorCause((cause) => Effect.annotateCurrentSpan("error.type", Metrics.causeOf(cause).outcome)),
            Effect.withParentSpan(span)
          )
      }).pipe(Effect.mapError(Cause.originalError))
      if (OwnDeadline.of(issuer) !== undefined) result.deadline += monotonicOf(clock) - begun
      return AccessToken.stateAt(token, wallOf(clock), policy) === "expired" ? yield* Effect.fail(unusable()) : token
    })
  }

  private readonly invalidateRejected = Effect.suspend(() =>
    Option.match(State.rejectedInFlight(this.state), {
      onNone: () => Effect.succeed(false),
      onSome: (rejected) => this.parts.store.invalidate(rejected)
    })
  )

  /** Puts the token that stays into the store. */
  private keep(flight: Flight, token: Token, now: Moment) {
    return Effect.gen(this, function*() {
      const { policy, store } = this.parts
      const current = yield* store.current
      const winner = State.tokenThatStays(this.state, flight, token, current, policy, now.wall)
      yield* store.put(winner)
      return { winner, stored: Option.getOrElse(yield* store.current, () => winner) }
    })
  }

  private land(flight: Flight, token: Token) {
    return Effect.gen(this, function*() {
      const now = momentOf(yield* Effect.clock)
      const { stored, winner } = yield* this.within(flight, this.keep(flight, token, now))
      this.state = State.issued(this.state, flight, token, stored, this.parts.policy, now)
      const isUnchanged = State.isUnchanged(flight, token)
      const isFromCache = token.origin === "cache"
      if (!isFromCache) yield* Metrics.exchanged(flight.reason, isUnchanged)
      yield* Metrics.tokenExpires(stored.expiresAt)
      yield* Effect.annotateLogs(
        Effect.logDebug(
          isFromCache
            ? "A peer's token was handed over"
            : isUnchanged
            ? "The exchange handed back the same token"
            : "The exchange brought a new token"
        ),
        { reason: flight.reason, expiresAt: token.expiresAt }
      )
      yield* this.parts.log.worked
      return winner
    })
  }

  /** Removes the rejected token. The flight waits for it while it has time left; then the removal goes on by itself. */
  private forget(flight: Flight): Effect.Effect<unknown> {
    return this.parts.isStoreInMemory
      ? this.invalidateRejected
      : Effect.forkDaemon(boundedBy(this.parts.tokenTimeout)(this.invalidateRejected)).pipe(
        Effect.flatMap((removal) => this.within(flight, Fiber.await(removal))),
        Effect.exit
      )
  }

  private crash(flight: Flight, cause: Cause.Cause<TokenError>) {
    return Effect.gen(this, function*() {
      const random = yield* Random.next
      const now = momentOf(yield* Effect.clock)
      const isServing = this.isServing(flight, now)
      yield* this.forget(flight)
      const [retryAt, state] = State.failed(this.state, flight, cause, random, this.parts.policy, now)
      this.state = state
      const error = Option.match(Cause.failureOption(cause), {
        onNone: () => "Defect" as const,
        onSome: ({ _tag }) => _tag
      })
      yield* Metrics.exchangeFailed(flight.reason, error)
      yield* Effect.annotateLogs(Effect.logDebug("The exchange failed"), {
        reason: flight.reason,
        retryAt,
        error
      })
      if (!this.isClosed) yield* this.parts.log.failed(cause, retryAt, isServing)
      return yield* Effect.failCause(cause)
    })
  }

  /** Whether the token that was to be refreshed still holds. */
  private isServing({ reason, replacing }: Flight, { wall }: Moment) {
    return reason === "refresh" && Option.isNone(State.rejectedInFlight(this.state)) &&
      Option.exists(replacing, (token) => AccessToken.stateAt(token, wall, this.parts.policy) !== "expired")
  }
}
