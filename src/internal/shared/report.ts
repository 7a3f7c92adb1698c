/** The metrics and log lines of a shared token. */
import * as Effect from "effect/Effect"
import type { SharedTokenCacheError } from "../../SharedTokenCache.js"
import { cacheFailures, sharedTokens } from "./metrics.js"

/** Counts a token by how this replica got it: `HandedOver` is a peer's token. */
export const countToken = (outcome: Parameters<typeof sharedTokens.count>[0]["outcome"]): Effect.Effect<void> =>
  Effect.sync(() => sharedTokens.count({ outcome }))

export const countFailure = ({ reason }: Pick<SharedTokenCacheError, "reason">): Effect.Effect<void> =>
  Effect.sync(() => cacheFailures.count({ reason }))

/** Counts a failed call, and logs a warning. */
export const reportFailure = (error: SharedTokenCacheError): Effect.Effect<void> =>
  Effect.zipRight(
    countFailure(error),
    Effect.logWarning(`${error.message} If it stays unavailable, each process exchanges the license key by itself.`)
  )

/** Replicas whose exchanges fail one after another hold the lease for this long, and so does a cache that doesn't end leases. */
export const reportHeldLease: Effect.Effect<void> = Effect.logWarning(
  "The lease in the shared token cache was not free in time. If no exchanges fail, check whether leases expire. " +
    "This process exchanges the license key by itself."
)

const reportUnavailable = (message: string) =>
  Effect.zipRight(countFailure({ reason: "Unavailable" }), Effect.logWarning(message))

export const reportLostLease: Effect.Effect<void> = reportUnavailable(
  "The lease in the shared token cache ended before the token could be published (LeaseLost), so other processes may exchange the " +
    "license key, too. Check whether the cache evicts or loses keys, whether `write` of a custom cache returns true, and whether this " +
    "process was suspended."
)

export const reportUnreadableEntry: Effect.Effect<void> = reportUnavailable(
  "The entry in the shared token cache could not be read (UnreadableEntry), so it is ignored. " +
    "Check whether the cache returns entries exactly as they were written."
)
