import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import * as Entry from "./entry.js"

interface Timed {
  readonly value: string
  /** Epoch milliseconds. */
  readonly until: number
}

type Texts = Map<string, Timed>

const valid = (texts: Texts, name: string, now: number): Timed | undefined => {
  const timed = texts.get(name)
  return timed !== undefined && now < timed.until ? timed : undefined
}

const removeIf = (texts: Texts, name: string, value: string) => (now: number): boolean =>
  valid(texts, name, now)?.value === value && texts.delete(name)

export const make = Effect.gen(function*() {
  const entries: Texts = new Map()
  const leases: Texts = new Map()
  const changed = yield* PubSub.sliding<string>(64)

  const withNow = <A>(change: (now: number) => A) => Effect.map(Clock.currentTimeMillis, change)

  const announcing = (name: string, change: (now: number) => boolean) =>
    Effect.tap(withNow(change), (did) => did ? PubSub.publish(changed, name) : Effect.void)

  return {
    read: (name: string) => withNow((now) => Option.fromNullable(valid(entries, name, now)?.value)),
    write: (
      name: string,
      entry: string,
      { over, timeToLive }: { readonly over: Option.Option<string>; readonly timeToLive: number }
    ) =>
      announcing(name, (now) => {
        if (Entry.isTooLong(entry) || valid(entries, name, now)?.value !== Option.getOrUndefined(over)) return false
        entries.set(name, { value: entry, until: now + timeToLive })
        return true
      }),
    remove: (name: string, entry: string) => withNow(removeIf(entries, name, entry)),
    lease: (name: string, owner: string, duration: number) =>
      withNow((now) => {
        const held = valid(leases, name, now)
        if (held !== undefined) return { owner: held.value, remaining: held.until - now }
        leases.set(name, { value: owner, until: now + duration })
        return { owner, remaining: duration }
      }),
    release: (name: string, owner: string) => announcing(name, removeIf(leases, name, owner)),
    changes: (name: string): Stream.Stream<void> =>
      Stream.unwrapScoped(Effect.map(
        Stream.fromPubSub(changed, { scoped: true }),
        (names) =>
          Stream.concat(Stream.make(undefined), Stream.map(Stream.filter(names, (one) => one === name), () => {}))
      ))
  }
})
