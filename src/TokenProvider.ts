/**
 * One usable token for all callers: single flight, a refresh schedule, and renewal after a rejection.
 *
 * @since 1.0.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import * as AccessToken from "./AccessToken.js"
import { ExchangeSpan } from "./internal/exchangeSpan.js"
import * as Flight from "./internal/flight.js"
import { HandedOver } from "./internal/handedOver.js"
import * as Pause from "./internal/pause.js"
import * as Refreshing from "./internal/refreshing.js"
import * as Rejections from "./internal/rejections.js"
import * as Telemetry from "./internal/telemetry.js"
import type { Forbidden } from "./NutritionAdvisorError.js"
import {
  type ConfigurationError,
  type TokenError,
  TransportError,
  UnexpectedResponse
} from "./NutritionAdvisorError.js"
import * as RefreshPolicy from "./RefreshPolicy.js"
import { TokenIssuer } from "./TokenIssuer.js"
import { TokenStore } from "./TokenStore.js"

/**
 * How a data request ended for the token it was sent with last.
 *
 * @since 1.0.0
 * @category models
 */
export type Outcome = "Accepted" | "AcceptedAfterRenewal" | "RejectedAgain"

/**
 * What a health page may show; it holds no secret.
 *
 * @since 1.0.0
 * @category models
 */
export interface TokenStatus {
  readonly state: "none" | AccessToken.State
  /** When the service stops to accept the token, in epoch milliseconds. */
  readonly expiresAt: Option.Option<number>
  /** The last exchange that failed, if any did. */
  readonly lastFailure: Option.Option<Failure>
}

/**
 * An exchange that failed: when, and before which time no other is tried, in epoch milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export interface Failure {
  readonly error: TokenError
  readonly at: number
  readonly retryAt: number
}

/**
 * How the token is used, replaced and watched; `get` and `renew` can end in any error of TokenError, the others can't fail.
 *
 * @example
 * ```ts
 * import { Effect, Option } from "effect"
 * import { TokenProvider } from "effect-nutrition-advisor"
 *
 * export const health = Effect.gen(function*() {
 *   const { expiresAt, lastFailure, state } = yield* Effect.flatMap(TokenProvider.TokenProvider, ({ status }) => status)
 *   return {
 *     state,
 *     expiresAt: Option.getOrNull(expiresAt),
 *     lastFailure: Option.getOrNull(Option.map(lastFailure, ({ error }) => error._tag))
 *   }
 * })
 * ```
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** A token that is not expired: the current one at once, else the one that all callers wait for together. */
  readonly get: Effect.Effect<AccessToken.AccessToken, TokenError>
  /**
   * The token that `get` would give where it is fresh, at once and without an effect; undefined where `get` has to look or to
   * wait. A provider need not have it: it is for the hot path of a search.
   */
  readonly unsafeGet?: ((clock: Clock.Clock) => AccessToken.AccessToken | undefined) | undefined
  /**
   * Whether a token was rejected more than once in a row and is no longer the current one, at once and without an effect. A
   * provider need not have it: it is for a search that waited for a connection, which is not sent with such a token.
   */
  readonly unsafeIsRejected?: ((token: AccessToken.AccessToken) => boolean) | undefined
  /** Another token than the rejected one: the current one if it is another, else the one of a joined or new exchange. */
  readonly renew: (
    rejected: AccessToken.AccessToken
  ) => Effect.Effect<AccessToken.AccessToken, TokenError | Forbidden>
  /** Tells how a data request ended for the token that it was sent with last. */
  readonly settled: (used: AccessToken.AccessToken, outcome: Outcome) => Effect.Effect<void>
  /** What is known of the token now, without an exchange. */
  readonly status: Effect.Effect<TokenStatus>
}

/**
 * The keeper of the token: however many callers, one exchange at a time.
 *
 * @since 1.0.0
 * @category tags
 */
