import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as AccessToken from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type { Service } from "../../TokenProvider.js"
import * as BackgroundRefresh from "./backgroundRefresh.js"
import * as Flights from "./flights.js"
import * as Metrics from "./metrics.js"
import { notRenewed } from "./state.js"
import { tokenStatusOf } from "./status.js"

type Token = AccessToken.AccessToken

/** What all functions of this file need. */
interface Lifecycle {
  readonly policy: RefreshPolicy.CheckedPolicy
  /** Reads the token from the store. */
  readonly current: Effect.Effect<Option.Option<Token>, TokenError>
  readonly flights: Flights.Flights
  /** The time in epoch milliseconds on the clock of the layer, because the clock of a caller may be another one, such as a TestClock. */
  readonly now: () => number
}

const refresh = ({ flights }: Lifecycle, token: Token): Effect.Effect<void> =>
  Effect.flatMap(
    flights.isRefreshHeld,
    (isHeld) => isHeld ? Effect.void : flights.ask({ reason: "refresh", replacing: Option.some(token) })
  )

/** If the store fails or times out, it counts as empty here. Callers that need a token get the error from `get`. */
const currentOrNone = ({ current }: Lifecycle) => Effect.catchAllCause(current, () => Effect.succeedNone)

/** Returns a usable token in spite of a failed exchange. After a failed renewal, the rejected token is back in the store. */
const orCurrent = (lifecycle: Lifecycle, cause: Cause.Cause<TokenError>): Effect.Effect<Token, TokenError> =>
  Effect.flatMap(currentOrNone(lifecycle), (current) =>
    Option.match(
      Option.filter(current, (token) => AccessToken.isUsable(token, lifecycle.now(), lifecycle.policy)),
      { onNone: () => Effect.failCause(cause), onSome: Effect.succeed }
    ))

/** Waits for a new token together with all other callers. */
const acquire = (lifecycle: Lifecycle, replacing: Option.Option<Token>): Effect.Effect<Token, TokenError> =>
  Effect.flatMap(lifecycle.flights.ask({ reason: "missing", replacing }), Flights.awaitToken).pipe(
    Effect.catchAllCause((cause) => orCurrent(lifecycle, cause))
  )

const serveOrAcquire = (lifecycle: Lifecycle, current: Option.Option<Token>) => {
  if (Option.isNone(current)) return acquire(lifecycle, current)
  const token = current.value
  switch (AccessToken.stateAt(token, lifecycle.now(), lifecycle.policy)) {
    case "fresh":
      return Effect.succeed(token)
    case "stale":
      return Effect.as(refresh(lifecycle, token), token)
    case "expired":
      return acquire(lifecycle, current)
  }
}

const getFrom = (lifecycle: Lifecycle): Service["get"] =>
  Effect.flatMap(lifecycle.current, (current) => serveOrAcquire(lifecycle, current))

const renewFrom = (lifecycle: Lifecycle, get: Service["get"]) => {
  const { current, flights } = lifecycle
  const renew: Service["renew"] = (rejected) =>
    Effect.gen(function*() {
      const isOther = (token: Token) => !AccessToken.isSame(token, rejected)
      if (Option.exists(yield* current, isOther)) return yield* get
      const asked = yield* flights.ask({ reason: "rejection", replacing: Option.some(rejected) })
      const token = yield* Flights.awaitToken(asked)
      if (isOther(token)) return token
      const isRenewal = Exit.isSuccess(asked) && asked.value.request.reason === "rejection"
      return yield* isRenewal ? notRenewed("TokenUnchanged") : renew(rejected)
    })
  return renew
}

const statusFrom = (lifecycle: Lifecycle): Service["status"] =>
  Effect.gen(function*() {
    const current = yield* currentOrNone(lifecycle)
    const now = lifecycle.now()
    return tokenStatusOf(
      Option.map(current, (token) => ({ token, state: AccessToken.stateAt(token, now, lifecycle.policy) })),
      yield* lifecycle.flights.lastFailure
    )
  })

interface Options extends Flights.Options {
  /** Reads the token from the store. This must end in time, so it needs a timeout if the store may hang. */
  readonly current: Lifecycle["current"]
}

/** Creates the TokenProvider. Flights and the background refresh stop when the scope is closed. */
export const make = (options: Options): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { current, policy, run } = options
    Metrics.createSeries()
    const clock = yield* Effect.clock
    const now = () => clock.unsafeCurrentTimeMillis()
    const lifecycle: Lifecycle = { policy, current, flights: yield* Flights.make(options), now }
    const get = getFrom(lifecycle)
    const renew = renewFrom(lifecycle, get)
    const status = statusFrom(lifecycle)
    if (!policy.background) return { get, renew, status }
    const noticeServed = yield* BackgroundRefresh.make({
      policy,
      current: currentOrNone(lifecycle),
      refresh: (token) => refresh(lifecycle, token),
      run
    })
    const noticed = Effect.map((token: Token) => {
      noticeServed(token)
      return token
    })
    return { get: noticed(get), renew: (rejected) => noticed(renew(rejected)), status }
  })
