import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import { type AccessToken, isUsable } from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type { SharedTokenCacheError } from "../../SharedTokenCache.js"
import { currentMonotonicMillis } from "../runtime/clock.js"
import { type Lease, type LeasedEntry, movedBy } from "./leasedEntry.js"
import { countFailure, countToken, reportFailure, reportHeldLease } from "./report.js"
import * as Rounds from "./rounds.js"

/** What one replica needs to get one token. */
interface Acquisition {
  readonly entry: LeasedEntry
  readonly limits: Rounds.Limits
  readonly policy: RefreshPolicy.CheckedPolicy
  readonly mayReplace: Predicate.Predicate<AccessToken>
  readonly exchange: Effect.Effect<AccessToken, TokenError>
}

/** Moves a token's times back if the peer's clock is ahead, so that it doesn't seem to live longer than it does. */
const asReceivedHere = (token: AccessToken, now: number): AccessToken =>
  movedBy(token, Math.min(0, now - token.receivedAt))

const readPeerToken = (
  { entry, mayReplace, policy }: Acquisition
): Effect.Effect<Option.Option<AccessToken>, SharedTokenCacheError> =>
  Effect.gen(function*() {
    const published = yield* entry.read
    const now = yield* Clock.currentTimeMillis
    return published.pipe(
      Option.filter(mayReplace),
      Option.map((token) => asReceivedHere(token, now)),
      Option.filter((token) => isUsable(token, now, policy))
    )
  })

/**
 * Exchanges the key while this replica holds the lease, and publishes the token. Reads the cache again first, because a peer may have
 * published one. If the token can't be published, no other replica has it.
 */
const exchangeForAll = (acquisition: Acquisition, lease: Lease): Effect.Effect<AccessToken, TokenError> =>
  Effect.gen(function*() {
    const orRelease = <A, E>(effect: Effect.Effect<A, E>) => Effect.onError(effect, () => lease.release)
    const reading = Effect.catchAll(
      readPeerToken(acquisition),
      (error) => Effect.as(reportFailure(error), Option.none())
    )
    const published = yield* orRelease(Effect.interruptible(reading))
    if (Option.isSome(published)) {
      yield* lease.release
      yield* countToken("HandedOver")
      return published.value
    }
    const token = yield* orRelease(Effect.interruptible(acquisition.exchange))
    const isPublished = yield* orRelease(lease.publishAndRelease(token))
    yield* countToken(isPublished ? "Exchanged" : "ExchangedAlone")
    return token
  })

/** Exchanges the key without publishing the token, because another replica may hold the lease. */
const exchangeAlone = ({ exchange }: Acquisition): Effect.Effect<AccessToken, TokenError> =>
  Effect.tap(Effect.interruptible(exchange), countToken("ExchangedAlone"))

/** How a round ended. `Nothing`: there is no token, and the round didn't ask for the lease, or a peer holds it. */
type RoundEnd =
  | { readonly _tag: "PeerToken"; readonly token: AccessToken }
  | { readonly _tag: "Leased"; readonly lease: Lease }
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "CacheFailed"; readonly error: SharedTokenCacheError }

const runRound = (acquisition: Acquisition, rounds: Rounds.Rounds): Effect.Effect<RoundEnd> =>
  Effect.catchAll(
    Effect.gen(function*() {
      const published = yield* Effect.interruptible(readPeerToken(acquisition))
      if (Option.isSome(published)) return { _tag: "PeerToken", token: published.value }
      const mayTake = Rounds.mayTakeLease(rounds, yield* currentMonotonicMillis)
      const lease = mayTake ? yield* acquisition.entry.takeLease : Option.none()
      return Option.isSome(lease) ? { _tag: "Leased", lease: lease.value } : { _tag: "Nothing" }
    }),
    (error) => Effect.succeed({ _tag: "CacheFailed", error })
  )

/**
 * Runs rounds until one of them gets the token of a peer or of an exchange. If this is interrupted, it still releases its lease and
 * publishes a token that it has received: only reads, waits and the exchange can be interrupted.
 */
export const acquireToken = (acquisition: Acquisition): Effect.Effect<AccessToken, TokenError> =>
  Effect.gen(function*() {
    let rounds = Rounds.initial(acquisition.limits)
    for (;;) {
      const end = yield* runRound(acquisition, rounds)
      switch (end._tag) {
        case "PeerToken":
          yield* countToken("HandedOver")
          return end.token
        case "Leased":
          return yield* exchangeForAll(acquisition, end.lease)
        case "Nothing":
          rounds = Rounds.foundNothing(rounds)
          break
        case "CacheFailed":
          yield* rounds.failures > 0 ? countFailure(end.error) : reportFailure(end.error)
          rounds = Rounds.cacheFailed(rounds, yield* Random.next, yield* currentMonotonicMillis)
      }
      const wait = Rounds.nextWait(rounds, yield* Random.next, yield* currentMonotonicMillis)
      if (wait === undefined) {
        if (Rounds.isLeaseToBlame(rounds)) yield* reportHeldLease
        return yield* exchangeAlone(acquisition)
      }
      yield* Effect.interruptible(Effect.sleep(wait))
    }
  }).pipe(Effect.uninterruptible)
