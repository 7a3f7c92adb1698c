import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { Error as PlatformError, KeyValueStore } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Either, Exit, Fiber, Layer, Option, Stream } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import { SharedTokenCacheLaws } from "effect-nutrition-advisor/testing"
import { arranged, arrangedLive, test as plainTest, testLive } from "./doubles/arranged.js"
import * as Time from "./doubles/Time.js"

const name = "JZ8o2bq0c1Y7kq-wT4o_9sVbQF3lM5xY2aB6cD8eF0g"

const minute = 60_000

const nothing = Option.none<string>()

const options = { over: nothing, timeToLive: minute }

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "shared-tokens-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const layerFiles = (path: string) =>
  SharedTokenCache.layerKeyValueStore.pipe(
    Layer.provide(KeyValueStore.layerFileSystem(path)),
    Layer.provide(NodeContext.layer)
  )

/** Another build of the layer, as another process has it. */
const opened = <E>(layer: Layer.Layer<SharedTokenCache.SharedTokenCache, E>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), Context.get(SharedTokenCache.SharedTokenCache))

type Use = (cache: SharedTokenCache.Service) => Effect.Effect<unknown, SharedTokenCache.SharedTokenCacheError>

const kinds = [
  { title: "layerMemory", layer: SharedTokenCache.layerMemory },
  {
    title: "layerKeyValueStore in memory",
    layer: Layer.provide(SharedTokenCache.layerKeyValueStore, KeyValueStore.layerMemory)
  }
]

for (const { layer, title } of kinds) {
  describe.concurrent(`${title} keeps the law that`, () => {
    arrangedLive(Effect.void, layer).each(SharedTokenCacheLaws.laws)("$title", function*({ holds }) {
      yield* holds
    })
  })

  describe(title, () => {
    const test = arranged(opened(layer), Layer.empty)

    test("keeps an entry of any characters as it is", function*(cache) {
      const entry = "v1.AAAA-_.\"\\{}\n\u0000\u2028ü\u{1f96a}"
      yield* cache.write(name, entry, options)
      expect(yield* cache.read(name)).toEqual(Option.some(entry))
    })

    test("takes an entry of 16 KiB, and none that is longer", function*(cache) {
      const [fits, doesNot, isLonger] = ["A".repeat(16_384), "A".repeat(16_385), "ä".repeat(8_193)]
      const written = [
        yield* cache.write(name, doesNot, options),
        yield* cache.write(name, isLonger, options),
        yield* cache.write(name, fits, options),
        yield* cache.write(name, doesNot, { ...options, over: Option.some(fits) })
      ]
      expect([written, yield* cache.read(name)]).toEqual([[false, false, true, false], Option.some(fits)])
    })
  })
}

