import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"

type Key = Redacted.Redacted<string>

/** The keys that an error text must not repeat: none before an effect has read one. */
export type KnownKeys = Effect.Effect<ReadonlyArray<Key>>

const keysKept = 4

/** What is not redacted is refused where it is read. */
const add = (keys: ReadonlyArray<Key>, key: Key) =>
  !Redacted.isRedacted(key) || keys.some((known) => Equal.equals(known, key)) ? keys : [...keys, key].slice(-keysKept)

export const of = <E>(licenseKey: Key | Effect.Effect<Key, E>): KnownKeys =>
  Effect.sync(() => Effect.isEffect(licenseKey) ? [] : [licenseKey])

/** The same license key, and the last few keys that were read of it: a token in use may be of an older one. */
export const remembering = <E>(
  licenseKey: Key | Effect.Effect<Key, E>
): Effect.Effect<readonly [Key | Effect.Effect<Key, E>, KnownKeys]> =>
  Effect.sync(() => {
    if (!Effect.isEffect(licenseKey)) return [licenseKey, of(licenseKey)]
    const keys = Ref.unsafeMake<ReadonlyArray<Key>>([])
    return [Effect.tap(licenseKey, (key) => Ref.update(keys, (keys) => add(keys, key))), Ref.get(keys)]
  })
