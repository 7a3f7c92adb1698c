/**
 * Where replicas leave a token for each other: entries that are replaced by comparison, and a lease for the one who exchanges.
 *
 * @since 1.0.0
 */
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as KeyValueCache from "./internal/cache/keyValue.js"
import * as MemoryCache from "./internal/cache/memory.js"

const sentences = {
  Unavailable: (code: string) =>
    `The shared token cache could not be used${code}: see whether it runs and takes writes.`,
  Timeout: () => "The shared token cache did not answer in time: see whether it is overloaded or cut off.",
  Defect: () => "The shared token cache ended in a defect: see the layer that makes it."
}

/**
 * The cache failed. No search ends in this error: SharedTokenIssuer exchanges by itself, and logs a warning.
 *
 * @since 1.0.0
 * @category errors
 */
export class SharedTokenCacheError extends Schema.TaggedError<SharedTokenCacheError>(
  "effect-nutrition-advisor/SharedTokenCacheError"
)("SharedTokenCacheError", {
  reason: Schema.Literal("Unavailable", "Timeout", "Defect"),
  /** The cache's own code for it, such as READONLY or OOM. */
  code: Schema.optional(Schema.String.pipe(Schema.pattern(/^\w{1,40}$/)))
}) {
  override get message(): string {
    const code = this.code === undefined ? "" : ` (${this.code})`
    return sentences[this.reason](code)
  }
}

/**
 * Who exchanges the license key now, and how long that may last.
 *
 * @since 1.0.0
 * @category models
 */
export interface Lease {
  readonly owner: string
  /** Milliseconds until the lease ends by itself. */
  readonly remaining: number
}

/**
 * Names are keyed hashes and entries are sealed by SharedTokenIssuer: a cache never sees a token, and need not keep secrets. Each
 * call can end in SharedTokenCacheError.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The entry under this name as it was written, if there is one; one of more than 16 KiB is none, also for the others. */
  readonly read: (name: string) => Effect.Effect<Option.Option<string>, SharedTokenCacheError>
  /**
   * Writes only over the entry that was read, or if none was read and there is none; returns whether it did. An entry of more than
   * 16 KiB is not written.
   */
  readonly write: (
    name: string,
    entry: string,
    options: {
      readonly over: Option.Option<string>
      /** Milliseconds after which the entry may be dropped. */
      readonly timeToLive: number
    }
  ) => Effect.Effect<boolean, SharedTokenCacheError>
  /** Removes only the entry that was read; returns whether it did. */
  readonly remove: (name: string, entry: string) => Effect.Effect<boolean, SharedTokenCacheError>
  /** Gives the owner the lease for this many milliseconds if nobody has it; returns who has it now. */
  readonly lease: (name: string, owner: string, duration: number) => Effect.Effect<Lease, SharedTokenCacheError>
  /** Ends the lease only if this owner has it; returns whether it did. */
  readonly release: (name: string, owner: string) => Effect.Effect<boolean, SharedTokenCacheError>
  /** One element when the watch has begun, and one after each write and release; more do no harm. */
  readonly changes: (name: string) => Stream.Stream<void, SharedTokenCacheError>
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

/**
 * A cache in the memory of one process: for tests, and as a model of what a cache has to do.
 *
 * @since 1.0.0
 * @category constructors
 */
export const makeMemory: Effect.Effect<Service> = MemoryCache.make

/**
 * A cache in the memory of one process: for tests.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerMemory: Layer.Layer<SharedTokenCache> = Layer.effect(SharedTokenCache, makeMemory)

/**
 * A cache over the KeyValueStore in the context, for the processes of one machine: see `layerKeyValueStore`.
 *
 * @since 1.0.0
 * @category constructors
 */
export const makeKeyValueStore: Effect.Effect<Service, never, KeyValueStore.KeyValueStore> = KeyValueCache.make(
  (code) => new SharedTokenCacheError({ reason: "Unavailable", code })
)

/**
 * A cache over the KeyValueStore in the context, for the processes of one machine: a directory, for example.
 *
 * A KeyValueStore can't compare and write in one step, and can't report a change. So a lease counts only after it has been there
 * for 15 ms, and processes that wait look every 25 ms. If two processes stall in just that moment, both may exchange, and the
 * later entry stays: one token too many, never a wrong one. Do not use a network file system: it shows writes late.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerKeyValueStore: Layer.Layer<SharedTokenCache, never, KeyValueStore.KeyValueStore> = Layer.effect(
  SharedTokenCache,
  makeKeyValueStore
)
