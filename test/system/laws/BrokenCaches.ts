/** Caches that keep all promises but one. */
import { Effect, Option, Stream } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"

type Service = SharedTokenCache.Service

type Flaw = (cache: Service) => Partial<Service>

/** What is wrong with it, how that is done, and the laws that it breaks. */
export type Broken = readonly [what: string, flaw: Flaw, laws: ReadonlyArray<string>]

const law = {
  none: "read finds nothing where nothing was written, and write writes nothing over what is gone",
  asWritten: "read gives an entry as it was written, one of 12 kB too",
  names: "read gives the entry of this very name, to the case of a letter",
  replaces: "write replaces what was read",
  leaves: "write leaves anything but what was read, to the case of a letter",
  writeOneStep: "write compares and writes in one step: of ten at once, one writes",
  time: "write keeps an entry for its time, in milliseconds, also in place of a shorter one",
  over: "an entry whose time is over is nothing, for read, remove and write",
  remove: "remove takes away what was read, once",
  removeLeaves: "remove leaves anything but what was read, to the case of a letter",
  leaseNames: "lease names its holder to others while its time lasts",
  leaseTime: "lease is given to the first who asks, with no more time for asking again",
  leaseOneStep: "lease is given in one step: of ten at once, one holds it, and all hear the same",
  leaseEnds: "lease ends by itself when its time is over, and is not its owner's to release then",
  leaseApart: "lease is one for each name, apart from the entry",
  release: "release ends the lease of its owner",
  releaseLeaves: "release leaves the lease of anyone else",
  changesWrite: "changes tells a watch that stands of a write",
  changesRelease: "changes tells a watch that stands of a release"
}

const leaseLaws = [
  law.leaseNames,
  law.leaseTime,
  law.leaseOneStep,
  law.leaseEnds,
  law.leaseApart,
  law.release,
  law.releaseLeaves
]

const readLaws = [
  law.none,
  law.asWritten,
  law.names,
  law.replaces,
  law.leaves,
  law.writeOneStep,
  law.time,
  law.over,
  law.remove,
  law.removeLeaves,
  law.leaseApart
]

const removeLaws = [law.over, law.remove, law.removeLeaves]

const changesLaws = [law.changesWrite, law.changesRelease]

const minute = 60_000

/** What nobody may see: it stands in what the broken caches answer and throw. */
export const foreignEntry = "v1.foreign-entry.of-someone-else"

const alike = (cache: Service, name: string, entry: string) =>
  Effect.map(
    cache.read(name),
    Option.filter((found) => found.toLowerCase() === entry.toLowerCase())
  )

const twoSteps = Effect.sleep("10 millis")

