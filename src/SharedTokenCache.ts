/**
 * Where replicas leave a token for each other: entries that are replaced by comparison, and a lease for the one who exchanges.
 *
 * @since 1.0.0
 */
import type * as PlatformError from "@effect/platform/Error"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const sentences = {
  Unavailable: (code: string) =>
    `The shared token cache could not be used${code}: see whether it runs and takes writes.`,
  Timeout: () => "The shared token cache did not answer in time: see whether it is overloaded or cut off.",
  Defect: () => "The shared token cache ended in a defect: see the layer that makes it."
}

/**
 * The cache gave no answer. A search never ends in it: SharedTokenIssuer then exchanges by itself, and warns.
 *
 * @since 1.0.0
 * @category errors
 */
export class SharedTokenCacheError extends Schema.TaggedError<SharedTokenCacheError>(
  "effect-nutrition-advisor/SharedTokenCacheError"
)("SharedTokenCacheError", {
  reason: Schema.Literal("Unavailable", "Timeout", "Defect"),
  /** What the cache calls it, in one word, such as READONLY or OOM. */
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
  /** The entry under this name as it was written, if there is one. */
  readonly read: (name: string) => Effect.Effect<Option.Option<string>, SharedTokenCacheError>
  /** Writes only over what was read, or where nothing was read and nothing is; tells whether it did. */
  readonly write: (
    name: string,
    entry: string,
    options: {
      readonly over: Option.Option<string>
      /** Milliseconds after which the entry may be dropped. */
      readonly timeToLive: number
    }
  ) => Effect.Effect<boolean, SharedTokenCacheError>
  /** Removes only what was read; tells whether it did. */
  readonly remove: (name: string, entry: string) => Effect.Effect<boolean, SharedTokenCacheError>
  /** Takes the lease for so many milliseconds where nobody holds it, and tells who holds it then. */
  readonly lease: (name: string, owner: string, duration: number) => Effect.Effect<Lease, SharedTokenCacheError>
  /** Ends the owner's own lease; tells whether it still was the owner's. */
  readonly release: (name: string, owner: string) => Effect.Effect<boolean, SharedTokenCacheError>
  /** An element once the watch has begun, and one whenever an entry was written or a lease released, or may have been. */
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

interface Timed<A> {
  readonly value: A
  /** Epoch milliseconds. */
  readonly until: number
}

interface Memory {
  readonly entries: ReadonlyMap<string, Timed<string>>
  readonly leases: ReadonlyMap<string, Timed<string>>
}

const valid = <A>(map: ReadonlyMap<string, Timed<A>>, name: string, now: number): Timed<A> | undefined => {
  const timed = map.get(name)
  return timed !== undefined && now < timed.until ? timed : undefined
}

const withEntry = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> => new Map(map).set(key, value)

const without = <K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> =>
  new Map([...map].filter(([known]) => known !== key))

/**
 * A cache in the memory of one process: for tests, and as a model of what a cache has to do.
 *
 * @since 1.0.0
 * @category constructors
 */
export const makeMemory: Effect.Effect<Service> = Effect.gen(function*() {
  const memory = yield* Ref.make<Memory>({ entries: new Map(), leases: new Map() })
  const changed = yield* PubSub.sliding<string>(64)

  const modify = <A>(f: (memory: Memory, now: number) => readonly [A, Memory]) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.modify(memory, (memory) => f(memory, now)))

  const announcing = (name: string, change: Effect.Effect<boolean>) =>
    Effect.tap(change, (did) => did ? PubSub.publish(changed, name) : Effect.void)

  return {
    read: (name) => modify((memory, now) => [Option.fromNullable(valid(memory.entries, name, now)?.value), memory]),
    write: (name, entry, { over, timeToLive }) =>
      announcing(
        name,
        modify((memory, now) =>
          valid(memory.entries, name, now)?.value === Option.getOrUndefined(over)
            ? [true, { ...memory, entries: withEntry(memory.entries, name, { value: entry, until: now + timeToLive }) }]
            : [false, memory]
        )
      ),
    remove: (name, entry) =>
      modify((memory, now) =>
        valid(memory.entries, name, now)?.value === entry
          ? [true, { ...memory, entries: without(memory.entries, name) }]
          : [false, memory]
      ),
    lease: (name, owner, duration) =>
      modify((memory, now) => {
        const held = valid(memory.leases, name, now)
        return held === undefined
          ? [{ owner, remaining: duration }, {
            ...memory,
            leases: withEntry(memory.leases, name, { value: owner, until: now + duration })
          }]
          : [{ owner: held.value, remaining: held.until - now }, memory]
      }),
    release: (name, owner) =>
      announcing(
        name,
        modify((memory, now) =>
          valid(memory.leases, name, now)?.value === owner
            ? [true, { ...memory, leases: without(memory.leases, name) }]
            : [false, memory]
        )
      ),
    changes: (name) =>
      Stream.unwrapScoped(Effect.map(
        Stream.fromPubSub(changed, { scoped: true }),
        (names) =>
          Stream.concat(Stream.make(undefined), Stream.map(Stream.filter(names, (one) => one === name), () => {}))
      ))
  }
})

/**
 * A cache in the memory of one process: for tests.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerMemory: Layer.Layer<SharedTokenCache> = Layer.effect(SharedTokenCache, makeMemory)

const TimedText = Schema.parseJson(Schema.Struct({ value: Schema.String, until: Schema.JsonNumber }))

/** How long a lease must have stood unchallenged, in milliseconds: two may have seen it free at the same moment. */
const settling = 15

/** How often those who wait look again, in milliseconds: a KeyValueStore tells nobody of a change. */
const interval = 25

const unavailable = (error: PlatformError.PlatformError) =>
  new SharedTokenCacheError({
    reason: "Unavailable",
    code: error._tag === "SystemError" ? error.reason : error._tag
  })

const isNotFound = (error: PlatformError.PlatformError) => error._tag === "SystemError" && error.reason === "NotFound"

/**
 * A cache over the KeyValueStore in the context, for the processes of one machine: see `layerKeyValueStore`.
 *
 * @since 1.0.0
 * @category constructors
 */
export const makeKeyValueStore: Effect.Effect<Service, never, KeyValueStore.KeyValueStore> = Effect.gen(function*() {
  const store = yield* KeyValueStore.KeyValueStore
  const decodeTimedText = Schema.decodeOption(TimedText)
  const encodeTimedText = Schema.encodeSync(TimedText)

  const entryOf = (name: string) => `${name}.token`
  const leaseOf = (name: string) => `${name}.lease`

  const get = (key: string) =>
    Effect.gen(function*() {
      const text = yield* Effect.mapError(store.get(key), unavailable)
      const now = yield* Clock.currentTimeMillis
      return Option.filter(Option.flatMap(text, (text) => decodeTimedText(text)), ({ until }) => now < until)
    })

  const set = (key: string, value: string, duration: number) =>
    Effect.flatMap(
      Clock.currentTimeMillis,
      (now) => Effect.mapError(store.set(key, encodeTimedText({ value, until: now + duration })), unavailable)
    )

  const removeIf = (key: string, value: string) =>
    Effect.flatMap(get(key), (found) =>
      Option.exists(found, (timed) => timed.value === value)
        ? store.remove(key).pipe(
          Effect.as(true),
          Effect.catchIf(isNotFound, () => Effect.succeed(false)),
          Effect.mapError(unavailable)
        )
        : Effect.succeed(false))

  const lease: Service["lease"] = (name, owner, duration) =>
    Effect.gen(function*() {
      const key = leaseOf(name)
      const held = yield* get(key)
      if (Option.isSome(held)) {
        return { owner: held.value.value, remaining: held.value.until - (yield* Clock.currentTimeMillis) }
      }
      yield* set(key, owner, duration)
      yield* Effect.sleep(settling)
      return yield* lease(name, owner, duration)
    })

  return {
    read: (name) => Effect.map(get(entryOf(name)), Option.map(({ value }) => value)),
    write: (name, entry, { over, timeToLive }) =>
      Effect.gen(function*() {
        const found = yield* get(entryOf(name))
        if (Option.getOrUndefined(found)?.value !== Option.getOrUndefined(over)) return false
        yield* set(entryOf(name), entry, timeToLive)
        return true
      }),
    remove: (name, entry) => removeIf(entryOf(name), entry),
    lease,
    release: (name, owner) => removeIf(leaseOf(name), owner),
    changes: () => Stream.tick(interval)
  }
})

/**
 * A cache over the KeyValueStore in the context, for the processes of one machine: a directory, for example.
 *
 * A KeyValueStore can neither compare and write at once nor tell of a change. So a lease is written, and counts once it has
 * stood for 15 ms; those who wait look every 25 ms. Two processes that stall in just that moment may both exchange, and the
 * later entry stays: a token bought in vain, never a wrong one. Not for a network file system, whose clients see writes late.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerKeyValueStore: Layer.Layer<SharedTokenCache, never, KeyValueStore.KeyValueStore> = Layer.effect(
  SharedTokenCache,
  makeKeyValueStore
)
