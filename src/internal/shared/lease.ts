import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as AccessToken from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import { type Service, SharedTokenCacheError } from "../../SharedTokenCache.js"
import { currentMonotonicMillis } from "../clock.js"
import { withTimeout } from "../token/withTimeout.js"
import { cacheFailures, sharedTokens } from "./metrics.js"
import type * as Seal from "./seal.js"
import * as Waits from "./waits.js"

type Token = AccessToken.AccessToken

/** What one replica needs to get one token. Times are in milliseconds. */
export interface Attempt {
  readonly cache: Service
  readonly cacheTimeout: number
  readonly seal: Seal.Seal
  /** The name under which this attempt takes the lease. Each attempt has a different one. */
  readonly owner: string
  readonly lease: number
  /** The time at which it stops waiting for a peer, on the monotonic clock. */
  readonly waitsUntil: number
  /** How long it may wait for a failing cache. */
  readonly patience: number
  readonly policy: RefreshPolicy.CheckedPolicy
  /** Whether a token may replace the current one. */
  readonly isNext: Predicate.Predicate<Token>
  readonly exchange: Effect.Effect<Token, TokenError>
  /** Work that continues after the token was returned runs in this scope. */
  readonly scope: Scope.Scope
}

/** Adds a timeout to a call to the cache. */
export const withCacheTimeout =
  (millis: number) => <A>(call: Effect.Effect<A, SharedTokenCacheError>): Effect.Effect<A, SharedTokenCacheError> =>
    withTimeout(call, millis, () => new SharedTokenCacheError({ reason: "Timeout" }))

const countFailure = ({ reason }: SharedTokenCacheError) => Effect.sync(() => cacheFailures.count(reason))

const reportFailure = (error: SharedTokenCacheError) =>
  Effect.zipRight(
    countFailure(error),
    Effect.logWarning(`${error.message} If it stays unavailable, each process exchanges the license key by itself.`)
  )

/** Moves a token's times back if the peer's clock is ahead, so that it doesn't seem to live longer than it does. */
const asReceivedHere = (token: Token, now: number): Token => {
  const ahead = Math.max(0, token.receivedAt - now)
  return new AccessToken.AccessToken({
    ...token,
    receivedAt: token.receivedAt - ahead,
    expiresAt: token.expiresAt - ahead,
    isFromPeer: true
  })
}

/** Reads the token in the cache, with the times that its publisher gave it. */
const readEntry = (
  { cache, cacheTimeout, seal }: Attempt
): Effect.Effect<Option.Option<Token>, SharedTokenCacheError> =>
  Effect.flatMap(
    withCacheTimeout(cacheTimeout)(cache.read(seal.name)),
    Option.match({ onNone: () => Effect.succeedNone, onSome: seal.open })
  )

/** If the call fails, the cache may have granted the lease anyway, so the lease is released in the background. */
const takeLease = ({ cache, cacheTimeout, lease, owner, scope, seal }: Attempt) =>
  Effect.tapError(
    withCacheTimeout(cacheTimeout)(cache.lease(seal.name, owner, lease)),
    () => Effect.forkIn(Effect.ignore(withCacheTimeout(cacheTimeout)(cache.release(seal.name, owner))), scope)
  )

type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** A token, and how this replica got it. */
interface Issued {
  readonly outcome: "HandedOver" | "Exchanged" | "ExchangedAlone"
  readonly token: Token
}

const issuedAs = (outcome: Issued["outcome"]) => (token: Token): Issued => ({ outcome, token })

/**
 * Reads the cache for one attempt, and remembers the latest `receivedAt` it has seen. `dated` makes sure that a published token isn't
 * older than that, even if the clocks of the publishers differ, because peers ignore a token that is older than the one it replaces.
 */
const makeReader = (attempt: Attempt) => {
  const { isNext, policy } = attempt
  let latest = Number.NEGATIVE_INFINITY

  return {
    read: Effect.gen(function*() {
      const entry = yield* readEntry(attempt)
      latest = Math.max(latest, Option.match(entry, { onNone: () => latest, onSome: ({ receivedAt }) => receivedAt }))
      const now = yield* Clock.currentTimeMillis
      return entry.pipe(
        Option.filter(isNext),
        Option.map((token) => asReceivedHere(token, now)),
        Option.filter((token) => AccessToken.stateAt(token, now, policy) !== "expired")
      )
    }),
    dated: (token: Token): Token =>
      token.receivedAt >= latest ? token : new AccessToken.AccessToken({ ...token, receivedAt: latest })
  }
}

type Reader = ReturnType<typeof makeReader>

