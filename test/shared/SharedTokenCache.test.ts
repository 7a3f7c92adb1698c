import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema, TestClock } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import { arranged } from "../support/doubles/arranged.js"
import * as ManualClock from "../support/doubles/ManualClock.js"
import { laws } from "./cacheLaws.js"

const test = arranged(SharedTokenCache.SharedTokenCache, Layer.fresh(SharedTokenCache.layerMemory))

describe("SharedTokenCache in memory", () => {
  test.each(laws)("%s", ([, holds], cache) => holds(cache, TestClock.adjust))

  test.each([[3_600_000], [-3_600_000]] as const)(
    "setting the clock by %d ms affects neither leases nor entries",
    function*([wall], cache) {
      const clock = ManualClock.over(yield* Effect.clock)
      const seen = Effect.withClock(
        Effect.all({ entry: cache.read("name"), isLeaseFree: cache.lease("name", "other", 1_000) }),
        clock
      )
      yield* Effect.withClock(cache.lease("name", "owner", 1_000), clock)
      yield* Effect.withClock(cache.write("name", "entry", { owner: "owner", timeToLive: 1_000 }), clock)
      clock.wallOffset = wall
      expect(yield* seen).toEqual({ entry: Option.some("entry"), isLeaseFree: false })
      yield* TestClock.adjust(1_000)
      expect(yield* seen).toEqual({ entry: Option.none(), isLeaseFree: true })
    }
  )
})

describe("SharedTokenCacheError", () => {
  it.each(
    [
      [{ reason: "Unavailable" }, "The shared token cache could not be used. Check that it runs and accepts writes."],
      [
        { reason: "Unavailable", code: "ECONNREFUSED" },
        "The shared token cache could not be used (ECONNREFUSED). Check that it runs and accepts writes."
      ],
      [
        { reason: "Timeout" },
        "The shared token cache did not respond in time. Check whether it is overloaded or unreachable."
      ]
    ] as const
  )("the message says what happened and what to do: %j", (fields, message) => {
    expect(new SharedTokenCache.SharedTokenCacheError(fields).message).toBe(message)
  })

  it.each([
    ["redis://user:word@host", undefined],
    ["deadline-exceeded", undefined],
    [11_000, "11000"]
  ])("the code %j is kept only if it is a word", (code, kept) => {
    expect(new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable", code }).code).toBe(kept)
  })

  it("a subclass keeps its own fields", () => {
    class Outage extends SharedTokenCache.SharedTokenCacheError.extend<Outage>("Outage")({ region: Schema.String }) {}
    expect(new Outage({ reason: "Unavailable", region: "eu" })).toMatchObject({ reason: "Unavailable", region: "eu" })
  })
})
