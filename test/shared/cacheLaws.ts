/** What every SharedTokenCache must do: the same tests run in memory and on Redis. */
import { expect } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { SharedTokenCache } from "effect-nutrition-advisor"
import type { Steps } from "../support/doubles/arranged.js"

export interface Law {
  readonly title: string
  /** `pass` waits for a number of milliseconds. */
  readonly holds: (cache: SharedTokenCache.Service, pass: (millis: number) => Effect.Effect<void>) => Steps<never>
}

const name = "JZ8o2bq0c1Y7kq-wT4o_9sVbQF3lM5xY2aB6cD8eF0g"

const minute = 60_000

const first = { owner: "first", timeToLive: minute }

const second = { owner: "second", timeToLive: minute }

/** An entry of the size of a long token, with characters that a protocol may stumble over. */
const long = `v1.${"A".repeat(12_000)}-_."\\{}\r\n\u0000ü\u{1f96a}`

export const laws: ReadonlyArray<Law> = [
  {
    title: "the entry that was written last is read unchanged",
    *holds(cache) {
      yield* cache.lease(name, "first", minute)
      const written = [yield* cache.write(name, "short", first), yield* cache.write(name, long, first)]
      expect([written, yield* cache.read(name)]).toEqual([[true, true], Option.some(long)])
    }
  },
  {
    title: "an entry stays when the lease is released",
    *holds(cache) {
      yield* cache.lease(name, "first", minute)
      yield* cache.write(name, "one", first)
      yield* cache.release(name, "first")
      expect(yield* cache.read(name)).toEqual(Option.some("one"))
    }
  },
  {
    title: "only the holder of the lease can write",
    *holds(cache) {
      const before = yield* cache.write(name, "one", first)
      yield* cache.lease(name, "first", minute)
      const other = yield* cache.write(name, "two", second)
      yield* cache.release(name, "first")
      const after = yield* cache.write(name, "three", first)
      expect([before, other, after, yield* cache.read(name)]).toEqual([false, false, false, Option.none()])
    }
  },
  {
    title: "only one of ten concurrent callers gets the lease, and only once",
    *holds(cache) {
      const asked = yield* Effect.forEach(
        Array.from({ length: 10 }, (_, index) => `owner-${index}`),
        (owner) => cache.lease(name, owner, minute),
        { concurrency: "unbounded" }
      )
      const holder = `owner-${asked.indexOf(true)}`
      expect([asked.filter((did) => did).length, yield* cache.lease(name, holder, minute)]).toEqual([1, false])
    }
  },
  {
    title: "only the owner can release a lease",
    *holds(cache) {
      yield* cache.lease(name, "first", minute)
      yield* cache.release(name, "second")
      const held = yield* cache.lease(name, "second", minute)
      yield* cache.release(name, "first")
      expect([held, yield* cache.lease(name, "second", minute)]).toEqual([false, true])
    }
  },
  {
    title: "leases and entries expire",
    *holds(cache, pass) {
      yield* cache.lease(name, "first", 200)
      yield* cache.write(name, "one", { ...first, timeToLive: 200.5 })
      yield* pass(300)
      const late = yield* cache.write(name, "two", first)
      expect([late, yield* cache.read(name), yield* cache.lease(name, "second", minute)])
        .toEqual([false, Option.none(), true])
    }
  },
  {
    title: "names are case-sensitive",
    *holds(cache) {
      yield* cache.lease(name, "first", minute)
      yield* cache.write(name, "one", first)
      const other = name.toLowerCase()
      expect([yield* cache.read(other), yield* cache.lease(other, "second", minute)]).toEqual([Option.none(), true])
    }
  }
]
