import * as RateLimiter from "@effect/experimental/RateLimiter"
import * as RateLimiterRedis from "@effect/experimental/RateLimiter/Redis"
import { expect } from "@effect/vitest"
import { type Duration, Effect, Either, Layer, Schedule } from "effect"
import { NutritionAdvisor, Throttle } from "effect-nutrition-advisor"
import { testLive } from "../doubles/arranged.js"
import * as AdvisorDouble from "../resilience/AdvisorDouble.js"
import * as Program from "./Program.js"
import * as RedisServer from "./redis/RedisServer.js"

const countOf = (settings: object) =>
  Effect.map(
    Program.run("test/resilience/throttledProcess.ts", [JSON.stringify(settings)]),
    ({ stdout }) => Number(stdout)
  )

/** Throttle.layerShared around a client that answers, and what is sent. */
const throttled = (port: number, limit: number, interval: Duration.DurationInput) => {
  const double = AdvisorDouble.answering(Effect.succeed("found"))
  const live = Throttle.layerShared({ rate: { limit, interval }, maxWait: "1 second" }).pipe(
    Layer.provide(double.layer),
    Layer.provide(RateLimiter.layer),
    Layer.provide(RateLimiterRedis.layerStore({ host: "127.0.0.1", port }))
  )
  return { live, sent: double.sent }
}

RedisServer.describeWithRedis("Throttle.layerShared over one Redis", () => {
  testLive("keeps the rate of four processes together", function*() {
    const { port } = yield* RedisServer.make()
    const [limit, interval] = [30, 500]
    const started = Date.now()
    const counts = yield* Effect.all(
      Array.from({ length: 4 }, () => countOf({ port, limit, interval, millis: 4_000 })),
      { concurrency: "unbounded" }
    )
    const windows = Math.ceil((Date.now() - started) / interval) + 1
    const all = counts.reduce((all, count) => all + count, 0)
    expect(all).toBeLessThanOrEqual(limit * windows)
    expect(all).toBeGreaterThan(limit * 4)
  })

  testLive("keeps a limit that no interval is a multiple of, of which Redis takes no fraction", function*() {
    const { port } = yield* RedisServer.make()
    const { live, sent } = throttled(port, 7, "10 minutes")
    const searching = Effect.all(Array.from({ length: 20 }, () => Effect.either(NutritionAdvisor.search("oats"))), {
      concurrency: "unbounded"
    })
    const outcomes = yield* Effect.provide(searching, live)
    expect(outcomes.map(Either.isRight)).toEqual([...Array(7).fill(true), ...Array(13).fill(false)])
    expect(sent).toHaveLength(7)
  })

  testLive("lets every search go on once Redis is killed", function*() {
    const redis = yield* RedisServer.make()
    const { live, sent } = throttled(redis.port, 1_000, "1 second")
    yield* Effect.gen(function*() {
      const searches = Effect.all(Array.from({ length: 20 }, () => NutritionAdvisor.search("oats")), {
        concurrency: "unbounded"
      })
      yield* searches
      yield* redis.kill
      for (let round = 0; round < 3; round++) yield* searches
      expect(sent).toHaveLength(80)
      yield* redis.start
      // The client of Effect 4 can't be closed before it is connected again.
      yield* Effect.repeat(redis.command("CLIENT", "LIST"), {
        until: (list) => String(list).trim().split("\n").length > 1,
        schedule: Schedule.spaced("50 millis")
      })
    }).pipe(Effect.provide(live))
  })
})
