import { inspect } from "node:util"
import { KeyValueStore } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import { SharedTokenCacheLaws } from "effect-nutrition-advisor/testing"
import { beforeAll } from "vitest"
import { arranged, arrangedLive, testLive } from "../doubles/arranged.js"
import { brokenCaches, foreignEntry } from "./laws/BrokenCaches.js"
import { brokenOf } from "./laws/brokenOf.js"
import * as Program from "./Program.js"

const { laws } = SharedTokenCacheLaws

/** A KeyValueStore can't compare and write in one step: SharedTokenCache.layerKeyValueStore says so. */
const exceptions = ["write compares and writes in one step: of ten at once, one writes"]

const filesIn = (path: string) =>
  SharedTokenCache.layerKeyValueStore.pipe(
    Layer.provide(KeyValueStore.layerFileSystem(path)),
    Layer.provide(NodeContext.layer)
  )

const Files = Layer.unwrapScoped(Effect.map(Program.folder, filesIn))

/** Caches over one directory, each as another process has it. */
const eightCaches = Effect.flatMap(Program.folder, (path) =>
  Effect.replicateEffect(
    Effect.map(Layer.build(Layer.fresh(filesIn(path))), Context.get(SharedTokenCache.SharedTokenCache)),
    8
  ))

const slow = Effect.map(KeyValueStore.KeyValueStore, (store) => ({
  ...store,
  get: (key: string) => Effect.zipLeft(store.get(key), Effect.sleep("5 millis"))
}))

const Slow = Layer.effect(KeyValueStore.KeyValueStore, slow).pipe(Layer.provide(KeyValueStore.layerMemory))

type Results = ReadonlyArray<SharedTokenCacheLaws.LawBroken>

const broken = brokenOf(laws, "unbounded")

const brokenIn = (cache: SharedTokenCache.Service) =>
  Effect.provideService(broken, SharedTokenCache.SharedTokenCache, cache)

const titlesOf = (broken: Results) => broken.map(({ title }) => title).sort()

const live = arrangedLive(Effect.void, SharedTokenCache.layerMemory)

const test = arranged(Effect.void, SharedTokenCache.layerMemory)

describe.concurrent("the laws", () => {
  live("hold for layerMemory", function*() {
    expect(yield* broken).toEqual([])
  })

  live("hold for layerKeyValueStore over a directory, but for the one that it documents", function*() {
    expect(titlesOf(yield* broken).filter((title) => !exceptions.includes(title))).toEqual([])
  }, Files)

  live("hold for layerKeyValueStore, but for the one that it documents, where each look takes 5 ms", function*() {
    expect(titlesOf(yield* broken)).toEqual(exceptions)
  }, Layer.provide(SharedTokenCache.layerKeyValueStore, Slow))

  test("have the real clock where TestClock is in place", function*() {
    expect(yield* broken).toEqual([])
  })

  live("leave what others have in the cache, and hold while others use it", function*() {
    const cache = yield* SharedTokenCache.SharedTokenCache
    yield* cache.write("theirs", "entry", { over: Option.none(), timeToLive: 60_000 })
    yield* cache.lease("theirs", "them", 60_000)
    expect(yield* Effect.all([broken, broken], { concurrency: 2 })).toEqual([[], []])
    expect(yield* cache.read("theirs")).toEqual(Option.some("entry"))
    expect((yield* cache.lease("theirs", "others", 1)).owner).toBe("them")
  })

  testLive("let their caller go where the cache hangs for ever", function*() {
    const cache = yield* SharedTokenCache.makeMemory
    const hanging = brokenIn({ ...cache, read: () => Effect.uninterruptible(Effect.never) })
    expect(yield* Effect.timeoutOption(hanging, "50 millis")).toEqual(Option.none())
  })

  it("have a title each", () => {
    expect(new Set(laws.map(({ title }) => title)).size).toBe(laws.length)
  })

  it("are each broken by a cache of this suite", () => {
    const tested = new Set(brokenCaches.flatMap(([, , laws]) => laws))
    expect(laws.map(({ title }) => title).filter((title) => !tested.has(title))).toEqual([])
  })
})

describe("a cache", () => {
  let results: ReadonlyMap<string, Results>

  beforeAll(async () => {
    const all = Effect.forEach(brokenCaches, ([what, flaw]) =>
      Effect.gen(function*() {
        const cache = yield* SharedTokenCache.makeMemory
        return [what, yield* brokenIn({ ...cache, ...flaw(cache) })] as const
      }), { concurrency: 16 })
    results = new Map(await Effect.runPromise(all))
  })

  it.each(brokenCaches)("%s breaks the laws that say so, and no other", (what, _, laws) => {
    expect(titlesOf(results.get(what) ?? [])).toEqual([...laws].sort())
  })

  it.each([
    ["whose remove hangs and can't be interrupted", "remove gave no answer in 4 seconds"],
    ["whose remove dies", "remove ended in a defect (RangeError)"],
    ["whose remove interrupts itself", "remove interrupted itself"],
    ["whose remove throws before it gives an effect", "remove ended in a defect (Error)"],
    ["whose remove fails", "remove ended in SharedTokenCacheError (READONLY)"],
    ["whose read is something else than an Option", "reading an answer ended in a defect (TypeError)"],
    ["whose changes die", "changes ended in a defect (Error)"],
    ["whose entries outlive their time", "an entry for 1000 ms was there after 5000"],
    ["whose lease tells of a negative time", "lease gave a remaining time that is no number from 0 up"],
    ["whose entries are cut", "read gave an entry and not that entry"]
  ])("%s is told so: %s", (what, seen) => {
    const [first] = results.get(what) ?? []
    expect(first?.message).toBe(`${first?.title}: ${seen}.`)
  })

  it("is told nothing of its entries", () => {
    const all = [...results.values()].flat()
    expect(inspect(all, { depth: 9 }) + all.map(String).join()).not.toContain(foreignEntry)
  })
})

describe("caches over one directory", () => {
  testLive("grant one lease to many builds of the layer that ask at once", function*() {
    const caches = yield* eightCaches
    const held = yield* Effect.forEach(
      caches.flatMap((cache, index) => [0, 1, 2].map((number) => [cache, `owner-${index}-${number}`] as const)),
      ([cache, owner]) => Effect.map(cache.lease("name", owner, 60_000), (held) => held.owner === owner),
      { concurrency: "unbounded" }
    )
    expect(held.filter((isHolder) => isHolder).length).toBe(1)
  })

  testLive("grant the lease to one of many who wait for its end", function*() {
    const caches = yield* eightCaches
    const [first] = caches
    yield* first?.lease("name", "dead", 200) ?? Effect.void
    yield* Effect.sleep(201)
    const held = yield* Effect.forEach(
      caches,
      (cache, index) => Effect.map(cache.lease("name", `owner-${index}`, 60_000), ({ owner }) => owner),
      { concurrency: "unbounded" }
    )
    expect(new Set(held).size).toBe(1)
  })
})