describe("the files of a directory", () => {
  const files = Effect.flatMap(directory, (path) => Effect.map(opened(layerFiles(path)), (cache) => ({ cache, path })))

  const inFiles = arrangedLive(files, Layer.empty)

  const damage = (path: string, content: (before: string) => string | Uint8Array) =>
    Effect.sync(() => {
      for (const file of readdirSync(path)) {
        writeFileSync(join(path, file), content(readFileSync(join(path, file), "utf8")))
      }
    })

  const contents: ReadonlyArray<readonly [string, (before: string) => string | Uint8Array]> = [
    ["is empty", () => ""],
    ["is torn in the middle", (before) => before.slice(0, before.length / 2)],
    ["lost its end", (before) => before.slice(0, -1)],
    ["goes on", (before) => before + before],
    ["is of someone else", () => "GIF89a"],
    ["is another JSON", () => "[1,2,3]"],
    ["is null", () => "null"],
    ["lacks its value", () => "{\"until\":99999999999999}"],
    ["lacks its time", () => "{\"value\":\"one\"}"],
    ["has text for a time", () => "{\"value\":\"one\",\"until\":\"99999999999999\"}"],
    ["has null for a time", () => "{\"value\":\"one\",\"until\":null}"],
    ["has no text for a value", () => "{\"value\":1,\"until\":99999999999999}"],
    ["has a value above 16 KiB", () => JSON.stringify({ value: "A".repeat(16_385), until: 99999999999999 })],
    ["has 16 MiB", () => JSON.stringify({ value: "A".repeat(16 * 1024 * 1024), until: 99999999999999 })],
    ["is no text", () => Uint8Array.of(0xff, 0xfe, 0x00, 0xc3)]
  ]

  inFiles.each(contents)("are no entry where one %s", function*([, content], { cache, path }) {
    yield* cache.write(name, "one", options)
    yield* damage(path, content)
    const before = yield* cache.read(name)
    const did = yield* cache.write(name, "two", options)
    expect([before, did, yield* cache.read(name)]).toEqual([nothing, true, Option.some("two")])
  })

  inFiles.each(contents)("are no lease where one %s", function*([, content], { cache, path }) {
    yield* cache.lease(name, "first", minute)
    yield* damage(path, content)
    expect((yield* cache.lease(name, "second", minute)).owner).toBe("second")
  })

  testLive("are shared by several builds of the layer", function*() {
    const path = yield* directory
    const [one, two] = yield* Effect.all([opened(layerFiles(path)), opened(layerFiles(path))])
    yield* one.write(name, "one", options)
    expect(yield* two.read(name)).toEqual(Option.some("one"))
  })

  inFiles("have names without a character that a file system refuses", function*({ cache, path }) {
    yield* cache.write(name, "one", options)
    yield* cache.lease(name, "first", minute)
    expect(readdirSync(path).every((file) => /^[\w.-]+$/.test(file))).toBe(true)
  })

  const operations: ReadonlyArray<readonly [string, Use]> = [
    ["read", (cache) => cache.read(name)],
    ["write", (cache) => cache.write(name, "one", options)],
    ["remove", (cache) => cache.remove(name, "one")],
    ["lease", (cache) => cache.lease(name, "first", minute)],
    ["release", (cache) => cache.release(name, "first")]
  ]

  inFiles.each(operations)(
    "end %s in Unavailable where a file took the place of the directory, and say nothing of their path",
    function*([, use], { cache, path }) {
      rmSync(path, { recursive: true })
      writeFileSync(path, "")
      const error = yield* Effect.flip(use(cache))
      expect(error).toMatchObject({
        _tag: "SharedTokenCacheError",
        reason: "Unavailable",
        code: expect.stringMatching(/^\w+$/)
      })
      expect(inspect(error, { depth: null, showHidden: true }) + JSON.stringify(error) + error.message)
        .not.toMatch(/shared-tokens-\w/)
    }
  )

  inFiles("end a write in Unavailable where the directory is gone", function*({ cache, path }) {
    rmSync(path, { recursive: true })
    const error = yield* Effect.flip(cache.write(name, "one", options))
    expect(error.message).toBe(
      "The shared token cache could not be used (NotFound): see whether it runs and takes writes."
    )
  })
})

