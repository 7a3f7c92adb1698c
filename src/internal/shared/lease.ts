import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as AccessToken from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type { SharedTokenCacheError } from "../../SharedTokenCache.js"
import { currentMonotonicMillis } from "../runtime/clock.js"
import { countFailure, type LeasedEntry, reportFailure } from "./leasedEntry.js"
import { sharedTokens } from "./metrics.js"
import * as Waits from "./waits.js"

type Token = AccessToken.AccessToken

/** What one replica needs to get one token. Times are in milliseconds. */
export interface Acquisition {
  readonly entry: LeasedEntry
  /** The time at which it stops waiting for a peer, on the monotonic clock. */
  readonly waitsUntil: number
  /** How long it may wait for a failing cache. */
  readonly patience: number
  readonly policy: RefreshPolicy.CheckedPolicy
  /** Whether a token may replace the current one. */
  readonly mayReplace: Predicate.Predicate<Token>
  readonly exchange: Effect.Effect<Token, TokenError>
}

type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

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

/** Returns the token of a peer, if there is one that can be used. */
const readToken = (
  { entry, mayReplace, policy }: Acquisition
): Effect.Effect<Option.Option<Token>, SharedTokenCacheError> =>
  Effect.gen(function*() {
    const published = yield* entry.read
    const now = yield* Clock.currentTimeMillis
    return published.pipe(
      Option.filter(mayReplace),
      Option.map((token) => asReceivedHere(token, now)),
      Option.filter((token) => AccessToken.stateAt(token, now, policy) !== "expired")
    )
  })

/** A token, and how this replica got it. */
interface Issued {
  readonly outcome: "HandedOver" | "Exchanged" | "ExchangedAlone"
  readonly token: Token
}

const issuedAs = (outcome: Issued["outcome"]) => (token: Token): Issued => ({ outcome, token })

/** Exchanges the key while this replica has the lease. Reads the cache again first, because a peer may have published a token. */
const exchangeForAll = (acquisition: Acquisition, restore: Restore): Effect.Effect<Issued, TokenError> =>
  readToken(acquisition).pipe(
    Effect.catchAll((error) => Effect.as(reportFailure(error), Option.none<Token>())),
    Effect.flatMap(Option.match({
      onNone: () => Effect.map(acquisition.exchange, issuedAs("Exchanged")),
      onSome: (token) => Effect.succeed(issuedAs("HandedOver")(token))
    })),
    restore,
    Effect.onExit((exit) =>
      Exit.isSuccess(exit) && exit.value.outcome === "Exchanged"
        ? acquisition.entry.publishAndRelease(exit.value.token)
        : acquisition.entry.release
    )
  )

/** Returns how to get the token, or none if the replica has to wait. */
const playRound = (
  acquisition: Acquisition,
  round: number,
  restore: Restore
): Effect.Effect<Option.Option<Effect.Effect<Issued, TokenError>>, SharedTokenCacheError> =>
  Effect.gen(function*() {
    const published = yield* restore(readToken(acquisition))
    if (Option.isSome(published)) return Option.some(Effect.succeed(issuedAs("HandedOver")(published.value)))
    const isLate = (yield* currentMonotonicMillis) >= acquisition.waitsUntil
    const hasLease = Waits.asksForLease(round) && !isLate && (yield* acquisition.entry.take)
    return hasLease ? Option.some(exchangeForAll(acquisition, restore)) : Option.none()
  })

/**
 * Reads the cache, asks for the lease, and waits for the peer that has it. If the cache fails, it repeats the round for a random part of
 * `patience`: the cache may recover, and if it doesn't, the exchanges of all replicas are spread over that time.
 */
const getInTurn = (acquisition: Acquisition, restore: Restore): Effect.Effect<Issued, TokenError> =>
  Effect.gen(function*() {
    let hasWarned = false
    let round = 0
    /** The time at which it gives up on a cache that fails, on the monotonic clock. Undefined if the last round succeeded. */
    let givesUpAt: number | undefined

    const onCacheFailure = (error: SharedTokenCacheError) =>
      Effect.gen(function*() {
        if (givesUpAt === undefined) {
          const now = yield* currentMonotonicMillis
          const longest = Math.max(0, Math.min(acquisition.patience, acquisition.waitsUntil - now))
          givesUpAt = now + longest * (yield* Random.next)
        }
        yield* hasWarned ? countFailure(error) : reportFailure(error)
        hasWarned = true
        return Option.none()
      })

    const endRound = <A>(turn: A): A => {
      round += 1
      givesUpAt = undefined
      return turn
    }

    for (let waits = 0;; waits += 1) {
      const issued = yield* playRound(acquisition, round, restore).pipe(
        Effect.map(endRound),
        Effect.catchAll(onCacheFailure)
      )
      if (Option.isSome(issued)) return yield* issued.value
      const remaining = (givesUpAt ?? acquisition.waitsUntil) - (yield* currentMonotonicMillis)
      // Another replica may have the lease, so this token isn't published.
      if (remaining <= 0) return yield* Effect.map(restore(acquisition.exchange), issuedAs("ExchangedAlone"))
      // Whole milliseconds, because the timer for a fraction of one may fire before the clock has moved.
      yield* restore(Effect.sleep(Math.min(Math.ceil(remaining), Waits.waitAfter(waits, yield* Random.next))))
    }
  })

/** Returns the token of a peer or of an exchange. If it is interrupted, it still publishes a token it got, and releases its lease. */
export const getToken = (acquisition: Acquisition): Effect.Effect<Token, TokenError> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.map(getInTurn(acquisition, restore), ({ outcome, token }) => {
      sharedTokens.count(outcome)
      return token
    })
  )
