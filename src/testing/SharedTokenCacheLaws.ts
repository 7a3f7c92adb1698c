/**
 * The promises of a SharedTokenCache, as tests for whoever writes a cache of their own.
 *
 * @since 1.0.0
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { abandonable } from "../internal/fork.js"
import { type Lease, type Service, SharedTokenCache } from "../SharedTokenCache.js"
import * as Law from "./law.js"

export {
  /**
   * A law is broken: its `title`, and in `seen` what was done instead. It holds no entry, no token and no name.
   *
   * @since 1.0.0
   * @category errors
   */
  LawBroken
} from "./law.js"

const { see, tells } = Law

const minute = 60_000

/** The time of an entry or a lease that is to end, in milliseconds. */
const short = 1_000

const moment = Effect.sleep("200 millis")

const first = `v1.${"aB3_".repeat(4)}.${"Qk9-".repeat(60)}`
const second = `v1.${"cD5_".repeat(4)}.${"Zm7-".repeat(60)}`

const competitors = Array.from({ length: 10 }, (_, index) => String(index))

const bounded = (cache: Service) => ({
  read: (name: string) => Law.call("read", () => cache.read(name)),
  write: (name: string, entry: string, over?: string, timeToLive = minute) =>
    Law.call("write", () => cache.write(name, entry, { over: Option.fromNullable(over), timeToLive })),
  remove: (name: string, entry: string) => Law.call("remove", () => cache.remove(name, entry)),
  lease: (name: string, owner: string, duration = minute) =>
    Effect.tap(
      Law.call("lease", () => cache.lease(name, owner, duration)),
      ({ remaining }) =>
        see(
          "lease gave a remaining time that is no number from 0 up",
          remaining >= 0 && remaining < Number.POSITIVE_INFINITY
        )
    ),
  release: (name: string, owner: string) => Law.call("release", () => cache.release(name, owner)),
  changes: (name: string) => Stream.suspend(() => cache.changes(name))
})

type Bounded = ReturnType<typeof bounded>

const law = (title: string, steps: (cache: Bounded, name: string) => Law.Steps): Law.Law<SharedTokenCache> =>
  Law.make(title, Effect.map(SharedTokenCache, (cache) => steps(bounded(cache), Law.randomText())))

const finds = (cache: Bounded, name: string, expected?: string) =>
  Effect.flatMap(cache.read(name), (entry) =>
    see(
      `read gave ${Option.isNone(entry) ? "nothing" : "an entry"} and not ${expected ? "that entry" : "nothing"}`,
      Option.getOrUndefined(entry) === expected
    ))

const isHeldBy = (lease: Effect.Effect<Lease, string>, holder: string) =>
  Effect.flatMap(lease, ({ owner, remaining }) =>
    Effect.zipRight(
      see("lease named another holder", owner === holder),
      see(`lease told of ${remaining} ms left of ${minute}`, remaining <= minute && remaining > minute / 2)
    ))

const ends = (what: string, isOver: Effect.Effect<boolean, string>) =>
  Effect.repeat(isOver, { until: (isOver) => isOver, schedule: Schedule.spaced("100 millis") }).pipe(
    Effect.timeoutFail({ duration: 5 * short, onTimeout: () => `${what} for ${short} ms was there after ${5 * short}` })
  )

const entryEnds = (cache: Bounded, name: string) => ends("an entry", Effect.map(cache.read(name), Option.isNone))
const leaseEnds = (cache: Bounded, name: string, next: string) =>
  ends("a lease", Effect.map(cache.lease(name, next), ({ owner }) => owner === next))

/** Whether a watch that stands tells of the change. */
const hears = (cache: Bounded, name: string, change: Effect.Effect<boolean, string>) =>
  Effect.gen(function*() {
    const told = yield* Queue.unbounded<undefined>()
    const watch = Stream.runForEach(cache.changes(name), () => Queue.offer(told, undefined))
    const watching = yield* Effect.forkScoped(abandonable(Effect.exit(Effect.zipRight(watch, Effect.never))))
    const next = Law.call("changes", () => Effect.raceFirst(Queue.take(told), Effect.flatten(Fiber.join(watching))))
    yield* Effect.all([next, moment, Queue.takeAll(told), tells("the change", change, true), next])
  })

const together = <A>(call: (competitor: string) => Effect.Effect<A, string>) =>
  Effect.forEach(competitors, call, { concurrency: "unbounded" })

/**
 * Each promise of a SharedTokenCache: `holds` succeeds or ends in LawBroken, within ten seconds of the real clock. A law uses
 * names of its own, leaves nothing there for longer than a minute, and may be run beside others on a cache that is in use.
 *
 * @since 1.0.0
 * @category laws
 */
