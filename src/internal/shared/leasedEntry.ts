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

/**
 * Reads and writes the entry of a license key in the cache, and takes its lease. Work that continues after the token was returned runs in
 * `scope`.
 */
export const make = (
  cache: Service,
  { cacheTimeout, lease }: SharingSettings,
  scope: Scope.Scope,
  seal: Seal
) => {
  const { encrypt, name } = seal
  const reader = makeReader(cache, seal)
  const withCacheTimeout = <A>(call: Effect.Effect<A, SharedTokenCacheError>) =>
    withTimeout(call, cacheTimeout, () => new SharedTokenCacheError({ reason: "Timeout" }))
  /** Each attempt to take the lease is another owner, so that the release of a failed attempt can't end the lease of a later one. */
  let owner = ""

  /** Returns false if the lease has ended: the exchange took too long, or the cache dropped the lease, as Redis does if it evicts keys. */
  const write = (token: AccessToken) =>
    Effect.gen(function*() {
      const timeToLive = Math.max(1, token.expiresAt - (yield* Clock.currentTimeMillis))
      return yield* cache.write(name, yield* encrypt(reader.notOlderThanRead(token)), { owner, timeToLive })
    })

  const endLease = Effect.suspend(() => cache.release(name, owner))

  /**
   * Releases a lease in the background, because the cache may grant it although the call for it failed. Over a pool of connections, a call
   * that exceeds its timeout may even reach the cache after its release, so the lease is then released again four times. With the default
   * settings, the last time is when it would expire. Closing the scope waits for the first release only.
   */
  const endLateLease = ({ reason }: SharedTokenCacheError) => {
    const lateOwner = owner
    const end = Effect.ignore(withCacheTimeout(Effect.suspend(() => cache.release(name, lateOwner))))
    const endAfter = (timeouts: number) =>
      Effect.zipRight(Effect.interruptible(Effect.sleep(timeouts * cacheTimeout)), end)
    const endAgain = Effect.forEach(reason === "Timeout" ? [1, 2, 4, 8] : [], endAfter, { discard: true })
    return Effect.forkIn(Effect.zipRight(end, endAgain), scope)
  }

  return {
    /** Reads the token, with the times that its publisher gave it. */
    read: withCacheTimeout(reader.read),
    /**
     * Takes the lease if it is free, and returns whether it did. If the call fails, the cache may have granted the lease anyway, so it is
     * released in the background.
     */
    takeLease: Effect.suspend(() => {
      owner = globalThis.crypto.randomUUID()
      return Effect.tapError(withCacheTimeout(cache.lease(name, owner, lease)), endLateLease)
    }),
    release: Effect.catchAll(withCacheTimeout(endLease), reportFailure),
    /**
     * Publishes the token before it releases the lease, so that the next holder of the lease finds the token. Both calls share one timeout,
     * which also elapses if the process is busy or suspended. The lease is then released in the background. Returns whether the token was
     * published.
     */
    publishAndRelease: (token: AccessToken): Effect.Effect<boolean> => {
      let isPublished = false
      const publish = Effect.flatMap(write(token), (isWritten) => {
        isPublished = isWritten
        return isWritten ? Effect.void : reportLostLease
      })
      return publish.pipe(
        Effect.catchAll(reportFailure),
        Effect.zipRight(endLease),
        withCacheTimeout,
        Effect.tapError((error) => error.reason === "Timeout" ? endLateLease(error) : Effect.void),
        Effect.catchAll(reportFailure),
        Effect.map(() => isPublished)
      )
    }
  }
}

export type LeasedEntry = ReturnType<typeof make>
