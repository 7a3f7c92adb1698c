import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as RateLimiter from "@effect/experimental/RateLimiter"
import * as RateLimiterRedis from "@effect/experimental/RateLimiter/Redis"
import { expect, it } from "@effect/vitest"
import { Effect, Either, Layer, Schedule } from "effect"
import { NutritionAdvisor, Throttle } from "effect-nutrition-advisor"
import * as AdvisorDouble from "../resilience/AdvisorDouble.js"
import * as RedisServer from "./redis/RedisServer.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const run = promisify(execFile)

const search = (settings: object) =>
  Effect.promise(async () => {
    const args = ["--import", "tsx", "test/resilience/throttledProcess.ts", JSON.stringify(settings)]
    const { stdout } = await run(process.execPath, args, { cwd: repository })
    return Number(stdout)
  })

RedisServer.describeWithRedis("Throttle.layerShared over one Redis", () => {
  it.scopedLive("keeps the rate of four processes together", () =>
    Effect.gen(function*() {
      const { port } = yield* RedisServer.make()
      const [limit, interval] = [30, 500]
      const started = Date.now()
      const counts = yield* Effect.all(
        Array.from({ length: 4 }, () => search({ port, limit, interval, millis: 4_000 })),
        { concurrency: "unbounded" }
      )
      const windows = Math.ceil((Date.now() - started) / interval) + 1
      const all = counts.reduce((all, count) => all + count, 0)
      expect(all).toBeLessThanOrEqual(limit * windows)
      expect(all).toBeGreaterThan(limit * 4)
    }), 60_000)

  it.scopedLive(
    "keeps a limit that no interval is a multiple of, of which Redis takes no fraction",
    () =>
      Effect.gen(function*() {
        const { port } = yield* RedisServer.make()
        const double = AdvisorDouble.answering(Effect.succeed("found"))
        const live = Throttle.layerShared({ rate: { limit: 7, interval: "10 minutes" }, maxWait: "1 second" }).pipe(
          Layer.provide(double.layer),
          Layer.provide(RateLimiter.layer),
          Layer.provide(RateLimiterRedis.layerStore({ host: "127.0.0.1", port }))
        )
        const searching = Effect.all(Array.from({ length: 20 }, () => Effect.either(NutritionAdvisor.search("oats"))), {
          concurrency: "unbounded"
        })
        const outcomes = yield* Effect.provide(searching, live)
        expect(outcomes.map(Either.isRight)).toEqual([...Array(7).fill(true), ...Array(13).fill(false)])
        expect(double.sent).toHaveLength(7)
      }),
    60_000
  )

  it.scopedLive("lets every search go on once Redis is killed", () =>
    Effect.gen(function*() {
      const redis = yield* RedisServer.make()
      const double = AdvisorDouble.answering(Effect.succeed("found"))
      const live = Throttle.layerShared({ rate: { limit: 1_000, interval: "1 second" }, maxWait: "1 second" }).pipe(
        Layer.provide(double.layer),
        Layer.provide(RateLimiter.layer),
        Layer.provide(RateLimiterRedis.layerStore({ host: "127.0.0.1", port: redis.port }))
      )
      yield* Effect.gen(function*() {
        const searches = Effect.all(Array.from({ length: 20 }, () => NutritionAdvisor.search("oats")), {
          concurrency: "unbounded"
        })
        yield* searches
        yield* redis.kill
        for (let round = 0; round < 3; round++) yield* searches
        expect(double.sent).toHaveLength(80)
        yield* redis.start
        // The client of Effect 4 can't be closed before it is connected again.
        yield* Effect.repeat(redis.command("CLIENT", "LIST"), {
          until: (list) => String(list).trim().split("\n").length > 1,
          schedule: Schedule.spaced("50 millis")
        })
      }).pipe(Effect.provide(live))
    }), 60_000)
})