export const laws: ReadonlyArray<Law.Law<SharedTokenCache>> = [
  law("read gives an entry as it was written, one of 12 kB too", (cache, name) => [
    tells("write", cache.write(name, first.repeat(48)), true),
    finds(cache, name, first.repeat(48))
  ]),
  law("read gives the entry of this very name, to the case of a letter", (cache, name) => [
    cache.write(name, first),
    finds(cache, name.toLowerCase()),
    tells("write under another name", cache.write(name.toLowerCase(), second), true),
    finds(cache, name, first)
  ]),
  law("write replaces what was read", (cache, name) => [
    cache.write(name, first),
    tells("write", cache.write(name, second, first), true),
    finds(cache, name, second)
  ]),
  law("write leaves anything but what was read, to the case of a letter", (cache, name) => [
    cache.write(name, first),
    tells("write over nothing", cache.write(name, second), false),
    tells("write over another entry", cache.write(name, second, second), false),
    tells("write over another case", cache.write(name, second, first.toUpperCase()), false),
    finds(cache, name, first)
  ]),
  law("read finds nothing where nothing was written, and write writes nothing over what is gone", (cache, name) => [
    finds(cache, name),
    tells("write", cache.write(name, second, first), false),
    finds(cache, name)
  ]),
  law("write compares and writes in one step: of ten at once, one writes", (cache, name) => [
    cache.write(name, first),
    Effect.flatMap(together((one) => cache.write(name, second + one, first)), (told) => {
      const writers = competitors.filter((_, index) => told[index])
      const isOne = see(`${writers.length} of ten writes told that they wrote`, writers.length === 1)
      return Effect.zipRight(isOne, finds(cache, name, second + writers.join()))
    })
  ]),
  law("write keeps an entry for its time, in milliseconds, also in place of a shorter one", (cache, name) => [
    cache.write(name, first, undefined, 3 * short),
    tells("write", cache.write(name, second, first), true),
    Effect.sleep(4 * short),
    finds(cache, name, second)
  ]),
  law("an entry whose time is over is nothing, for read, remove and write", (cache, name) => [
    cache.write(name, first, undefined, short),
    entryEnds(cache, name),
    tells("remove of what has ended", cache.remove(name, first), false),
    tells("write over what has ended", cache.write(name, second, first), false),
    tells("write over nothing", cache.write(name, second), true)
  ]),
  law("remove takes away what was read, once", (cache, name) => [
    cache.write(name, first),
    tells("remove", cache.remove(name, first), true),
    finds(cache, name),
    tells("remove of nothing", cache.remove(name, first), false)
  ]),
  law("remove leaves anything but what was read, to the case of a letter", (cache, name) => [
    cache.write(name, first),
    tells("remove of another entry", cache.remove(name, second), false),
    tells("remove of another case", cache.remove(name, first.toUpperCase()), false),
    finds(cache, name, first)
  ]),
  law("lease names its holder to others while its time lasts", (cache, name) => [
    cache.lease(name, "first"),
    moment,
    isHeldBy(cache.lease(name, "second", 2 * minute), "first")
  ]),
  law("lease is given to the first who asks, with no more time for asking again", (cache, name) => [
    isHeldBy(cache.lease(name, "first"), "first"),
    isHeldBy(cache.lease(name, "first", 5 * minute), "first")
  ]),
  law("lease is given in one step: of ten at once, one holds it, and all hear the same", (cache, name) => [
    Effect.flatMap(together((one) => cache.lease(name, one)), (leases) => {
      const holders = new Set(leases.map(({ owner }) => owner))
      const isOne = holders.size === 1 && competitors.some((one) => holders.has(one))
      return see(`lease named ${holders.size} holders to ten who asked, or none of them`, isOne)
    })
  ]),
  law("lease is one for each name, apart from the entry", (cache, name) => [
    cache.lease(name, "first"),
    isHeldBy(cache.lease(name.toLowerCase(), "second"), "second"),
    tells("write", cache.write(name, first), true),
    cache.release(name, "first"),
    finds(cache, name, first)
  ]),
  law("release ends the lease of its owner", (cache, name) => [
    cache.lease(name, "first"),
    tells("release", cache.release(name, "first"), true),
    isHeldBy(cache.lease(name, "second"), "second")
  ]),
  law("release leaves the lease of anyone else", (cache, name) => [
    cache.lease(name, "first"),
    tells("release by another", cache.release(name, "second"), false),
    isHeldBy(cache.lease(name, "second"), "first")
  ]),
  law("lease ends by itself when its time is over, and is not its owner's to release then", (cache, name) => [
    tells("release of no lease", cache.release(name, "first"), false),
    cache.lease(name, "first", short),
    leaseEnds(cache, name, "second"),
    tells("release of what has ended", cache.release(name, "first"), false),
    isHeldBy(cache.lease(name, "third"), "second")
  ]),
  law("changes tells a watch that stands of a write", (cache, name) => [hears(cache, name, cache.write(name, first))]),
  law("changes tells a watch that stands of a release", (cache, name) => [
    cache.lease(name, "first"),
    hears(cache, name, cache.release(name, "first"))
  ])
]
