/** What every SharedTokenCache must do: the same tests run in memory and on Redis. */
import { expect } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { SharedTokenCache } from "effect-nutrition-advisor"
import type { Steps } from "../support/doubles/arranged.js"

/** A law and its test. `pass` waits for a number of milliseconds. */
type Law = readonly [
  title: string,
  holds: (cache: SharedTokenCache.Service, pass: (millis: number) => Effect.Effect<void>) => Steps<never>
]

const name = "JZ8o2bq0c1Y7kq-wT4o_9sVbQF3lM5xY2aB6cD8eF0g"

const minute = 60_000

const first = { owner: "first", timeToLive: minute }

const second = { owner: "second", timeToLive: minute }

/** An entry of the size of a long token, with characters that a protocol may stumble over. */
const long = `v1.${"A".repeat(12_000)}-_."\\{}\r\n\u0000ü\u{1f96a}`

export const laws: ReadonlyArray<Law> = [
  ["the entry that was written last is read unchanged", function*(cache) {
    yield* cache.lease(name, "first", minute)
    const written = [yield* cache.write(name, "short", first), yield* cache.write(name, long, first)]
    expect([written, yield* cache.read(name)]).toEqual([[true, true], Option.some(long)])
  }],
  ["an entry stays when the lease is released", function*(cache) {
    yield* cache.lease(name, "first", minute)
    yield* cache.write(name, "one", first)
    yield* cache.release(name, "first")
    expect(yield* cache.read(name)).toEqual(Option.some("one"))
  }],
  ["only the holder of the lease can write", function*(cache) {
    const before = yield* cache.write(name, "one", first)
    yield* cache.lease(name, "first", minute)
    const other = yield* cache.write(name, "two", second)
    yield* cache.release(name, "first")
    const after = yield* cache.write(name, "three", first)
    expect([before, other, after, yield* cache.read(name)]).toEqual([false, false, false, Option.none()])
  }],
  ["only one of ten concurrent callers gets the lease, and only once", function*(cache) {
    const asked = yield* Effect.forEach(
      Array.from({ length: 10 }, (_, index) => `owner-${index}`),
      (owner) => cache.lease(name, owner, minute),
      { concurrency: "unbounded" }
    )
    const holder = `owner-${asked.indexOf(true)}`
    expect([asked.filter((did) => did).length, yield* cache.lease(name, holder, minute)]).toEqual([1, false])
  }],
  ["only the owner can release a lease", function*(cache) {
    yield* cache.lease(name, "first", minute)
    yield* cache.release(name, "second")
    const held = yield* cache.lease(name, "second", minute)
    yield* cache.release(name, "first")
    expect([held, yield* cache.lease(name, "second", minute)]).toEqual([false, true])
  }],
  ["leases and entries expire", function*(cache, pass) {
    yield* cache.lease(name, "first", 200)
    yield* cache.write(name, "one", { ...first, timeToLive: 200.5 })
    yield* pass(300)
    const late = yield* cache.write(name, "two", first)
    expect([late, yield* cache.read(name), yield* cache.lease(name, "second", minute)])
      .toEqual([false, Option.none(), true])
  }],
  ["names are case-sensitive", function*(cache) {
    yield* cache.lease(name, "first", minute)
    yield* cache.write(name, "one", first)
    const other = name.toLowerCase()
    expect([yield* cache.read(other), yield* cache.lease(other, "second", minute)]).toEqual([Option.none(), true])
  }]
]
