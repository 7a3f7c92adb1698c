import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import * as AccessToken from "../../AccessToken.js"
import { errors, Forbidden, type TokenError, TransportError, UnexpectedResponse } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type * as TokenIssuer from "../../TokenIssuer.js"
import type * as TokenStore from "../../TokenStore.js"
import { clockOf, type Moment, momentOf, wallOf, withNow } from "../clock.js"
import { ExchangeContext } from "../exchange/context.js"
import * as Fork from "../fork.js"
import * as Metrics from "../metrics.js"
import { memoryPart } from "../store/memoryPart.js"
import * as Health from "./health.js"
import { refreshLoop } from "./refreshLoop.js"
import * as Renewals from "./renewals.js"
import * as State from "./state.js"
import * as Usage from "./usage.js"

type Token = AccessToken.AccessToken

type Outcome = "Accepted" | "AcceptedAfterRenewal" | "RejectedAgain"

/** The answer by which the service rejected a token: what the Forbidden says that a renewal can end in. */
export interface Rejection {
  readonly operation: "search" | "request"
  readonly status: number
  readonly body?: Redacted.Redacted<string>
  /** Whether the license key must be exchanged, since the tokens of a shared cache were rejected as well; false by default. */
  readonly mustExchange?: boolean
}

/** Where all who want a flight's token wait, and the span of its exchange, once it has begun. */
class Result {
  readonly token = Deferred.unsafeMake<Token, TokenError>(FiberId.none)
  span: Tracer.Span | undefined
}

type Flight = State.Flight<Result>

type Decision = State.Decision<Result>

interface Parts {
  readonly policy: RefreshPolicy.Timing
  readonly issuer: TokenIssuer.Service
  readonly store: TokenStore.Service
  readonly usage: Usage.TokenUsage
  readonly health: Health.Health
  readonly launch: Fork.Launch
}

const makeResult = () => new Result()

/** SERVICE.md section 4: the one success that the token routes have. */
const tokenStatus = 200

const tooShortLived = () => new UnexpectedResponse({ operation: "token", status: tokenStatus, reason: "Schema" })

/** An issuer without types may fail with anything, a secret included. */
const isTokenError = (error: TokenError) => errors.some((known) => error instanceof known)

const aborted = Cause.fail(new TransportError({ operation: "token", reason: "Aborted" }))

const forbidden = ({ mustExchange: _, ...rejection }: Rejection, reason: "CoolingDown" | "TokenUnchanged") =>
  Effect.fail(new Forbidden({ ...rejection, reason }))

/** The effects around the states of a token's life: the store, exchanges in fibers of their own, clocks, logs and metrics. */
class TokenEngine {
  private state: State.State<Result> = State.initial
  private served: { readonly token: Token; readonly effect: Effect.Effect<Token> } | undefined
  private readonly currentToken: (() => Option.Option<Token>) | undefined

  constructor(private readonly parts: Parts) {
    this.currentToken = memoryPart<TokenStore.Service>().of(parts.store)?.current
  }

  /** A token that is not expired: the current one at once, else the one that all callers wait for together. */
  readonly get: Effect.Effect<Token, TokenError> = Effect.withFiberRuntime((fiber) => {
    const clock = clockOf(fiber)
    const fresh = this.freshToken(clock)
    return fresh === undefined
      ? Effect.flatMap(this.parts.store.current, (current) => this.serveOrExchange(current, wallOf(clock)))
      : this.succeed(fresh)
  })

  freshToken(clock: Clock.Clock): Token | undefined {
    const current = this.currentToken?.()
    if (current === undefined || current._tag === "None") return undefined
    const now = wallOf(clock)
    return AccessToken.stateAt(current.value, now, this.parts.policy) === "fresh"
      ? this.serve(current.value, "fresh", now)
      : undefined
  }

  /** During a cool-down the rejected token stays the current one, and is sent. */
  isRejected(token: Token): boolean {
    if (this.currentToken === undefined || Renewals.rejectionsOf(this.state.renewals, token) < 2) return false
    return !Option.exists(this.currentToken(), (current) => AccessToken.isSame(current, token))
  }

  /** Another token than the rejected one. */
  readonly renew = (rejected: Token, rejection: Rejection): Effect.Effect<Token, TokenError | Forbidden> =>
    Effect.suspend(() => {
      this.state = State.reject(this.state, rejected)
      return this.replace(rejected, rejection)
    })