export const brokenCaches: ReadonlyArray<Broken> = [
  ["whose read finds the entry of someone else", () => ({ read: () => Effect.succeedSome(foreignEntry) }), readLaws],
  ["whose names have no case", (cache) => ({
    read: (name) => cache.read(name.toLowerCase()),
    write: (name, entry, options) => cache.write(name.toLowerCase(), entry, options),
    remove: (name, entry) => cache.remove(name.toLowerCase(), entry),
    lease: (name, owner, duration) => cache.lease(name.toLowerCase(), owner, duration),
    release: (name, owner) => cache.release(name.toLowerCase(), owner),
    changes: (name) => cache.changes(name.toLowerCase())
  }), [law.names, law.leaseApart]],
  [
    "whose entries are cut",
    (cache) => ({ write: (name, entry, options) => cache.write(name, entry.slice(0, 1_000), options) }),
    [law.asWritten]
  ],
  ["whose write ignores what it is to be written over", (cache) => ({
    write: (name, entry, options) =>
      Effect.flatMap(cache.read(name), (over) => cache.write(name, entry, { ...options, over }))
  }), [law.none, law.leaves, law.writeOneStep, law.over]],
  ["whose write compares without regard to case", (cache) => ({
    write: (name, entry, options) =>
      Effect.flatMap(
        Option.match(options.over, { onNone: () => Effect.succeedNone, onSome: (over) => alike(cache, name, over) }),
        (found) => cache.write(name, entry, { ...options, over: Option.orElse(found, () => options.over) })
      )
  }), [law.leaves]],
  ["whose write compares first and writes then", (cache) => ({
    write: (name, entry, { over, timeToLive }) =>
      Effect.gen(function*() {
        const found = yield* cache.read(name)
        yield* twoSteps
        if (Option.getOrUndefined(found) !== Option.getOrUndefined(over)) return false
        return yield* cache.write(name, entry, { over: yield* cache.read(name), timeToLive })
      })
  }), [law.writeOneStep]],
  [
    "whose write tells that it wrote where it did not",
    (cache) => ({ write: (name, entry, options) => Effect.as(cache.write(name, entry, options), true) }),
    [law.none, law.leaves, law.writeOneStep, law.over]
  ],
  ["whose entries outlive their time", (cache) => ({
    write: (name, entry, { over }) => cache.write(name, entry, { over, timeToLive: minute })
  }), [law.over]],
  ["whose entries end before their time", (cache) => ({
    write: (name, entry, { over, timeToLive }) =>
      cache.write(name, entry, { over, timeToLive: Math.min(timeToLive, 3_800) })
  }), [law.time]],
  ["whose write leaves the time of what it replaces", (cache) => {
    const ends = new Map<string, number>()
    return {
      write: (name, entry, { over, timeToLive }) =>
        Effect.suspend(() => {
          const end = Option.isSome(over) ? ends.get(name) ?? 0 : Date.now() + timeToLive
          ends.set(name, end)
          return cache.write(name, entry, { over, timeToLive: Math.max(1, end - Date.now()) })
        })
    }
  }, [law.time]],
  ["whose remove ignores the entry", (cache) => ({
    remove: (name) => Effect.flatMap(cache.read(name), (found) => cache.remove(name, Option.getOrElse(found, () => "")))
  }), [law.removeLeaves]],
  ["whose remove removes nothing", () => ({ remove: () => Effect.succeed(true) }), removeLaws],
  [
    "whose lease is given to everyone",
    () => ({ lease: (_, owner, remaining) => Effect.succeed({ owner, remaining }) }),
    leaseLaws.filter((title) => title !== law.leaseApart).concat(law.changesRelease)
  ],
  ["whose lease is looked for first and taken then", (cache) => ({
    lease: (name, owner, duration) =>
      Effect.gen(function*() {
        const held = yield* cache.lease(name, "nobody", 1)
        yield* twoSteps
        if (held.owner !== "nobody") return yield* cache.lease(name, owner, duration)
        yield* cache.release(name, (yield* cache.lease(name, owner, duration)).owner)
        return yield* cache.lease(name, owner, duration)
      })
  }), [law.leaseOneStep]],
  ["whose lease never ends", (cache) => ({ lease: (name, owner) => cache.lease(name, owner, minute) }), [
    law.leaseEnds
  ]],
  ["whose lease is longer for asking again", (cache) => ({
    lease: (name, owner, duration) => Effect.zipRight(cache.release(name, owner), cache.lease(name, owner, duration))
  }), [law.leaseTime]],
  ["whose lease tells of a negative time", (cache) => ({
    lease: (name, owner, duration) =>
      Effect.map(cache.lease(name, owner, duration), ({ owner, remaining }) => ({ owner, remaining: -remaining }))
  }), [...leaseLaws, law.changesRelease]],
  ["whose lease tells of a time that is no number", (cache) => ({
    lease: (name, owner, duration) =>
      Effect.map(cache.lease(name, owner, duration), ({ owner }) => ({ owner, remaining: Number.NaN }))
  }), [...leaseLaws, law.changesRelease]],
  ["whose leases and entries lie in one place", (cache) => ({
    release: (name, owner) =>
      Effect.zipRight(
        Effect.flatMap(
          cache.read(name),
          Option.match({
            onNone: () => Effect.void,
            onSome: (entry) => cache.remove(name, entry)
          })
        ),
        cache.release(name, owner)
      )
  }), [law.leaseApart]],
  ["whose release is for anyone", (cache) => ({
    release: (name) =>
      Effect.flatMap(
        cache.lease(name, "", 1),
        ({ owner }) => Effect.map(cache.release(name, owner), () => owner !== "")
      )
  }), [law.leaseEnds, law.releaseLeaves]],
  ["whose release does nothing", () => ({ release: () => Effect.succeed(true) }), [
    law.leaseEnds,
    law.release,
    law.releaseLeaves,
    law.changesRelease
  ]],
  ["whose changes begin and never tell", () => ({
    changes: () => Stream.concat(Stream.make(undefined), Stream.never)
  }), changesLaws],
  ["whose changes tell of the past twice and of nothing then", () => ({
    changes: () => Stream.concat(Stream.make(undefined, undefined), Stream.never)
  }), changesLaws],
  ["whose changes tell nothing at the beginning", (cache) => ({
    changes: (name) => Stream.drop(cache.changes(name), 1)
  }), changesLaws],
  ["whose changes end", (cache) => ({ changes: (name) => Stream.take(cache.changes(name), 1) }), changesLaws],
  ["whose changes die", () => ({ changes: () => Stream.die(new Error(foreignEntry)) }), changesLaws],
  [
    "whose remove hangs and can't be interrupted",
    () => ({ remove: () => Effect.uninterruptible(Effect.never) }),
    removeLaws
  ],
  ["whose remove dies", () => ({ remove: () => Effect.die(new RangeError(foreignEntry)) }), removeLaws],
  ["whose remove interrupts itself", () => ({ remove: () => Effect.interrupt }), removeLaws],
  ["whose remove throws before it gives an effect", () => ({
    remove: () => {
      throw new Error(foreignEntry)
    }
  }), removeLaws],
  ["whose remove fails", () => ({
    remove: () => new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable", code: "READONLY" })
  }), removeLaws],
  [
    "whose read is something else than an Option",
    () => ({ read: () => Effect.sync(() => JSON.parse("null")) }),
    readLaws
  ]
]
