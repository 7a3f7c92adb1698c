import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as AccessToken from "../../AccessToken.js"
import { Forbidden, type TokenError } from "../../NutritionAdvisorError.js"
import * as RefreshPolicy from "../../RefreshPolicy.js"
import { TokenIssuer } from "../../TokenIssuer.js"
import type { Service, TokenStatus } from "../../TokenProvider.js"
import { TokenStore } from "../../TokenStore.js"
import * as Flights from "./flights.js"
import { withTimeout } from "./withTimeout.js"

type Token = AccessToken.AccessToken

interface Parts {
  readonly policy: RefreshPolicy.CheckedPolicy
  /** The token in the store. */
  readonly current: Effect.Effect<Option.Option<Token>, TokenError>
  readonly flights: Flights.Flights
}

const refresh = ({ flights }: Parts, token: Token): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    flights.isRefreshHeld(now)
      ? Effect.void
      : flights.ask({ reason: "refresh", replacing: Option.some(token), mustExchange: false }))

/** For those who can do without a token: a store that fails, or does not answer in time, has none. Callers hear of it. */
const currentOf = ({ current }: Parts) => Effect.catchAllCause(current, () => Effect.succeedNone)

/** Shorter lives, in milliseconds, are left to callers. */
const shortestScheduledLife = 20_000

const isScheduled = ({ expiresAt, receivedAt }: Token) => expiresAt - receivedAt >= shortestScheduledLife

/** Looks, as often as its token is worth, and refreshes a token that is not fresh. */
const looking = (parts: Parts): Effect.Effect<unknown> =>
  Effect.gen(function*() {
    const token = Option.getOrUndefined(yield* currentOf(parts))
    if (token === undefined || !isScheduled(token)) return RefreshPolicy.longestPause
    const state = AccessToken.stateAt(token, yield* Clock.currentTimeMillis, parts.policy)
    if (state !== "fresh") yield* refresh(parts, token)
    return RefreshPolicy.pauseOf(parts.policy, token)
  }).pipe(Effect.repeat(RefreshPolicy.looks))

/** A new token, which all who ask meanwhile wait for. */
const acquire = ({ flights }: Parts, replacing: Option.Option<Token>): Effect.Effect<Token, TokenError> =>
  Effect.flatMap(flights.ask({ reason: "missing", replacing, mustExchange: false }), Flights.outcomeOf)

const serveOrAcquire = (parts: Parts, current: Option.Option<Token>, now: number) => {
  if (Option.isNone(current)) return acquire(parts, current)
  const token = current.value
  switch (AccessToken.stateAt(token, now, parts.policy)) {
    case "fresh":
      return Effect.succeed(token)
    case "stale":
      return Effect.as(refresh(parts, token), token)
    case "expired":
      return acquire(parts, current)
  }
}

const getFrom = (parts: Parts): Service["get"] =>
  Effect.clockWith((clock) =>
    Effect.flatMap(parts.current, (current) => serveOrAcquire(parts, current, clock.unsafeCurrentTimeMillis()))
  )

const renewFrom = (parts: Parts, get: Service["get"]) => {
  const { current, flights } = parts
  const renew: Service["renew"] = (rejected, rejection = { operation: "request", status: 403 }) =>
    Effect.gen(function*() {
      const { mustExchange = false, ...fields } = rejection
      const isOther = (token: Token) => !AccessToken.isSame(token, rejected)
      if (Option.exists(yield* current, isOther)) return yield* get
      const decision = yield* flights.renew({ reason: "rejection", replacing: Option.some(rejected), mustExchange })
      if (decision._tag === "CoolingDown") return yield* new Forbidden({ ...fields, reason: "CoolingDown" })
      const token = yield* Flights.outcomeOf(decision)
      if (isOther(token)) return token
      const isRenewal = decision._tag === "Wait" && decision.flight.request.reason === "rejection"
      return yield* isRenewal ? new Forbidden({ ...fields, reason: "TokenUnchanged" }) : renew(rejected, rejection)
    })
  return renew
}

const statusFrom = (parts: Parts): Effect.Effect<TokenStatus> =>
  Effect.gen(function*() {
    const { flights, policy } = parts
    const current = yield* currentOf(parts)
    const now = yield* Clock.currentTimeMillis
    return {
      state: Option.match(current, {
        onNone: () => "none" as const,
        onSome: (token) => AccessToken.stateAt(token, now, policy)
      }),
      expiresAt: Option.map(current, ({ expiresAt }) => expiresAt),
      lastFailure: yield* flights.lastFailure
    }
  })

interface Options {
  readonly policy: RefreshPolicy.CheckedPolicy
  /** How long the issuer may take, in milliseconds. */
  readonly flightTimeout: number
  readonly storeIsPrompt: boolean
}

/**
 * The life of the tokens of one issuer. Flights and the Schedule run in the context of this, and end with its scope. A store that is
 * not known to answer at once is read within `flightTimeout`, which costs two fibers each time.
 */
export const make = (
  { flightTimeout, policy, storeIsPrompt }: Options
): Effect.Effect<Service, never, TokenIssuer | TokenStore | Scope.Scope> =>
  Effect.gen(function*() {
    const issuer = yield* TokenIssuer
    const store = yield* TokenStore
    const fork = yield* FiberSet.makeRuntime<never>()
    /** Closing waits for it, also where this is made inside `acquireRelease`, where nothing can be interrupted. */
    const run = (effect: Effect.Effect<void>) => fork(Effect.interruptible(effect))
    let startsSchedule = policy.background
    const parts: Parts = {
      policy,
      current: storeIsPrompt ? store.current : withTimeout(flightTimeout)(store.current),
      flights: Flights.make({ policy, flightTimeout, issuer, store, run })
    }
    /** The first token that a caller gets starts the Schedule. */
    const served = Effect.map((token: Token) => {
      if (startsSchedule) {
        startsSchedule = false
        run(looking(parts))
      }
      return token
    })
    const get = served(getFrom(parts))
    const renew = renewFrom(parts, get)
    return { get, renew: (rejected, rejection) => served(renew(rejected, rejection)), status: statusFrom(parts) }
  })
