/** One process of a fleet that shares a rate: searches as fast as it may, and prints how many began. */
import * as RateLimiter from "@effect/experimental/RateLimiter"
import * as RateLimiterRedis from "@effect/experimental/RateLimiter/Redis"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Duration, Effect, Layer, Schema } from "effect"
import { NutritionAdvisor, Throttle } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"

const Settings = Schema.parseJson(
  Schema.Struct({ port: Schema.Number, limit: Schema.Number, interval: Schema.Number, millis: Schema.Number })
)

const program = Effect.gen(function*() {
  const { interval, limit, millis, port } = yield* Schema.decodeUnknown(Settings)(process.argv[2])
  let begun = 0
  const below = NutritionAdvisorTest.layer({ search: () => Effect.sync(() => begun += 1) })
  const live = Throttle.layerShared({ rate: { limit, interval } }).pipe(
    Layer.provide(below),
    Layer.provide(RateLimiter.layer),
    Layer.provide(RateLimiterRedis.layerStore({ host: "127.0.0.1", port }))
  )
  const searching = Effect.replicateEffect(Effect.forever(NutritionAdvisor.search("oats")), 10, {
    concurrency: "unbounded"
  })
  yield* searching.pipe(Effect.timeoutOption(Duration.millis(millis)), Effect.provide(live))
  yield* Console.log(begun)
})

NodeRuntime.runMain(program)
