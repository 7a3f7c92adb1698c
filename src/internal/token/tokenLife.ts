import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as AccessToken from "../../AccessToken.js"
import { Forbidden, type TokenError, type TransportError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type * as TokenIssuer from "../../TokenIssuer.js"
import type * as TokenStore from "../../TokenStore.js"
import { clockOf, momentOf, wallOf, withNow } from "../clock.js"
import { boundedBy, unusable } from "../exchange/issue.js"
import * as Fork from "../fork.js"
import * as Metrics from "../metrics.js"
import { memoryPart } from "../store/memoryPart.js"
import * as ExchangeLog from "./exchangeLog.js"
import { Exchanges } from "./exchanges.js"
import { guarded } from "./guardedStore.js"
import { refreshLoop } from "./refreshLoop.js"
import * as Renewals from "./renewals.js"
import * as State from "./state.js"
import * as Usage from "./usage.js"

type Token = AccessToken.AccessToken

type TokenOutcome = "Accepted" | "AcceptedAfterRenewal" | "RejectedAgain"

/** The answer by which the service rejected a token: what the Forbidden says that a renewal can end in. */
export interface Rejection {
  readonly operation: "search" | "request"
  readonly status: number
  readonly body?: Redacted.Redacted<string>
  /** Whether the license key must be exchanged, since the tokens of a shared cache were rejected as well; false by default. */
  readonly mustExchange?: boolean
}

interface Parts {
  readonly policy: RefreshPolicy.CheckedPolicy
  readonly current: Effect.Effect<Option.Option<Token>, TransportError>
  /** The same without an effect, where the store is in memory. */
  readonly currentToken: (() => Option.Option<Token>) | undefined
  readonly usage: Usage.TokenUsage
  readonly exchanges: Exchanges
}

const forbidden = ({ mustExchange: _, ...rejection }: Rejection, reason: "CoolingDown" | "TokenUnchanged") =>
  Effect.fail(new Forbidden({ ...rejection, reason }))

/** What callers and the refresh loop do with the current token: they use it, have it replaced, and tell how it was received. */
class TokenLife {
  constructor(private readonly parts: Parts) {}

  /** A token that is not expired: the current one at once, else the one that all callers wait for together. */
  readonly get: Effect.Effect<Token, TokenError> = Effect.withFiberRuntime((fiber) => {
    const clock = clockOf(fiber)
    const fresh = this.freshToken(clock)
    return fresh === undefined
      ? Effect.flatMap(this.parts.current, (current) => this.serveOrExchange(current, wallOf(clock)))
      : Effect.succeed(fresh)
  })

  /** During a cool-down the rejected token stays the current one, and is sent. */
  isRejected(token: Token): boolean {
    const current = this.parts.currentToken?.()
    return current !== undefined && Renewals.rejectionsOf(this.parts.exchanges.state.renewals, token) > 1 &&
      !Option.exists(current, (now) => AccessToken.isSame(now, token))
  }

  freshToken(clock: Clock.Clock): Token | undefined {
    const current = this.parts.currentToken?.()
    if (current === undefined || current._tag === "None") return undefined
    const now = wallOf(clock)
    return AccessToken.stateAt(current.value, now, this.parts.policy) === "fresh"
      ? this.serve(current.value, "fresh", now)
      : undefined
  }

  /** Another token than the rejected one. */
  readonly renew = (rejected: Token, rejection: Rejection): Effect.Effect<Token, TokenError | Forbidden> =>
    Effect.suspend(() => {
      this.parts.exchanges.state = State.reject(this.parts.exchanges.state, rejected)
      return this.replace(rejected, rejection)
    })

  readonly settled = (token: Token, outcome: TokenOutcome): Effect.Effect<void> =>
    Effect.withFiberRuntime((fiber) => {
      const { renewals } = this.parts.exchanges.state
      const after = this.renewalsAfter(renewals, token, outcome, clockOf(fiber))
      if (after === renewals) return Effect.void
      this.parts.exchanges.state = { ...this.parts.exchanges.state, renewals: after }
      return outcome === "Accepted"
        ? Effect.void
        : Effect.logDebug(
          outcome === "RejectedAgain"
            ? "The renewed token was rejected too"
            : "The renewal helped"
        )
    })

  /** A store that does not answer in time has no token to show. */
  readonly status = withNow(({ wall }) =>
    Effect.map(Effect.catchAll(this.parts.current, () => Effect.succeedNone), (current) => ({
      state: Option.match(current, {
        onNone: () => "none" as const,
        onSome: (token) => AccessToken.stateAt(token, wall, this.parts.policy)
      }),
      expiresAt: Option.map(current, ({ expiresAt }) => expiresAt),
      lastFailure: this.parts.exchanges.state.lastFailure
    }))
  )

  /** Refreshes tokens before their expiry, until it is interrupted. */
  get refreshing(): Effect.Effect<void> {
    const { current, policy, usage } = this.parts
    return refreshLoop({
      policy,
      current,
      usage,
      refreshDelay: (now) => State.refreshDelay(this.parts.exchanges.state, now),
      refresh: (token) =>
        Effect.exit(Effect.flatMap(this.refresh(token), (decision) => this.parts.exchanges.wait(decision)))
    })
  }

  private renewalsAfter(renewals: Renewals.Renewals, token: Token, outcome: TokenOutcome, clock: Clock.Clock) {
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
    return this.parts.exchanges.request({ reason: "missing", replacing, mustExchange: false }).pipe(
      Effect.flatMap((decision) => this.parts.exchanges.wait(decision)),
      Effect.flatMap((token) =>
        withNow(({ wall }) => {
          const state = AccessToken.stateAt(token, wall, this.parts.policy)
          if (state !== "expired") return Effect.succeed(this.serve(token, state, wall))
          return attempts > 1 ? this.exchanged(Option.some(token), attempts - 1) : unusable()
        })
      )
    )
  }

  private refresh(token: Token) {
    return this.parts.exchanges.request({ reason: "refresh", replacing: Option.some(token), mustExchange: false })
  }

  private replace(rejected: Token, rejection: Rejection): Effect.Effect<Token, TokenError | Forbidden> {
    return Effect.gen(this, function*() {
      const current = yield* this.parts.current
      if (Option.exists(current, (token) => !AccessToken.isSame(token, rejected))) return yield* this.get
      yield* Effect.logDebug("The token was rejected")
      const decision = yield* this.parts.exchanges.renew(rejected, rejection.mustExchange ?? false)
      if (decision._tag === "CoolDown") return yield* forbidden(rejection, "CoolingDown")
      const token = yield* this.parts.exchanges.wait(decision)
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
}

/** The life of the tokens of one issuer. Exchanges and the refresh loop end with the scope. */
export const make = (
  policy: RefreshPolicy.CheckedPolicy,
  tokenTimeout: number,
  issuer: TokenIssuer.Service,
  given: TokenStore.Service
): Effect.Effect<TokenLife, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const launch = yield* Fork.launchIn(scope)
    const usage = yield* Usage.make
    const inMemory = memoryPart<TokenStore.Service>().of(given)?.storeOf(issuer)
    const store = inMemory ?? guarded(given)
    const exchanges = new Exchanges({
      policy,
      tokenTimeout,
      issuer,
      store,
      isStoreInMemory: inMemory !== undefined,
      log: yield* ExchangeLog.make,
      launch
    })
    const life = new TokenLife({
      policy,
      current: inMemory?.current ?? boundedBy(tokenTimeout)(store.current),
      currentToken: memoryPart<TokenStore.Service>().of(store)?.current,
      usage,
      exchanges
    })
    yield* Effect.addFinalizer((exit) => {
      exchanges.isClosed = true
      return Scope.close(scope, exit)
    })
    if (policy.background) yield* launch(Effect.interruptible(life.refreshing))
    return life
  })