  readonly settled = (token: Token, outcome: Outcome): Effect.Effect<void> =>
    Effect.withFiberRuntime((fiber) => {
      const { renewals } = this.state
      const after = this.renewalsAfter(renewals, token, outcome, clockOf(fiber))
      if (after === renewals) return Effect.void
      this.state = { ...this.state, renewals: after }
      return outcome === "Accepted"
        ? Effect.void
        : Effect.logDebug(
          outcome === "RejectedAgain"
            ? "The renewed token was rejected too: renewals cool down"
            : "The renewal helped"
        )
    })

  readonly status = withNow(({ wall }) =>
    Effect.map(this.parts.store.current, (current) => ({
      state: Option.match(current, {
        onNone: () => "none" as const,
        onSome: (token) => AccessToken.stateAt(token, wall, this.parts.policy)
      }),
      expiresAt: Option.map(current, ({ expiresAt }) => expiresAt),
      lastFailure: this.state.lastFailure
    }))
  )

  /** Refreshes tokens before their expiry, until it is interrupted. */
  get refreshing(): Effect.Effect<void> {
    const { policy, store, usage } = this.parts
    return refreshLoop({
      policy,
      store,
      usage,
      refreshDelay: (now) => State.refreshDelay(this.state, now),
      refresh: (token) => Effect.exit(Effect.flatMap(this.refresh(token), (decision) => this.wait(decision)))
    })
  }

  private renewalsAfter(renewals: Renewals.Renewals, token: Token, outcome: Outcome, clock: Clock.Clock) {
    switch (outcome) {
      case "Accepted":
        return Renewals.accepted(renewals, token)
      case "AcceptedAfterRenewal":
        return Renewals.renewalHelped(renewals, token)
      case "RejectedAgain":
        return Renewals.newTokenRejected(renewals, token, this.parts.policy, momentOf(clock))
    }
  }

  private serve(token: Token, state: AccessToken.State, now: number): Token {
    this.parts.usage.record(token, now)
    Metrics.countServed(state)
    return token
  }

  /** One effect a token: the same one is given to nearly every caller. */
  private succeed(token: Token): Effect.Effect<Token> {
    if (this.served?.token !== token) this.served = { token, effect: Effect.succeed(token) }
    return this.served.effect
  }

  private serveOrExchange(current: Option.Option<Token>, now: number): Effect.Effect<Token, TokenError> {
    if (current._tag === "None") return this.exchanged(current)
    const state = AccessToken.stateAt(current.value, now, this.parts.policy)
    if (state === "expired") return this.exchanged(current)
    const token = this.serve(current.value, state, now)
    return state === "fresh" ? Effect.succeed(token) : Effect.as(this.refresh(token), token)
  }

  /** Waits for a token that is not expired once it is here, at most `attempts` times. */
  private exchanged(
    replacing: Option.Option<Token>,
    attempts = this.parts.policy.attempts
  ): Effect.Effect<Token, TokenError> {
    return this.request({ reason: "missing", replacing, mustExchange: false }).pipe(
      Effect.flatMap((decision) => this.wait(decision)),
      Effect.flatMap((token) =>
        withNow(({ wall }) => {
          const state = AccessToken.stateAt(token, wall, this.parts.policy)
          if (state !== "expired") return Effect.succeed(this.serve(token, state, wall))
          return attempts > 1 ? this.exchanged(Option.some(token), attempts - 1) : tooShortLived()
        })
      )
    )
  }

  private refresh(token: Token) {
    return this.request({ reason: "refresh", replacing: Option.some(token), mustExchange: false })
  }

  private replace(rejected: Token, rejection: Rejection): Effect.Effect<Token, TokenError | Forbidden> {
    return Effect.gen(this, function*() {
      const current = yield* this.parts.store.current
      if (Option.exists(current, (token) => !AccessToken.isSame(token, rejected))) return yield* this.get
      yield* Effect.logDebug("The token was rejected")
      const decision = yield* this.decide((state, now) =>
        State.renew(state, rejected, rejection.mustExchange ?? false, makeResult, this.parts.policy, now)
      )
      if (decision._tag === "CoolDown") return yield* forbidden(rejection, "CoolingDown")
      const token = yield* this.wait(decision)
      if (!AccessToken.isSame(token, rejected)) {
        return yield* withNow(({ wall }) =>
          Effect.succeed(this.serve(token, AccessToken.stateAt(token, wall, this.parts.policy), wall))
        )
      }
      const isOwnRenewal = "flight" in decision && decision.flight.reason === "rejection" &&
        State.isUnchanged(decision.flight, rejected)
      return yield* isOwnRenewal ? forbidden(rejection, "TokenUnchanged") : this.replace(rejected, rejection)
    })
  }

  private request(wanted: State.ExchangeRequest) {
    return this.decide((state, now) => State.request(state, wanted, makeResult, now))
  }

