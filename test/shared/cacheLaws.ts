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
    expect(yield* cache.write(name, "short", first)).toBe(true)
    expect(yield* cache.write(name, long, first)).toBe(true)
    expect(yield* cache.read(name)).toEqual(Option.some(long))
  }],
  ["an entry stays when the lease is released", function*(cache) {
    yield* cache.lease(name, "first", minute)
    yield* cache.write(name, "one", first)
    yield* cache.release(name, "first")
    expect(yield* cache.read(name)).toEqual(Option.some("one"))
  }],
  ["only the holder of the lease can write", function*(cache) {
    expect(yield* cache.write(name, "one", first)).toBe(false)
    yield* cache.lease(name, "first", minute)
    expect(yield* cache.write(name, "two", second)).toBe(false)
    yield* cache.release(name, "first")
    expect(yield* cache.write(name, "three", first)).toBe(false)
    expect(yield* cache.read(name)).toEqual(Option.none())
  }],
  ["only one of ten concurrent callers gets the lease, and only once", function*(cache) {
    const asked = yield* Effect.forEach(
      Array.from({ length: 10 }, (_, index) => `owner-${index}`),
      (owner) => cache.lease(name, owner, minute),
      { concurrency: "unbounded" }
    )
    const holder = `owner-${asked.indexOf(true)}`
    expect(asked.filter((isGranted) => isGranted)).toHaveLength(1)
    expect(yield* cache.lease(name, holder, minute)).toBe(false)
  }],
  ["only the owner can release a lease", function*(cache) {
    yield* cache.lease(name, "first", minute)
    yield* cache.release(name, "second")
    expect(yield* cache.lease(name, "second", minute)).toBe(false)
    yield* cache.release(name, "first")
    expect(yield* cache.lease(name, "second", minute)).toBe(true)
  }],
  ["leases and entries expire", function*(cache, pass) {
    yield* cache.lease(name, "first", 200)
    yield* cache.write(name, "one", { ...first, timeToLive: 200.5 })
    yield* pass(300)
    expect(yield* cache.write(name, "two", first)).toBe(false)
    expect(yield* cache.read(name)).toEqual(Option.none())
    expect(yield* cache.lease(name, "second", minute)).toBe(true)
  }],
  ["names are case-sensitive", function*(cache) {
    yield* cache.lease(name, "first", minute)
    yield* cache.write(name, "one", first)
    const other = name.toLowerCase()
    expect(yield* cache.read(other)).toEqual(Option.none())
    expect(yield* cache.lease(other, "second", minute)).toBe(true)
  }]
]
