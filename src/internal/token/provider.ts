import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { type AccessToken, isSame, isUsable, stateAt } from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type { Service } from "../../TokenProvider.js"
import * as Background from "../runtime/background.js"
import * as BackgroundRefresh from "./backgroundRefresh.js"
import type { WithTimeout } from "./exchangeTimeout.js"
import * as Flights from "./flights.js"
import * as Metrics from "./metrics.js"
import { notRenewed } from "./state.js"
import { tokenStatusOf } from "./status.js"

interface Options extends Flights.Options {
  /** Limits a read of the store, which may hang. */
  readonly withReadTimeout: WithTimeout
}

/** Creates the TokenProvider. Flights and the background refresh stop when the scope is closed. */
export const make = (options: Options): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { policy, store, withReadTimeout } = options
    Metrics.exchanges.createSeries()
    const clock = yield* Effect.clock
    const run = yield* Background.make
    const flights = yield* Flights.make(options, run, (token) => onToken(token))
    const current = withReadTimeout(store.current)

    /** Returns epoch milliseconds on the clock of the layer, because a caller may use a different clock, such as a TestClock. */
    const now = () => clock.unsafeCurrentTimeMillis()

    /** If the store fails or times out, it counts as empty here. Callers that need a token get the error from `get`. */
    const currentOrNone = Effect.catchAllCause(current, () => Effect.succeedNone)

    const refresh = (token: AccessToken) => flights.start({ reason: "refresh", replacing: Option.some(token) })

    const onToken = policy.background
      ? yield* BackgroundRefresh.make({ policy, current: currentOrNone, refresh }, run)
      : constVoid

    /** Returns a token of the store to a caller, and tells the background refresh. A flight tells it about its own token. */
    const use = (token: AccessToken): Effect.Effect<AccessToken> => {
      onToken(token)
      return Effect.succeed(token)
    }

    /** Returns a usable token in spite of a failed exchange. After a failed renewal, the rejected token is back in the store. */
    const orCurrent = (cause: Cause.Cause<TokenError>): Effect.Effect<AccessToken, TokenError> =>
      Effect.flatMap(currentOrNone, (stored) =>
        Option.match(
          Option.filter(stored, (token) => isUsable(token, now(), policy)),
          { onNone: () => Effect.failCause(cause), onSome: use }
        ))

    /** Waits for a new token together with all other callers. */
    const acquire = (replacing: Option.Option<AccessToken>): Effect.Effect<AccessToken, TokenError> =>
      flights.awaitToken({ reason: "missing", replacing }).pipe(
        Effect.map(({ token }) => token),
        Effect.catchAllCause(orCurrent)
      )

    const get: Service["get"] = Effect.flatMap(current, (stored) => {
      if (Option.isNone(stored)) return acquire(stored)
      const token = stored.value
      switch (stateAt(token, now(), policy)) {
        case "fresh":
          return use(token)
        case "stale":
          return Effect.flatMap(refresh(token), () => use(token))
        case "expired":
          return acquire(stored)
      }
    })

    const renew: Service["renew"] = (rejected) =>
      Effect.gen(function*() {
        const isOther = (token: AccessToken) => !isSame(token, rejected)
        if (Option.exists(yield* current, isOther)) return yield* get
        const { reason, token } = yield* flights.awaitToken({ reason: "rejection", replacing: Option.some(rejected) })
        if (isOther(token)) return token
        if (reason === "rejection") return yield* notRenewed("TokenUnchanged")
        // The flight was pending already, for another reason, and returned the rejected token.
        return yield* renew(rejected)
      })

    const status: Service["status"] = Effect.gen(function*() {
      const stateOf = (token: AccessToken) => stateAt(token, now(), policy)
      const stored = Option.map(yield* currentOrNone, (token) => ({ token, state: stateOf(token) }))
      return tokenStatusOf(stored, yield* flights.lastFailure)
    })

    return { get, renew, status }
  })