describe("a KeyValueStore that fails", () => {
  const failure = (reason: PlatformError.SystemErrorReason) =>
    new PlatformError.SystemError({
      module: "KeyValueStore",
      method: "any",
      reason,
      pathOrDescriptor: "/secret/path",
      description: "EACCES: permission denied, open '/secret/path'"
    })

  /** A store in memory that fails at what is given here. */
  const storeThat = (given: Partial<KeyValueStore.KeyValueStore>) =>
    Effect.gen(function*() {
      const store = yield* Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerMemory)
      const layer = Layer.succeed(KeyValueStore.KeyValueStore, { ...store, ...given })
      return yield* opened(Layer.provide(SharedTokenCache.layerKeyValueStore, layer))
    })

  testLive("at a removal, since another was quicker, is harmless", function*() {
    const cache = yield* storeThat({ remove: () => Effect.fail(failure("NotFound")) })
    yield* cache.write(name, "one", options)
    yield* cache.lease(name, "first", minute)
    expect(yield* Effect.either(Effect.all([cache.remove(name, "one"), cache.release(name, "first")])))
      .toEqual(Either.right([false, false]))
  })

  testLive("at a removal, for another reason, is Unavailable", function*() {
    const cache = yield* storeThat({ remove: () => Effect.fail(failure("PermissionDenied")) })
    yield* cache.write(name, "one", options)
    expect(yield* Effect.flip(cache.remove(name, "one"))).toMatchObject({
      reason: "Unavailable",
      code: "PermissionDenied"
    })
  })

  testLive.each(["InvalidData", "TimedOut"] as const)("names the reason, and nothing else: %s", function*(reason) {
    const cache = yield* storeThat({ set: () => Effect.fail(failure(reason)) })
    const error = yield* Effect.flip(cache.write(name, "one", options))
    expect([error.code, inspect(error).includes("/secret/path")]).toEqual([reason, false])
  })

  testLive("for a bad argument names its kind", function*() {
    const bad = new PlatformError.BadArgument({ module: "KeyValueStore", method: "get", description: "no such key" })
    const cache = yield* storeThat({ get: () => Effect.fail(bad) })
    expect(yield* Effect.flip(cache.read(name))).toMatchObject({ reason: "Unavailable", code: "BadArgument" })
  })
})

describe("SharedTokenCacheError", () => {
  it.each(
    [
      [
        { reason: "Unavailable" },
        "The shared token cache could not be used: see whether it runs and takes writes."
      ],
      [
        { reason: "Unavailable", code: "ECONNREFUSED" },
        "The shared token cache could not be used (ECONNREFUSED): see whether it runs and takes writes."
      ],
      [
        { reason: "Timeout" },
        "The shared token cache did not answer in time: see whether it is overloaded or cut off."
      ],
      [{ reason: "Defect" }, "The shared token cache ended in a defect: see the layer that makes it."]
    ] as const
  )("says what happened and what to do: %j", (fields, message) => {
    expect(new SharedTokenCache.SharedTokenCacheError(fields).message).toBe(message)
  })

  plainTest.each(["redis://user:word@host", "/var/tokens", "two words", "", "x".repeat(41)])(
    "takes no code that could be more than one word: %j",
    function*(code) {
      const exit = yield* Effect.exit(
        Effect.try(() => new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable", code }))
      )
      expect(Exit.isFailure(exit)).toBe(true)
    }
  )
})

describe("layerMemory", () => {
  const test = arranged(opened(SharedTokenCache.layerMemory), Layer.empty)

  test.each<readonly [what: string, change: Use]>([
    ["a write that did not happen", (cache) => cache.write(name, "two", { ...options, over: Option.some("one") })],
    ["a release that did not happen", (cache) => cache.release(name, "first")],
    ["the changes of another name", (cache) => cache.write("other", "one", options)]
  ])("tells nobody of %s", function*([, change], cache) {
    const heard = yield* Effect.fork(Stream.runCount(Stream.interruptAfter(cache.changes(name), "1 second")))
    yield* Effect.yieldNow()
    yield* Time.pass("500 millis")
    yield* change(cache)
    yield* Time.pass("500 millis")
    expect(yield* Fiber.join(heard)).toBe(1)
  })

  test("ends a lease and an entry at the millisecond that was said", function*(cache) {
    yield* cache.lease(name, "first", 1_000)
    yield* cache.write(name, "one", { over: nothing, timeToLive: 1_000 })
    yield* Time.pass(999)
    const before = [(yield* cache.lease(name, "second", 1)).owner, yield* cache.read(name)]
    yield* Time.pass(1)
    const after = [(yield* cache.lease(name, "second", 1)).owner, yield* cache.read(name)]
    expect([before, after]).toEqual([["first", Option.some("one")], ["second", nothing]])
  })

  test("is another cache each time it is built", function*(one) {
    const two = yield* opened(SharedTokenCache.layerMemory)
    yield* one.write(name, "one", options)
    expect(yield* two.read(name)).toEqual(nothing)
  })
})