  /** Nothing comes between a decision and the state after it, and a flight that is started always lands. */
  private decide(
    transition: (state: State.State<Result>, now: Moment) => readonly [Decision, State.State<Result>]
  ): Effect.Effect<Decision> {
    return Effect.uninterruptible(Effect.withFiberRuntime((fiber) => {
      const [decision, state] = transition(this.state, momentOf(clockOf(fiber)))
      this.state = state
      return decision._tag === "Start"
        ? Effect.as(this.parts.launch(this.fly(decision.flight)), decision)
        : Effect.succeed(decision)
    }))
  }

  private wait(decision: Decision): Effect.Effect<Token, TokenError> {
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

  private fly(flight: Flight): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      const current = yield* this.reusable(flight)
      if (Option.isSome(current)) {
        this.state = State.reused(this.state)
        return current.value
      }
      yield* Effect.annotateLogs(Effect.logDebug("An exchange begins"), { reason: flight.reason })
      if (flight.reason === "rejection") yield* this.invalidateRejected
      const token = yield* this.issue(flight)
      return yield* this.land(flight, token)
    }).pipe(
      Effect.catchAllCause((cause) => this.crash(flight, Cause.isInterrupted(cause) ? aborted : cause)),
      Effect.exit,
      Effect.flatMap((exit) => Deferred.done(flight.result.token, exit))
    )
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

  private issue({ mustExchange, reason, replacing, result }: Flight) {
    return Effect.suspend(() => this.parts.issuer.issue(replacing, reason)).pipe(
      Effect.catchAll((error) =>
        isTokenError(error)
          ? Effect.fail(error)
          : Effect.dieMessage("The TokenIssuer failed with what is no TokenError.")
      ),
      Effect.provideService(ExchangeContext, {
        mustExchange,
        onSpan: (span) => {
          result.span = span
        }
      }),
      Fork.abandonable,
      Effect.flatMap((token) =>
        withNow(({ wall }) =>
          AccessToken.stateAt(token, wall, this.parts.policy) === "expired" ? tooShortLived() : Effect.succeed(token)
        )
      )
    )
  }

  private readonly invalidateRejected = Effect.suspend(() =>
    Option.match(State.rejectedInFlight(this.state), {
      onNone: () => Effect.void,
      onSome: (rejected) => this.parts.store.invalidate(rejected)
    })
  )

  private land(flight: Flight, token: Token) {
    return Effect.gen(this, function*() {
      const { policy, store } = this.parts
      const now = momentOf(yield* Effect.clock)
      const current = yield* store.current
      const winner = State.tokenThatStays(this.state, flight, token, current, policy, now.wall)
      yield* store.put(winner)
      const stored = Option.getOrElse(yield* store.current, () => winner)
      this.state = State.issued(this.state, flight, token, stored, policy, now)
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
      yield* this.parts.health.worked
      return winner
    })
  }

  private crash(flight: Flight, cause: Cause.Cause<TokenError>) {
    return Effect.gen(this, function*() {
      const random = yield* Random.next
      const now = momentOf(yield* Effect.clock)
      let retryAt = now.wall
      yield* Effect.ensuring(
        this.invalidateRejected,
        Effect.sync(() => {
          ;[retryAt, this.state] = State.failed(this.state, flight, cause, random, this.parts.policy, now)
        })
      )
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
      yield* this.warn(cause, retryAt)
      return yield* Effect.failCause(cause)
    })
  }

  /** Not where the scope is closed, which interrupts the exchange. */
  private warn(cause: Cause.Cause<TokenError>, retryAt: number) {
    return Effect.gen(this, function*() {
      if (!Cause.isEmpty(yield* FiberRef.get(FiberRef.interruptedCause))) return
      const { health, policy, store } = this.parts
      const { wall } = momentOf(yield* Effect.clock)
      const isUsable = (token: Token) => AccessToken.stateAt(token, wall, policy) !== "expired"
      yield* health.failed(cause, retryAt, Option.exists(yield* store.current, isUsable))
    })
  }
}

/** An engine whose flights and refresh loop end with the scope. */
export const make = (
  policy: RefreshPolicy.Timing,
  issuer: TokenIssuer.Service,
  store: TokenStore.Service
): Effect.Effect<TokenEngine, never, Scope.Scope> =>
  Effect.gen(function*() {
    const launch = yield* Fork.launchIn(yield* Scope.Scope)
    const usage = yield* Usage.make
    const own = memoryPart<TokenStore.Service>().of(store)?.storeOf(issuer) ?? store
    const engine = new TokenEngine({ policy, issuer, store: own, usage, health: yield* Health.make, launch })
    if (policy.background) yield* launch(Effect.interruptible(engine.refreshing))
    return engine
  })
