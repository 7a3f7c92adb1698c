import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as AccessToken from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type { SharedTokenCacheError } from "../../SharedTokenCache.js"
import { currentMonotonicMillis } from "../runtime/clock.js"
import { type LeasedEntry, movedBy } from "./leasedEntry.js"
import { counted, countFailure, reportFailure, reportHeldLease } from "./report.js"

type Token = AccessToken.AccessToken

/** What one replica needs to get one token. Times are in milliseconds. */
interface Acquisition {
  readonly entry: LeasedEntry
  /** The time at which it stops waiting for a peer, on the monotonic clock. */
  readonly waitsUntil: number
  /** How long it may wait for a failing cache. */
  readonly maxCacheOutage: number
  readonly policy: RefreshPolicy.CheckedPolicy
  readonly mayReplace: Predicate.Predicate<Token>
  readonly exchange: Effect.Effect<Token, TokenError>
}

/** Moves a token's times back if the peer's clock is ahead, so that it doesn't seem to live longer than it does. */
const asReceivedHere = (token: Token, now: number): Token => movedBy(token, Math.min(0, now - token.receivedAt))

const readPeerToken = (
  { entry, mayReplace, policy }: Acquisition
): Effect.Effect<Option.Option<Token>, SharedTokenCacheError> =>
  Effect.gen(function*() {
    const published = yield* entry.read
    const now = yield* Clock.currentTimeMillis
    return published.pipe(
      Option.filter(mayReplace),
      Option.map((token) => asReceivedHere(token, now)),
      Option.filter((token) => AccessToken.isUsable(token, now, policy))
    )
  })

/**
 * Exchanges the key while this replica holds the lease, and publishes the token. Reads the cache again first, because a peer may have
 * published one. If the token can't be published, no other replica has it.
 */
const exchangeForAll = (acquisition: Acquisition): Effect.Effect<Token, TokenError> =>
  Effect.gen(function*() {
    const { entry, exchange } = acquisition
    const orRelease = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.onError(Effect.interruptible(effect), () => entry.release)
    const reading = Effect.catchAll(
      readPeerToken(acquisition),
      (error) => Effect.as(reportFailure(error), Option.none())
    )
    const published = yield* orRelease(reading)
    if (Option.isSome(published)) return yield* Effect.as(entry.release, counted("HandedOver", published.value))
    const token = yield* orRelease(exchange)
    const isPublished = yield* entry.publishAndRelease(token)
    return counted(isPublished ? "Exchanged" : "ExchangedAlone", token)
  })

/** Exchanges the key without publishing the token, because another replica may hold the lease. */
const exchangeAlone = ({ exchange }: Acquisition): Effect.Effect<Token, TokenError> =>
  Effect.map(Effect.interruptible(exchange), (token) => counted("ExchangedAlone", token))

/**
 * Whether a round may take the lease, because its holder may have died or failed to exchange the key. Rounds 1 to 3 don't try, so a
 * replica that gets a peer's token after a second has made only six calls: five reads, and one for the lease. All later rounds do. They
 * start less than a second apart.
 */
const mayTakeLease = (round: number): boolean => round === 0 || round > 3

/**
 * The waits before the next reads, which come about 110, 270, 560 and 1,070 ms after the first one: soon after exchanges that take 0, 200,
 * 500 and 1,000 ms.
 */
const firstWaits = [110, 160, 290, 510]

const laterWait = 850

/** Each wait varies by up to this much in both directions, so that replicas that start together drift apart. */
const jitter = 15

/** Returns the length of the next wait, after this many earlier ones. `random` is between 0 and 1. */
const waitAfter = (waits: number, random: number): number =>
  Math.round((firstWaits[waits] ?? laterWait) + jitter * (2 * random - 1))

/** How a round ended. `Wait` means that a peer may hold the lease, and `wasHeld` that the round asked for the lease and didn't get it. */
type RoundEnd =
  | { readonly _tag: "PeerToken"; readonly token: Token }
  | { readonly _tag: "Leased" }
  | { readonly _tag: "Wait"; readonly wasHeld: boolean }
  | { readonly _tag: "CacheFailed"; readonly error: SharedTokenCacheError }

const runRound = (acquisition: Acquisition, round: number): Effect.Effect<RoundEnd> =>
  Effect.gen(function*() {
    const published = yield* Effect.interruptible(readPeerToken(acquisition))
    if (Option.isSome(published)) return { _tag: "PeerToken" as const, token: published.value }
    const isLate = (yield* currentMonotonicMillis) >= acquisition.waitsUntil
    if (isLate || !mayTakeLease(round)) return { _tag: "Wait" as const, wasHeld: false }
    return (yield* acquisition.entry.takeLease) ? { _tag: "Leased" as const } : { _tag: "Wait" as const, wasHeld: true }
  }).pipe(Effect.catchAll((error) => Effect.succeed({ _tag: "CacheFailed" as const, error })))

/**
 * Returns the time at which the replica gives up on a cache that fails now, on the monotonic clock. It is random, so that the exchanges of
 * all replicas are spread if the cache doesn't recover.
 */
const endOfOutage = ({ maxCacheOutage, waitsUntil }: Acquisition): Effect.Effect<number> =>
  Effect.gen(function*() {
    const now = yield* currentMonotonicMillis
    return now + Math.min(maxCacheOutage, waitsUntil - now) * (yield* Random.next)
  })

/**
 * Runs rounds until one of them gets the token of a peer or of an exchange. If the cache fails in a round, that round is repeated, because
 * the cache may recover. If this is interrupted, it still releases its lease and publishes a token that it has received: only reads, waits
 * and the exchange can be interrupted.
 */
export const acquireToken = (acquisition: Acquisition): Effect.Effect<Token, TokenError> =>
  Effect.gen(function*() {
    let round = 0
    let hasFailed = false
    let wasLeaseHeld = false
    /** The time at which it gives up on a cache that fails, on the monotonic clock. Undefined if the last round succeeded. */
    let outageEndsAt: number | undefined

    for (let waits = 0;; waits += 1) {
      const end = yield* runRound(acquisition, round)
      switch (end._tag) {
        case "PeerToken":
          return counted("HandedOver", end.token)
        case "Leased":
          return yield* exchangeForAll(acquisition)
        case "Wait":
          round += 1
          outageEndsAt = undefined
          wasLeaseHeld ||= end.wasHeld
          break
        case "CacheFailed":
          yield* hasFailed ? countFailure(end.error) : reportFailure(end.error)
          hasFailed = true
          outageEndsAt ??= yield* endOfOutage(acquisition)
      }
      const remaining = (outageEndsAt ?? acquisition.waitsUntil) - (yield* currentMonotonicMillis)
      if (remaining <= 0) {
        if (wasLeaseHeld && outageEndsAt === undefined) yield* reportHeldLease
        return yield* exchangeAlone(acquisition)
      }
      // Whole milliseconds, because the timer for a fraction of one may fire before the clock has moved.
      yield* Effect.interruptible(
        Effect.sleep(Math.min(Math.ceil(remaining), waitAfter(waits, yield* Random.next)))
      )
    }
  }).pipe(Effect.uninterruptible)
