import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { AccessToken } from "../../AccessToken.js"
import { type Service, SharedTokenCacheError } from "../../SharedTokenCache.js"
import { withTimeout } from "../runtime/withTimeout.js"
import type { SharingSettings } from "../settings/sharing.js"
import { reportFailure, reportLostLease, reportUnreadableEntry } from "./report.js"
import type { Seal } from "./seal.js"

/** Moves both times of a token by a number of milliseconds, so that it lives as long as before on a clock that differs by as much. */
export const movedBy = (token: AccessToken, millis: number): AccessToken =>
  new AccessToken({ ...token, receivedAt: token.receivedAt + millis, expiresAt: token.expiresAt + millis })

/** Reads the entry, and remembers what it has read. */
const makeReader = (cache: Service, { decrypt, name }: Seal) => {
  /** The latest `receivedAt` of all tokens that were read. */
  let latestRead = Number.NEGATIVE_INFINITY
  let isReported = false

  /** Reports an entry that can't be decrypted, but only once, because it stays in the cache until a token is published. */
  const decryptOrReport = (entry: string) =>
    Effect.tap(decrypt(entry), (token) => {
      if (Option.isSome(token) || isReported) return Effect.void
      isReported = true
      return reportUnreadableEntry
    })

  return {
    read: Effect.suspend(() => cache.read(name)).pipe(
      Effect.flatMap(Option.match({ onNone: () => Effect.succeedNone, onSome: decryptOrReport })),
      Effect.map((token) => {
        if (Option.isSome(token)) latestRead = Math.max(latestRead, token.value.receivedAt)
        return token
      })
    ),
    /** Even if the clocks of two publishers differ, a token must not be older than the one it replaces: peers would ignore it. */
    notOlderThanRead: (token: AccessToken) => movedBy(token, Math.max(0, latestRead - token.receivedAt))
  }
}

/** A lease that this replica has taken. */
export interface Lease {
  readonly release: Effect.Effect<void>
  /**
   * Publishes the token before it releases the lease, so that the next holder of the lease finds the token. Both calls share one timeout,
   * which also elapses if the process is busy or suspended. The lease is then released in the background. Returns whether the token was
   * published.
   */
  readonly publishAndRelease: (token: AccessToken) => Effect.Effect<boolean>
}

/** Reads the entry of a license key in the cache, and takes its lease. Work that continues after the token was returned runs in `scope`. */
export const make = (
  cache: Service,
  { cacheTimeout, lease: leaseMillis }: SharingSettings,
  scope: Scope.Scope,
  seal: Seal
) => {
  const { encrypt, name } = seal
  const reader = makeReader(cache, seal)
  const withCacheTimeout = <A>(call: Effect.Effect<A, SharedTokenCacheError>) =>
    withTimeout(call, cacheTimeout, () => new SharedTokenCacheError({ reason: "Timeout" }))

  const release = (owner: string) => Effect.suspend(() => cache.release(name, owner))

  /**
   * Releases a lease in the background, because the cache may grant it although the call for it failed. Over a pool of connections, a call
   * that exceeds its timeout may even reach the cache after its release, so the lease is then released four more times, the last time at
   * about the time when it expires with the default settings. Closing the scope waits for the first release only.
   */
  const releaseInBackground = (owner: string, { reason }: SharedTokenCacheError) => {
    const attempt = Effect.ignore(withCacheTimeout(release(owner)))
    const attemptAfter = (timeouts: number) =>
      Effect.zipRight(Effect.interruptible(Effect.sleep(timeouts * cacheTimeout)), attempt)
    const attemptAgain = Effect.forEach(reason === "Timeout" ? [1, 2, 4, 8] : [], attemptAfter, { discard: true })
    return Effect.forkIn(Effect.zipRight(attempt, attemptAgain), scope)
  }

  /** Returns false if the lease has ended: the exchange took too long, or the cache dropped the lease, as Redis does if it evicts keys. */
  const write = (token: AccessToken, owner: string) =>
    Effect.gen(function*() {
      const timeToLive = Math.max(1, token.expiresAt - (yield* Clock.currentTimeMillis))
      return yield* cache.write(name, yield* encrypt(reader.notOlderThanRead(token)), { owner, timeToLive })
    })

  const publishAndRelease = (token: AccessToken, owner: string): Effect.Effect<boolean> => {
    let isPublished = false
    const publish = Effect.flatMap(write(token, owner), (isWritten) => {
      isPublished = isWritten
      return isWritten ? Effect.void : reportLostLease
    })
    return publish.pipe(
      Effect.catchAll(reportFailure),
      Effect.zipRight(release(owner)),
      withCacheTimeout,
      Effect.tapError((error) => error.reason === "Timeout" ? releaseInBackground(owner, error) : Effect.void),
      Effect.catchAll(reportFailure),
      Effect.map(() => isPublished)
    )
  }

  const leaseOf = (owner: string): Lease => ({
    release: Effect.catchAll(withCacheTimeout(release(owner)), reportFailure),
    publishAndRelease: (token) => publishAndRelease(token, owner)
  })

  return {
    /** Reads the token, with the times that its publisher gave it. */
    read: withCacheTimeout(reader.read),
    /**
     * Takes the lease if it is free. Each attempt is another owner, so that the release of a failed attempt can't end the lease of a later
     * one. If the call fails, the cache may have granted the lease anyway, so it is released in the background.
     */
    takeLease: Effect.suspend(() => {
      const owner = globalThis.crypto.randomUUID()
      return withCacheTimeout(cache.lease(name, owner, leaseMillis)).pipe(
        Effect.tapError((error) => releaseInBackground(owner, error)),
        Effect.map((isTaken) => isTaken ? Option.some(leaseOf(owner)) : Option.none())
      )
    })
  }
}

export type LeasedEntry = ReturnType<typeof make>
