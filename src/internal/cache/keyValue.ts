import type * as PlatformError from "@effect/platform/Error"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Entry from "./entry.js"

const TimedText = Schema.parseJson(Schema.Struct({ value: Schema.String, until: Schema.JsonNumber }))

const decodeTimedText = Schema.decodeOption(TimedText)

const encodeTimedText = Schema.encodeSync(TimedText)

/** What stands around a text in the store: its time and the names of the two. */
const frameBytes = 64

/** How long a lease must have stood unchallenged, in milliseconds: two may have seen it free at the same moment. */
const settling = 15

/** How often those who wait look again, in milliseconds: a KeyValueStore tells nobody of a change. */
const interval = 25

const isNotFound = (error: PlatformError.PlatformError) => error._tag === "SystemError" && error.reason === "NotFound"

const codeOf = (error: PlatformError.PlatformError) => error._tag === "SystemError" ? error.reason : error._tag

/** Texts with an end in a KeyValueStore. One that is too long is none, and is not decoded. */
const timedTexts = <E>(store: KeyValueStore.KeyValueStore, unavailable: (code: string) => E) => {
  const failed = (error: PlatformError.PlatformError) => unavailable(codeOf(error))

  const get = (key: string) =>
    Effect.gen(function*() {
      const text = yield* Effect.mapError(store.get(key), failed)
      const now = yield* Clock.currentTimeMillis
      return text.pipe(
        Option.filter((text) => text.length <= Entry.maxBytes + frameBytes),
        Option.flatMap((text) => decodeTimedText(text)),
        Option.filter(({ until, value }) => now < until && !Entry.isTooLong(value))
      )
    })

  /** Tells whether it did: what could not be read again is not written. */
  const set = (key: string, value: string, duration: number) =>
    Effect.gen(function*() {
      const text = encodeTimedText({ value, until: (yield* Clock.currentTimeMillis) + duration })
      if (text.length > Entry.maxBytes + frameBytes || Entry.isTooLong(value)) return false
      yield* Effect.mapError(store.set(key, text), failed)
      return true
    })

  const removeIf = (key: string, value: string) =>
    Effect.flatMap(get(key), (found) =>
      Option.exists(found, (timed) => timed.value === value)
        ? store.remove(key).pipe(
          Effect.as(true),
          Effect.catchIf(isNotFound, () => Effect.succeed(false)),
          Effect.mapError(failed)
        )
        : Effect.succeed(false))

  return { get, set, removeIf }
}

export const make = <E>(unavailable: (code: string) => E) =>
  Effect.map(KeyValueStore.KeyValueStore, (store) => {
    const { get, removeIf, set } = timedTexts(store, unavailable)

    const entryOf = (name: string) => `${name}.token`
    const leaseOf = (name: string) => `${name}.lease`

    const lease = (
      name: string,
      owner: string,
      duration: number
    ): Effect.Effect<{ readonly owner: string; readonly remaining: number }, E> =>
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
      read: (name: string) => Effect.map(get(entryOf(name)), Option.map(({ value }) => value)),
      write: (
        name: string,
        entry: string,
        { over, timeToLive }: { readonly over: Option.Option<string>; readonly timeToLive: number }
      ) =>
        Effect.flatMap(get(entryOf(name)), (found) =>
          Option.getOrUndefined(found)?.value === Option.getOrUndefined(over)
            ? set(entryOf(name), entry, timeToLive)
            : Effect.succeed(false)),
      remove: (name: string, entry: string) => removeIf(entryOf(name), entry),
      lease,
      release: (name: string, owner: string) => removeIf(leaseOf(name), owner),
      changes: (_name: string): Stream.Stream<void> => Stream.tick(interval)
    }
  })