export class TokenProvider extends Context.Tag("effect-nutrition-advisor/TokenProvider")<TokenProvider, Service>() {}

const clockOf = (fiber: Fiber.RuntimeFiber<unknown, unknown>) =>
  Context.unsafeGet(fiber.currentDefaultServices, Clock.Clock)

const tooShortLived = () => new UnexpectedResponse({ operation: "token", status: 200, reason: "Schema" })

const aborted = Cause.fail(new TransportError({ operation: "token", reason: "Aborted" }))

const retryAfterOf = (error: Option.Option<TokenError>): number | undefined =>
  Option.match(error, {
    onNone: () => undefined,
    onSome: (error) => error._tag === "ServerError" || error._tag === "TooManyRequests" ? error.retryAfter : undefined
  })

/**
 * A provider over the TokenIssuer and the TokenStore in the context; its flights and its Schedule end with the scope. Ends in
 * ConfigurationError where a number of the policy is wrong.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  policy?: Partial<RefreshPolicy.RefreshPolicy>
): Effect.Effect<Service, ConfigurationError, TokenIssuer | TokenStore | Scope.Scope> =>
  Effect.gen(function*() {
    const timing = yield* RefreshPolicy.make(policy)
    const issuer = yield* TokenIssuer
    const store = yield* TokenStore
    const scope = yield* Scope.Scope
    const state = yield* Ref.make(Flight.none)
    const lastFailure = yield* Ref.make(Option.none<Failure>())
    const use = yield* Refreshing.unused
    /** What was told last, unless a token was rejected since: told again it changes nothing, as on nearly every request. */
    let toldLast: { readonly token: AccessToken.AccessToken; readonly outcome: Outcome } | undefined
    /** How often in a row a token was rejected: once may be about that one request. */
    let rejectedInRow: { readonly token: AccessToken.AccessToken; readonly times: number } | undefined

    const serve = (token: AccessToken.AccessToken, tokenState: AccessToken.State, now: number) => {
      use.note(token, now)
      Telemetry.countServed(tokenState)
      return token
    }

    const isExpired = (token: AccessToken.AccessToken, now: number) =>
      AccessToken.stateAt(token, now, timing) === "expired"

    const landed = (flight: Flight.Flight, token: AccessToken.AccessToken, clock: Clock.Clock) =>
      Effect.gen(function*() {
        const now = clock.unsafeCurrentTimeMillis()
        const unchanged = Option.exists(flight.replacing, (replaced) => AccessToken.isSame(replaced, token))
        const rejected = (yield* Ref.get(state)).flight?.rejected ?? flight.rejected
        const winner = Option.match(yield* store.current, {
          onNone: () => token,
          onSome: (current) =>
            Option.isSome(rejected) || current.receivedAt > now || isExpired(current, now)
              ? token
              : current.expiresAt >= token.expiresAt
              ? current
              : unchanged
              ? new AccessToken.AccessToken({ ...token, receivedAt: current.receivedAt })
              : token
        })
        yield* store.put(winner)
        const stored = Option.getOrElse(yield* store.current, () => winner)
        yield* Ref.update(state, (state): Flight.Traffic => ({
          ...state,
          gate: undefined,
          respite: AccessToken.stateAt(stored, now, timing) === "fresh"
            ? undefined
            : Pause.start(clock, RefreshPolicy.windowOf(timing, stored) * timing.unchangedFraction),
          rejections: unchanged && flight.reason === "rejection"
            ? Rejections.cameToNothing(state.rejections, timing, clock)
            : state.rejections
        }))
        const isHandedOver = token instanceof HandedOver
        if (!isHandedOver) yield* Telemetry.exchanged(flight.reason, unchanged ? "unchanged" : "issued")
        yield* Metric.set(Telemetry.tokenExpiresIn, (token.expiresAt - now) / 1000)
        yield* Effect.annotateLogs(
          Effect.logDebug(
            isHandedOver
              ? "A peer's token was handed over"
              : unchanged
              ? "The exchange handed back the same token"
              : "The exchange brought a new token"
          ),
          { reason: flight.reason, expiresAt: token.expiresAt }
        )
        return winner
      })

    const crashed = (flight: Flight.Flight, cause: Cause.Cause<TokenError>, clock: Clock.Clock) =>
      Effect.gen(function*() {
        const random = yield* Random.next
        const error = Cause.failureOption(cause)
        const rejected = (yield* Ref.get(state)).flight?.rejected ?? flight.rejected
        if (Option.isSome(rejected)) yield* store.invalidate(rejected.value)
        const { duration, wallStart } = yield* Ref.modify(state, (state): readonly [Pause.Pause, Flight.Traffic] => {
          const failures = (state.gate?.failures ?? 0) + 1
          const pause = Pause.start(clock, RefreshPolicy.gateAfter(timing, failures, random, retryAfterOf(error)))
          return [pause, {
            ...state,
            gate: { failures, cause, pause },
            rejections: flight.reason === "rejection"
              ? Rejections.cameToNothing(state.rejections, timing, clock)
              : state.rejections
          }]
        })
        const retryAt = Math.ceil(wallStart + duration)
        if (Option.isSome(error)) {
          const failure = { error: error.value, at: wallStart, retryAt }
          yield* Ref.set(lastFailure, Option.some(failure))
        }
        yield* Telemetry.exchanged(flight.reason, "failed")
        yield* Effect.annotateLogs(Effect.logDebug("The exchange failed"), {
          reason: flight.reason,
          retryAt,
          error: Option.match(error, { onNone: () => "defect", onSome: (error) => error._tag })
        })
        return yield* Effect.failCause(cause)
      })

    const reusable = (flight: Flight.Flight, clock: Clock.Clock) =>
      Effect.map(store.current, (current) =>
        Option.filter(current, (token) =>
          !isExpired(token, clock.unsafeCurrentTimeMillis()) &&
          !Option.exists(flight.replacing, (replaced) =>
            AccessToken.isSame(replaced, token))))

    const exchange = (flight: Flight.Flight, clock: Clock.Clock) =>
      Effect.suspend(() =>
        issuer.issue(flight.replacing, flight.reason)
      ).pipe(
        Effect.provideService(ExchangeSpan, (span) => Ref.set(flight.span, Option.some(span))),
        Effect.filterOrFail((token) => !isExpired(token, clock.unsafeCurrentTimeMillis()), tooShortLived),
        Effect.interruptible,
        Effect.flatMap((token) => landed(flight, token, clock))
      )

    const fly = (flight: Flight.Flight) =>
      Effect.gen(function*() {
        const clock = yield* Effect.clock
        return yield* Effect.gen(function*() {
          const current = yield* reusable(flight, clock)
          if (Option.isSome(current)) return current.value
          if (Option.isSome(flight.rejected)) yield* store.invalidate(flight.rejected.value)
          return yield* exchange(flight, clock)
        }).pipe(
          Effect.catchAllCause((cause) => crashed(flight, Cause.isInterrupted(cause) ? aborted : cause, clock))
        )
      }).pipe(
        Effect.ensuring(Ref.update(state, (state): Flight.Traffic => ({ ...state, flight: undefined }))),
        Effect.exit,
        Effect.flatMap((exit) => Deferred.done(flight.landing, exit))
      )

    const board = (passage: Flight.Passage): Effect.Effect<Flight.Departure> =>
      Effect.uninterruptible(Effect.withFiberRuntime((fiber) => {
        const clock = clockOf(fiber)
        if (passage.rejected._tag === "Some") toldLast = undefined
        return Effect.tap(
          Ref.modify(state, (state) => Flight.depart(state, passage, timing, clock)),
          (departure) =>
            departure._tag === "Boarded" && departure.launched
              ? Effect.zipRight(
                Effect.annotateLogs(Effect.logDebug("An exchange begins"), { reason: passage.reason }),
                Effect.forkIn(fly(departure.flight), scope)
              )
              : Effect.void
        )
      }))

    const refresh = (token: AccessToken.AccessToken) =>
      board({ reason: "refresh", replacing: Option.some(token), rejected: Option.none() })

    const linkTo = ({ span }: Flight.Flight) =>
      Effect.flatMap(
        Ref.get(span),
        Option.match({ onNone: () => Effect.void, onSome: (span) => Effect.linkSpanCurrent(span) })
      )

    const awaitLanding = Flight.match({
      Boarded: ({ flight }) =>
        Effect.withFiberRuntime<AccessToken.AccessToken, TokenError>((fiber) => {
          const landed = Deferred.await(flight.landing)
          return fiber.currentSpan === undefined ? landed : Effect.ensuring(landed, linkTo(flight))
        }),
      Barred: ({ cause }) => Effect.failCause(cause)
    })

    const acquire = (
      current: Option.Option<AccessToken.AccessToken>,
      attempts: number
    ): Effect.Effect<AccessToken.AccessToken, TokenError> =>
      board({ reason: "missing", replacing: current, rejected: Option.none() }).pipe(
        Effect.flatMap(awaitLanding),
        Effect.flatMap((token) =>
          Effect.withFiberRuntime<AccessToken.AccessToken, TokenError>((fiber) => {
            const now = clockOf(fiber).unsafeCurrentTimeMillis()
            const tokenState = AccessToken.stateAt(token, now, timing)
            if (tokenState !== "expired") return Effect.succeed(serve(token, tokenState, now))
            return attempts > 1 ? acquire(Option.some(token), attempts - 1) : tooShortLived()
          })
        )
      )

    const look = (current: Option.Option<AccessToken.AccessToken>, clock: Clock.Clock) => {
      if (current._tag === "None") return acquire(current, timing.attempts)
      const now = clock.unsafeCurrentTimeMillis()
      const tokenState = AccessToken.stateAt(current.value, now, timing)
      if (tokenState === "expired") return acquire(current, timing.attempts)
      const token = serve(current.value, tokenState, now)
      return tokenState === "fresh" ? Effect.succeed(token) : Effect.as(refresh(token), token)
    }

    const unsafeCurrent = store.unsafeCurrent?.bind(store)
    const unsafeGet: Service["unsafeGet"] = unsafeCurrent && ((clock) => {
      const current = unsafeCurrent()
      if (current._tag === "None") return undefined
      const now = clock.unsafeCurrentTimeMillis()
      return AccessToken.stateAt(current.value, now, timing) === "fresh"
        ? serve(current.value, "fresh", now)
        : undefined
    })

    const timesRejected = (token: AccessToken.AccessToken) =>
      rejectedInRow !== undefined && AccessToken.isSame(rejectedInRow.token, token) ? rejectedInRow.times : 0

    /** During a cool-down the rejected token stays the current one, and is sent. */
    const unsafeIsRejected: Service["unsafeIsRejected"] = unsafeCurrent && ((token) => {
      if (timesRejected(token) < 2) return false
      const current = unsafeCurrent()
      return current._tag === "None" || !AccessToken.isSame(current.value, token)
    })

    let given:
      | { readonly token: AccessToken.AccessToken; readonly effect: Effect.Effect<AccessToken.AccessToken> }
      | undefined

    /** One effect a token: the same one is given to nearly every caller. */
    const give = (token: AccessToken.AccessToken): Effect.Effect<AccessToken.AccessToken> => {
      if (given?.token !== token) given = { token, effect: Effect.succeed(token) }
      return given.effect
    }

    const get: Service["get"] = Effect.withFiberRuntime((fiber) => {
      const clock = clockOf(fiber)
      const fresh = unsafeGet?.(clock)
      return fresh === undefined ? Effect.flatMap(store.current, (current) => look(current, clock)) : give(fresh)
    })

    const isRenewalOf = ({ reason, replacing }: Flight.Flight, token: AccessToken.AccessToken) =>
      reason === "rejection" && Option.exists(replacing, (replaced) => AccessToken.isSame(replaced, token))

    const replace: Service["renew"] = (rejected) =>
      Effect.gen(function*() {
        const current = yield* store.current
        if (Option.exists(current, (token) => !AccessToken.isSame(token, rejected))) return yield* get
        yield* Effect.logDebug("The token was rejected")
        const departure = yield* board({
          reason: "rejection",
          replacing: Option.some(rejected),
          rejected: Option.some(rejected)
        })
        const token = yield* awaitLanding(departure)
        if (AccessToken.isSame(token, rejected)) {
          return departure._tag === "Boarded" && isRenewalOf(departure.flight, rejected)
            ? yield* Flight.forbidden("TokenUnchanged")
            : yield* replace(rejected)
        }
        const now = (yield* Effect.clock).unsafeCurrentTimeMillis()
        return serve(token, AccessToken.stateAt(token, now, timing), now)
      })

    const renew: Service["renew"] = (rejected) =>
      Effect.suspend(() => {
        rejectedInRow = { token: rejected, times: timesRejected(rejected) + 1 }
        return replace(rejected)
      })

    const settled: Service["settled"] = (token, outcome) =>
      Effect.suspend(() => {
        if (outcome === "Accepted" && timesRejected(token) > 0) rejectedInRow = undefined
        if (token === toldLast?.token && outcome === toldLast.outcome) return Effect.void
        toldLast = { token, outcome }
        switch (outcome) {
          case "Accepted":
            return Ref.update(state, (state) => ({
              ...state,
              rejections: Rejections.accepted(state.rejections, token)
            }))
          case "AcceptedAfterRenewal":
            return Effect.zipRight(
              Ref.update(state, (state) => ({ ...state, rejections: Rejections.helped(state.rejections, token) })),
              Effect.logDebug("The renewal helped")
            )
          case "RejectedAgain":
            return Effect.clockWith((clock) =>
              Effect.zipRight(
                Ref.update(state, (state) => ({
                  ...state,
                  rejections: Rejections.rejectedAgain(state.rejections, token, timing, clock)
                })),
                Effect.logDebug("The renewed token was rejected too: renewals cool down")
              )
            )
        }
      })

    const status: Service["status"] = Effect.gen(function*() {
      const now = (yield* Effect.clock).unsafeCurrentTimeMillis()
      const current = yield* store.current
      return {
        state: Option.match(current, {
          onNone: () => "none" as const,
          onSome: (token) => AccessToken.stateAt(token, now, timing)
        }),
        expiresAt: Option.map(current, (token) => token.expiresAt),
        lastFailure: yield* Ref.get(lastFailure)
      }
    })

    const heldBack = Effect.map(
      Ref.get(state),
      ({ gate, respite }) => (clock: Clock.Clock) =>
        Math.max(Pause.remaining(gate?.pause, clock), Pause.remaining(respite, clock))
    )

    const refreshAndWait = (token: AccessToken.AccessToken) => Effect.exit(Effect.flatMap(refresh(token), awaitLanding))

    if (timing.background) {
      const refreshing = Refreshing.refreshing({ use, store, timing, heldBack, refresh: refreshAndWait })
      yield* Effect.forkIn(Effect.interruptible(refreshing), scope)
    }

    return { get, unsafeGet, unsafeIsRejected, renew, settled, status }
  })

/**
 * A provider over the TokenIssuer and the TokenStore in the context. Building it ends in ConfigurationError where a number of
 * the policy is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (
  policy?: Partial<RefreshPolicy.RefreshPolicy>
): Layer.Layer<TokenProvider, ConfigurationError, TokenIssuer | TokenStore> => Layer.scoped(TokenProvider, make(policy))
