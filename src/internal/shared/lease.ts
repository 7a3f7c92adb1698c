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
import { withTimeout } from "../token/withTimeout.js"
import { cacheFailures, sharedTokens } from "./metrics.js"
import type * as Seal from "./seal.js"

/** What one replica needs to know to get one token. Times are in milliseconds. */
export interface Attempt {
  readonly cache: Service
  readonly cacheTimeout: number
  readonly seal: Seal.Seal
  /** Who takes the lease: another name for each attempt. */
  readonly owner: string
  readonly lease: number
  /** Until when it waits for a peer, in epoch milliseconds. */
  readonly waitsUntil: number
  readonly policy: RefreshPolicy.CheckedPolicy
  /** Whether a token may take the place of the one that is replaced. */
  readonly isNext: Predicate.Predicate<AccessToken.AccessToken>
  readonly exchange: Effect.Effect<AccessToken.AccessToken, TokenError>
  /** What is left to do there when the token has been returned ends with it. */
  readonly scope: Scope.Scope
}

/** A call of the cache, bounded in time. */
export const boundedCall =
  (millis: number) => <A>(call: Effect.Effect<A, SharedTokenCacheError>): Effect.Effect<A, SharedTokenCacheError> =>
    withTimeout(call, millis, () => new SharedTokenCacheError({ reason: "Timeout" }))

const noteFailure = ({ message, reason }: SharedTokenCacheError) =>
  Effect.suspend(() => {
    cacheFailures.count(reason)
    return Effect.logWarning(`${message} This process exchanges the license key by itself.`)
  })

/** A token as the clock of this process sees it: a peer whose clock is ahead dates the token's whole life too late. */
const received = (token: AccessToken.AccessToken, now: number): AccessToken.AccessToken => {
  const ahead = Math.max(0, token.receivedAt - now)
  return new AccessToken.AccessToken({
    ...token,
    receivedAt: token.receivedAt - ahead,
    expiresAt: token.expiresAt - ahead,
    isFromPeer: true
  })
}

/** A token that a peer left, if it is one to use. */
const look = ({ cache, cacheTimeout, isNext, policy, seal }: Attempt) =>
  Effect.gen(function*() {
    const entry = yield* boundedCall(cacheTimeout)(cache.read(seal.name))
    const opened = Option.isSome(entry) ? yield* seal.open(entry.value) : Option.none()
    const now = yield* Clock.currentTimeMillis
    return opened.pipe(
      Option.filter(isNext),
      Option.map((token) => received(token, now)),
      Option.filter((token) => AccessToken.stateAt(token, now, policy) !== "expired")
    )
  })

/** Where the cache did not say whether it gave the lease, it may have: it is given back as soon as the cache hears of that. */
const takeLease = ({ cache, cacheTimeout, lease, owner, scope, seal }: Attempt) =>
  Effect.tapError(
    boundedCall(cacheTimeout)(cache.lease(seal.name, owner, lease)),
    () => Effect.forkIn(Effect.ignore(boundedCall(cacheTimeout)(cache.release(seal.name, owner))), scope)
  )

type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** A token, and how this replica came by it. */
interface Got {
  readonly outcome: "HandedOver" | "Exchanged" | "ExchangedAlone"
  readonly token: AccessToken.AccessToken
}

const got = (outcome: Got["outcome"]) => (token: AccessToken.AccessToken): Got => ({ outcome, token })

/** Peers must see the token before the lease is free. The two together take at most the time of one call. */
const publishAndRelease = (
  { cache, cacheTimeout, owner, seal }: Attempt,
  token: Option.Option<AccessToken.AccessToken>
) =>
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
    yield* boundedCall(cacheTimeout)(
      Effect.zipRight(Effect.catchAll(write, noteFailure), cache.release(seal.name, owner))
    )
  }).pipe(Effect.catchAll(noteFailure))

/** Under the lease it looks again, for a peer may have written meanwhile. */
const exchangeForAll = (attempt: Attempt, restore: Restore): Effect.Effect<Got, TokenError> =>
  look(attempt).pipe(
    Effect.catchAll((error) => Effect.as(noteFailure(error), Option.none<AccessToken.AccessToken>())),
    Effect.flatMap(Option.match({
      onNone: () => Effect.map(attempt.exchange, got("Exchanged")),
      onSome: (token) => Effect.succeed(got("HandedOver")(token))
    })),
    restore,
    Effect.onExit((exit) =>
      publishAndRelease(
        attempt,
        Exit.isSuccess(exit) && exit.value.outcome === "Exchanged" ? Option.some(exit.value.token) : Option.none()
      )
    )
  )

/** After a failure of the cache, or when no peer brought a token in time. Nothing is published: another may have the lease. */
const exchangeAlone = ({ exchange }: Attempt, restore: Restore): Effect.Effect<Got, TokenError> =>
  Effect.map(restore(exchange), got("ExchangedAlone"))

/** Looks, asks for the lease, and waits in turn. */
const getInTurn = (attempt: Attempt, restore: Restore) =>
  Effect.gen(function*() {
    while (true) {
      const found = yield* restore(look(attempt))
      if (Option.isSome(found)) return Effect.succeed(got("HandedOver")(found.value))
      if (yield* takeLease(attempt)) return exchangeForAll(attempt, restore)
      const left = attempt.waitsUntil - (yield* Clock.currentTimeMillis)
      if (left <= 0) return exchangeAlone(attempt, restore)
      // In whole milliseconds: of a fraction too small to move the clock nobody would ever wake.
      yield* restore(Effect.sleep(Math.min(left, yield* Random.nextIntBetween(50, 150))))
    }
  })

/** A token that a peer left, or one's own. Interrupted, it still gives back its lease, and ends a publication that has begun. */
export const getToken = (attempt: Attempt): Effect.Effect<AccessToken.AccessToken, TokenError> =>
  Effect.uninterruptibleMask((restore) =>
    getInTurn(attempt, restore).pipe(
      Effect.catchAll((error) => Effect.as(noteFailure(error), exchangeAlone(attempt, restore))),
      Effect.flatten,
      Effect.map(({ outcome, token }) => {
        sharedTokens.count(outcome)
        return token
      })
    )
  )
