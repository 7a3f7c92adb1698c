import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as Entry from "./entry.js"

interface Timed {
  readonly value: string
  /** Epoch milliseconds. */
  readonly until: number
}

type Texts = ReadonlyMap<string, Timed>

interface Memory {
  readonly entries: Texts
  readonly leases: Texts
}

const empty: Memory = { entries: new Map(), leases: new Map() }

const valid = (texts: Texts, name: string, now: number): Timed | undefined => {
  const timed = texts.get(name)
  return timed !== undefined && now < timed.until ? timed : undefined
}

const withText = (texts: Texts, name: string, timed: Timed): Texts => new Map(texts).set(name, timed)

const without = (texts: Texts, name: string): Texts => new Map([...texts].filter(([known]) => known !== name))

/** A change of the memory at a time, and what it tells. */
type Change<A> = (memory: Memory, now: number) => readonly [A, Memory]

const reading = (name: string): Change<Option.Option<string>> => (memory, now) => [
  Option.fromNullable(valid(memory.entries, name, now)?.value),
  memory
]

const writing =
  (name: string, entry: string, over: Option.Option<string>, timeToLive: number): Change<boolean> => (memory, now) =>
    !Entry.isTooLong(entry) && valid(memory.entries, name, now)?.value === Option.getOrUndefined(over)
      ? [true, { ...memory, entries: withText(memory.entries, name, { value: entry, until: now + timeToLive }) }]
      : [false, memory]

const removing = (name: string, entry: string): Change<boolean> => (memory, now) =>
  valid(memory.entries, name, now)?.value === entry
    ? [true, { ...memory, entries: without(memory.entries, name) }]
    : [false, memory]

const leasing =
  (name: string, owner: string, duration: number): Change<{ readonly owner: string; readonly remaining: number }> =>
  (memory, now) => {
    const held = valid(memory.leases, name, now)
    return held === undefined
      ? [
        { owner, remaining: duration },
        { ...memory, leases: withText(memory.leases, name, { value: owner, until: now + duration }) }
      ]
      : [{ owner: held.value, remaining: held.until - now }, memory]
  }

const releasing = (name: string, owner: string): Change<boolean> => (memory, now) =>
  valid(memory.leases, name, now)?.value === owner
    ? [true, { ...memory, leases: without(memory.leases, name) }]
    : [false, memory]

export const make = Effect.gen(function*() {
  const memory = yield* Ref.make(empty)
  const changed = yield* PubSub.sliding<string>(64)

  const modify = <A>(change: Change<A>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.modify(memory, (memory) => change(memory, now)))

  const announcing = (name: string, change: Change<boolean>) =>
    Effect.tap(modify(change), (did) => did ? PubSub.publish(changed, name) : Effect.void)

  return {
    read: (name: string) => modify(reading(name)),
    write: (
      name: string,
      entry: string,
      { over, timeToLive }: { readonly over: Option.Option<string>; readonly timeToLive: number }
    ) => announcing(name, writing(name, entry, over, timeToLive)),
    remove: (name: string, entry: string) => modify(removing(name, entry)),
    lease: (name: string, owner: string, duration: number) => modify(leasing(name, owner, duration)),
    release: (name: string, owner: string) => announcing(name, releasing(name, owner)),
    changes: (name: string): Stream.Stream<void> =>
      Stream.unwrapScoped(Effect.map(
        Stream.fromPubSub(changed, { scoped: true }),
        (names) =>
          Stream.concat(Stream.make(undefined), Stream.map(Stream.filter(names, (one) => one === name), () => {}))
      ))
  }
})
