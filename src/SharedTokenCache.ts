/**
 * Where replicas leave a token for each other: one entry under a name, and a lease for the one who exchanges.
 *
 * @since 1.0.0
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { currentMonotonicMillis } from "./internal/clock.js"

/**
 * The cache failed. No search ends in this error: SharedTokenIssuer exchanges by itself, and logs a warning.
 *
 * @since 1.0.0
 * @category errors
 */
export class SharedTokenCacheError extends Schema.TaggedError<SharedTokenCacheError>(
  "effect-nutrition-advisor/SharedTokenCacheError"
)("SharedTokenCacheError", {
  reason: Schema.Literal("Unavailable", "Timeout"),
  /** The cache's own code for it, such as READONLY or OOM. */
  code: Schema.optional(Schema.String.pipe(Schema.pattern(/^\w{1,64}$/)))
}) {
  override get message(): string {
    return this.reason === "Timeout"
      ? "The shared token cache did not answer in time: see whether it is overloaded or cut off."
      : `The shared token cache could not be used${this.code === undefined ? "" : ` (${this.code})`}: ` +
        "see whether it runs and takes writes."
  }
}

/**
 * What a cache does. Names are keyed hashes and entries are sealed by SharedTokenIssuer: a cache never sees a token, and need not
 * keep secrets. Each call can end in SharedTokenCacheError.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The entry under this name, if there is one. */
  readonly read: (name: string) => Effect.Effect<Option.Option<string>, SharedTokenCacheError>
  /** Replaces the entry, but only while this owner has the lease; returns whether it did. Looking and writing are one step. */
  readonly write: (
    name: string,
    entry: string,
    options: {
      readonly owner: string
      /** Milliseconds after which the entry may be dropped. */
      readonly timeToLive: number
    }
  ) => Effect.Effect<boolean, SharedTokenCacheError>
  /** Gives the owner the lease for this many milliseconds, but only if nobody has it; returns whether it did. */
  readonly lease: (name: string, owner: string, duration: number) => Effect.Effect<boolean, SharedTokenCacheError>
  /** Ends the lease, but only if this owner has it. */
  readonly release: (name: string, owner: string) => Effect.Effect<void, SharedTokenCacheError>
}

/**
 * What replicas share so that one exchange serves them all.
 *
 * @since 1.0.0
 * @category tags
 */
export class SharedTokenCache
  extends Context.Tag("effect-nutrition-advisor/SharedTokenCache")<SharedTokenCache, Service>()
{}

interface Expiring {
  readonly value: string
  /** In milliseconds of the monotonic clock. */
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
 * A cache in the memory of one process: for the clients of one Worker, and for tests.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerMemory: Layer.Layer<SharedTokenCache> = Layer.effect(SharedTokenCache, makeMemory)
