/**
 * The cache through which replicas share a token. Under each name, it holds one entry, and a lease for the replica that exchanges the
 * license key.
 *
 * @since 1.0.0
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { currentMonotonicMillis } from "./internal/runtime/clock.js"

const codePattern = /^\w{1,64}$/

/**
 * The cache failed. Searches never fail with this error: SharedTokenIssuer logs a warning and exchanges the license key itself. A `code`
 * that isn't a word of at most 64 characters is left out, because it may repeat a secret.
 *
 * @since 1.0.0
 * @category errors
 */
export class SharedTokenCacheError extends Schema.TaggedError<SharedTokenCacheError>(
  "effect-nutrition-advisor/SharedTokenCacheError"
)("SharedTokenCacheError", {
  /** Whether a call failed ("Unavailable"), or got no reply within `cacheTimeout` ("Timeout"). */
  reason: Schema.Literal("Unavailable", "Timeout"),
  /** The error code of the cache, such as READONLY or OOM. */
  code: Schema.optional(Schema.String.pipe(Schema.pattern(codePattern)))
}) {
  constructor(
    { code, ...others }: {
      readonly reason: "Unavailable" | "Timeout"
      readonly code?: string | number | undefined
    },
    options?: Schema.MakeOptions
  ) {
    // Some stores use codes such as 11000 and "deadline-exceeded". If they were rejected, each outage of the store would be a defect.
    const word = String(code ?? "")
    super({ ...others, ...codePattern.test(word) && { code: word } }, options)
  }

  override get message(): string {
    return this.reason === "Timeout"
      ? "The shared token cache did not respond in time. Check whether it is overloaded or unreachable."
      : `The shared token cache could not be used${this.code === undefined ? "" : ` (${this.code})`}. ` +
        "Check that it runs and accepts writes."
  }
}

/**
 * The operations of a cache. Names are keyed hashes, and SharedTokenIssuer encrypts the entries, so the cache never sees a token and
 * doesn't need to keep secrets. Each call can fail with SharedTokenCacheError.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** Returns the entry with this name, if there is one, as the string that was written. */
  readonly read: (name: string) => Effect.Effect<Option.Option<string>, SharedTokenCacheError>
  /** Replaces the entry if this owner holds the lease, and returns whether it did. The check and the write must be atomic. */
  readonly write: (
    name: string,
    entry: string,
    options: {
      readonly owner: string
      /** The time in milliseconds after which the cache may drop the entry. */
      readonly timeToLive: number
    }
  ) => Effect.Effect<boolean, SharedTokenCacheError>
  /** Gives the lease to the owner for `duration` milliseconds if it is free, and returns whether it did. */
  readonly lease: (name: string, owner: string, duration: number) => Effect.Effect<boolean, SharedTokenCacheError>
  /** Ends the lease if this owner holds it. */
  readonly release: (name: string, owner: string) => Effect.Effect<void, SharedTokenCacheError>
}

/**
 * The cache that replicas share, so that one token exchange is enough for all of them.
 *
 * @since 1.0.0
 * @category tags
 */
export class SharedTokenCache
  extends Context.Tag("effect-nutrition-advisor/SharedTokenCache")<SharedTokenCache, Service>()
{}

interface Expiring {
  readonly value: string
  /** In milliseconds, on the monotonic clock. */
  readonly until: number
}

const makeMemory: Effect.Effect<Service> = Effect.sync(() => {
  const entries = new Map<string, Expiring>()
  const leases = new Map<string, Expiring>()

  const valueIn = (values: Map<string, Expiring>, name: string, now: number) => {
    const expiring = values.get(name)
    return expiring !== undefined && now < expiring.until ? expiring.value : undefined
  }

  return {
    read: (name) => Effect.map(currentMonotonicMillis, (now) => Option.fromNullable(valueIn(entries, name, now))),
    write: (name, entry, { owner, timeToLive }) =>
      Effect.map(currentMonotonicMillis, (now) => {
        const isHolder = valueIn(leases, name, now) === owner
        if (isHolder) entries.set(name, { value: entry, until: now + timeToLive })
        return isHolder
      }),
    lease: (name, owner, duration) =>
      Effect.map(currentMonotonicMillis, (now) => {
        const isFree = valueIn(leases, name, now) === undefined
        if (isFree) leases.set(name, { value: owner, until: now + duration })
        return isFree
      }),
    release: (name, owner) =>
      Effect.sync(() => {
        if (leases.get(name)?.value === owner) leases.delete(name)
      })
  }
})

/**
 * Provides a cache in the memory of the process. Use it to share a token between the clients of one Worker, and in tests.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerMemory: Layer.Layer<SharedTokenCache> = Layer.effect(SharedTokenCache, makeMemory)