/** Publishes the token before the lease is released, so that the next holder finds it. Both calls share one timeout. */
const publishAndRelease = ({ cache, cacheTimeout, owner, seal }: Attempt, token: Option.Option<Token>) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const write = yield* Option.match(token, {
      onNone: () => Effect.succeed(Effect.void),
      onSome: (token) =>
        Effect.map(
          seal.close(token),
          (entry) => cache.write(seal.name, entry, { owner, timeToLive: Math.max(1, token.expiresAt - now) })
        )
    })
    yield* withCacheTimeout(cacheTimeout)(
      Effect.zipRight(Effect.catchAll(write, reportFailure), cache.release(seal.name, owner))
    )
  }).pipe(Effect.catchAll(reportFailure))

/** Exchanges the key while this replica has the lease. Reads the cache again first, because a peer may have published a token. */
const exchangeForAll = (attempt: Attempt, reader: Reader, restore: Restore): Effect.Effect<Issued, TokenError> =>
  reader.read.pipe(
    Effect.catchAll((error) => Effect.as(reportFailure(error), Option.none<Token>())),
    Effect.flatMap(Option.match({
      onNone: () => Effect.map(attempt.exchange, issuedAs("Exchanged")),
      onSome: (token) => Effect.succeed(issuedAs("HandedOver")(token))
    })),
    restore,
    Effect.onExit((exit) =>
      publishAndRelease(
        attempt,
        Exit.isSuccess(exit) && exit.value.outcome === "Exchanged"
          ? Option.some(reader.dated(exit.value.token))
          : Option.none()
      )
    )
  )

/** Exchanges the key without the lease. Another replica may have it, so the token isn't published. */
const exchangeAlone = ({ exchange }: Attempt, restore: Restore): Effect.Effect<Issued, TokenError> =>
  Effect.map(restore(exchange), issuedAs("ExchangedAlone"))

/** Plays one round. Returns the token or the exchange that it led to, if any. A round that fails is repeated. */
const playRound = (attempt: Attempt, reader: Reader, round: Waits.Round, restore: Restore) =>
  Effect.gen(function*() {
    const found = yield* restore(reader.read)
    if (Option.isSome(found)) return Option.some(Effect.succeed(issuedAs("HandedOver")(found.value)))
    const isLate = (yield* currentMonotonicMillis) >= attempt.waitsUntil
    if (round === "Read" || isLate || !(yield* takeLease(attempt))) return Option.none()
    return Option.some(exchangeForAll(attempt, reader, restore))
  })

/**
 * Reads the cache, asks for the lease, and waits for the peer that has it. If the cache fails, it keeps trying for a random part of
 * `patience`: the cache may recover, and if it doesn't, the exchanges of all replicas are spread over that time.
 */
const getInTurn = (attempt: Attempt, restore: Restore) =>
  Effect.gen(function*() {
    const reader = makeReader(attempt)
    let hasWarned = false
    let until = attempt.waitsUntil

    const onCacheFailure = (error: SharedTokenCacheError) =>
      Effect.gen(function*() {
        if (until === attempt.waitsUntil) {
          const now = yield* currentMonotonicMillis
          until = now + Math.max(0, Math.min(attempt.patience, until - now)) * (yield* Random.next)
        }
        yield* hasWarned ? countFailure(error) : reportFailure(error)
        hasWarned = true
      })

    for (let waits = 0, rounds = 0;; waits += 1) {
      const issued = yield* playRound(attempt, reader, Waits.roundOf(rounds), restore).pipe(
        Effect.map((issued) => {
          rounds += 1
          until = attempt.waitsUntil
          return issued
        }),
        Effect.catchAll((error) => Effect.as(onCacheFailure(error), Option.none()))
      )
      if (Option.isSome(issued)) return issued.value
      const remaining = until - (yield* currentMonotonicMillis)
      if (remaining <= 0) return exchangeAlone(attempt, restore)
      // Whole milliseconds, because the timer for a fraction of one may fire before the clock has moved.
      yield* restore(Effect.sleep(Math.min(Math.ceil(remaining), Waits.waitAfter(waits, yield* Random.next))))
    }
  })

/** Returns the token of a peer or of an exchange. If it is interrupted, it still publishes a token it got, and releases its lease. */
export const getToken = (attempt: Attempt): Effect.Effect<Token, TokenError> =>
  Effect.uninterruptibleMask((restore) =>
    getInTurn(attempt, restore).pipe(
      Effect.flatten,
      Effect.map(({ outcome, token }) => {
        sharedTokens.count(outcome)
        return token
      })
    )
  )
