/** Caches that keep all promises but one. */
import { Effect, Option, Stream } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"

type Service = SharedTokenCache.Service

type Flaw = (cache: Service) => Partial<Service>

export interface Broken {
  readonly what: string
  readonly flaw: Flaw
  /** The laws that it breaks. */
  readonly laws: ReadonlyArray<string>
}

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
  {
    what: "whose read finds the entry of someone else",
    flaw: () => ({ read: () => Effect.succeedSome(foreignEntry) }),
    laws: readLaws
  },
  {
    what: "whose names have no case",
    flaw: (cache) => ({
      read: (name) => cache.read(name.toLowerCase()),
      write: (name, entry, options) => cache.write(name.toLowerCase(), entry, options),
      remove: (name, entry) => cache.remove(name.toLowerCase(), entry),
      lease: (name, owner, duration) => cache.lease(name.toLowerCase(), owner, duration),
      release: (name, owner) => cache.release(name.toLowerCase(), owner),
      changes: (name) => cache.changes(name.toLowerCase())
    }),
    laws: [law.names, law.leaseApart]
  },
  {
    what: "whose entries are cut",
    flaw: (cache) => ({ write: (name, entry, options) => cache.write(name, entry.slice(0, 1_000), options) }),
    laws: [law.asWritten]
  },
  {
    what: "whose write ignores what it is to be written over",
    flaw: (cache) => ({
      write: (name, entry, options) =>
        Effect.flatMap(cache.read(name), (over) => cache.write(name, entry, { ...options, over }))
    }),
    laws: [law.none, law.leaves, law.writeOneStep, law.over]
  },
  {
    what: "whose write compares without regard to case",
    flaw: (cache) => ({
      write: (name, entry, options) =>
        Effect.flatMap(
          Option.match(options.over, { onNone: () => Effect.succeedNone, onSome: (over) => alike(cache, name, over) }),
          (found) => cache.write(name, entry, { ...options, over: Option.orElse(found, () => options.over) })
        )
    }),
    laws: [law.leaves]
  },
  {
    what: "whose write compares first and writes then",
    flaw: (cache) => ({
      write: (name, entry, { over, timeToLive }) =>
        Effect.gen(function*() {
          const found = yield* cache.read(name)
          yield* twoSteps
          if (Option.getOrUndefined(found) !== Option.getOrUndefined(over)) return false
          return yield* cache.write(name, entry, { over: yield* cache.read(name), timeToLive })
        })
    }),
    laws: [law.writeOneStep]
  },
  {
    what: "whose write tells that it wrote where it did not",
    flaw: (cache) => ({ write: (name, entry, options) => Effect.as(cache.write(name, entry, options), true) }),
    laws: [law.none, law.leaves, law.writeOneStep, law.over]
  },
  {
    what: "whose entries outlive their time",
    flaw: (cache) => ({
      write: (name, entry, { over }) => cache.write(name, entry, { over, timeToLive: minute })
    }),
    laws: [law.over]
  },
  {
    what: "whose entries end before their time",
    flaw: (cache) => ({
      write: (name, entry, { over, timeToLive }) =>
        cache.write(name, entry, { over, timeToLive: Math.min(timeToLive, 3_800) })
    }),
    laws: [law.time]
  },
  {
    what: "whose write leaves the time of what it replaces",
    flaw: (cache) => {
      const ends = new Map<string, number>()
      return {
        write: (name, entry, { over, timeToLive }) =>
          Effect.suspend(() => {
            const end = Option.isSome(over) ? ends.get(name) ?? 0 : Date.now() + timeToLive
            ends.set(name, end)
            return cache.write(name, entry, { over, timeToLive: Math.max(1, end - Date.now()) })
          })
      }
    },
    laws: [law.time]
  },
  {
    what: "whose remove ignores the entry",
    flaw: (cache) => ({
      remove: (name) =>
        Effect.flatMap(cache.read(name), (found) => cache.remove(name, Option.getOrElse(found, () => "")))
    }),
    laws: [law.removeLeaves]
  },
  {
    what: "whose remove removes nothing",
    flaw: () => ({ remove: () => Effect.succeed(true) }),
    laws: [law.over, law.remove, law.removeLeaves]
  },
  {
    what: "whose lease is given to everyone",
    flaw: () => ({ lease: (_, owner, remaining) => Effect.succeed({ owner, remaining }) }),
    laws: leaseLaws.filter((title) => title !== law.leaseApart).concat(law.changesRelease)
  },
  {
    what: "whose lease is looked for first and taken then",
    flaw: (cache) => ({
      lease: (name, owner, duration) =>
        Effect.gen(function*() {
          const held = yield* cache.lease(name, "nobody", 1)
          yield* twoSteps
          if (held.owner !== "nobody") return yield* cache.lease(name, owner, duration)
          yield* cache.release(name, (yield* cache.lease(name, owner, duration)).owner)
          return yield* cache.lease(name, owner, duration)
        })
    }),
    laws: [law.leaseOneStep]
  },
  {
    what: "whose lease never ends",
    flaw: (cache) => ({ lease: (name, owner) => cache.lease(name, owner, minute) }),
    laws: [law.leaseEnds]
  },
  {
    what: "whose lease is longer for asking again",
    flaw: (cache) => ({
      lease: (name, owner, duration) => Effect.zipRight(cache.release(name, owner), cache.lease(name, owner, duration))
    }),
    laws: [law.leaseTime]
  },
  {
    what: "whose lease tells of a negative time",
    flaw: (cache) => ({
      lease: (name, owner, duration) =>
        Effect.map(cache.lease(name, owner, duration), ({ owner, remaining }) => ({ owner, remaining: -remaining }))
    }),
    laws: [...leaseLaws, law.changesRelease]
  },
  {
    what: "whose lease tells of a time that is no number",
    flaw: (cache) => ({
      lease: (name, owner, duration) =>
        Effect.map(cache.lease(name, owner, duration), ({ owner }) => ({ owner, remaining: Number.NaN }))
    }),
    laws: [...leaseLaws, law.changesRelease]
  },
  {
    what: "whose leases and entries lie in one place",
    flaw: (cache) => ({
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
    }),
    laws: [law.leaseApart]
  },
  {
    what: "whose release is for anyone",
    flaw: (cache) => ({
      release: (name) =>
        Effect.flatMap(
          cache.lease(name, "", 1),
          ({ owner }) => Effect.map(cache.release(name, owner), () => owner !== "")
        )
    }),
    laws: [law.leaseEnds, law.releaseLeaves]
  },
  {
    what: "whose release does nothing",
    flaw: () => ({ release: () => Effect.succeed(true) }),
    laws: [law.leaseEnds, law.release, law.releaseLeaves, law.changesRelease]
  },
  {
    what: "whose changes begin and never tell",
    flaw: () => ({ changes: () => Stream.concat(Stream.make(undefined), Stream.never) }),
    laws: [law.changesWrite, law.changesRelease]
  },
  {
    what: "whose changes tell of the past twice and of nothing then",
    flaw: () => ({ changes: () => Stream.concat(Stream.make(undefined, undefined), Stream.never) }),
    laws: [law.changesWrite, law.changesRelease]
  },
  {
    what: "whose changes tell nothing at the beginning",
    flaw: (cache) => ({ changes: (name) => Stream.drop(cache.changes(name), 1) }),
    laws: [law.changesWrite, law.changesRelease]
  },
  {
    what: "whose changes end",
    flaw: (cache) => ({ changes: (name) => Stream.take(cache.changes(name), 1) }),
    laws: [law.changesWrite, law.changesRelease]
  },
  {
    what: "whose changes die",
    flaw: () => ({ changes: () => Stream.die(new Error(foreignEntry)) }),
    laws: [law.changesWrite, law.changesRelease]
  },
  {
    what: "whose remove hangs and can't be interrupted",
    flaw: () => ({ remove: () => Effect.uninterruptible(Effect.never) }),
    laws: [law.over, law.remove, law.removeLeaves]
  },
  {
    what: "whose remove dies",
    flaw: () => ({ remove: () => Effect.die(new RangeError(foreignEntry)) }),
    laws: [law.over, law.remove, law.removeLeaves]
  },
  {
    what: "whose remove interrupts itself",
    flaw: () => ({ remove: () => Effect.interrupt }),
    laws: [law.over, law.remove, law.removeLeaves]
  },
  {
    what: "whose remove throws before it gives an effect",
    flaw: () => ({
      remove: () => {
        throw new Error(foreignEntry)
      }
    }),
    laws: [law.over, law.remove, law.removeLeaves]
  },
  {
    what: "whose remove fails",
    flaw: () => ({
      remove: () => new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable", code: "READONLY" })
    }),
    laws: [law.over, law.remove, law.removeLeaves]
  },
  {
    what: "whose read is something else than an Option",
    flaw: () => ({ read: () => Effect.sync(() => JSON.parse("null")) }),
    laws: readLaws
  }
]
