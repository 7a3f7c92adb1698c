import { inspect } from "node:util"
import * as RateLimiter from "@effect/experimental/RateLimiter"
import type { HttpClient } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, SharedTokenCache, Throttle } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { test } from "../doubles/arranged.js"
import * as Secrets from "./secrets.js"

/** Starts a fiber of its own that dies, and does not look at how it ends. */
const forking = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.forkDaemon(Effect.die(new Error(Secrets.key))).pipe(
    Effect.zipRight(Effect.yieldNow()),
    Effect.zipRight(effect)
  )

const { baseUrl } = Simulator

const refresh = { background: false }

const readKey = Effect.succeed(Simulator.licenseKey)

const lost = Effect.fail(new NutritionAdvisorError.LicenseKeyUnavailable({ detail: Secrets.key }))

const cache = Layer.effect(
  SharedTokenCache.SharedTokenCache,
  Effect.map(SharedTokenCache.makeMemory, (cache) => ({ ...cache, read: (name: string) => forking(cache.read(name)) }))
)

const limiter = Layer.succeed(RateLimiter.RateLimiter, {
  [RateLimiter.TypeId]: RateLimiter.TypeId,
  consume: () => forking(Effect.fail(new RateLimiter.RateLimitStoreError({ message: "gone" })))
})

const advisor = NutritionAdvisor.layer({ baseUrl, licenseKey: readKey, refresh })

const throttled = Throttle.layerShared({ rate: { limit: 10, interval: "1 second" } }).pipe(
  Layer.provide([advisor, limiter])
)

/** What is logged of such fibers, at any level. */
const linesOf = <E>(layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, E, HttpClient.HttpClient>) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ cause, message }) => {
    const line = inspect([message, cause], { depth: 9 })
    if (line.includes("unhandled error") && Secrets.shownIn(line).length > 0) lines.push(line)
  })
  return Effect.exit(NutritionAdvisor.search("oats")).pipe(
    Effect.provide(Layer.provide(layer, Simulator.layerHttpClient())),
    Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
    Logger.withMinimumLogLevel(LogLevel.All),
    Effect.as(lines)
  )
}

describe("Effect's own log line of a fiber that fails shows no secret", () => {
  test.each<readonly [string, Parameters<typeof linesOf>[0]]>([
    [
      "where the effect that reads the key starts it",
      NutritionAdvisor.layer({ baseUrl, licenseKey: forking(readKey), refresh })
    ],
    [
      "where a SharedTokenCache starts it",
      Layer.provide(NutritionAdvisor.layerShared({ baseUrl, licenseKey: readKey, refresh }), cache)
    ],
    ["where a RateLimiter starts it", throttled],
    [
      "where it ends in the `detail` of the application's own",
      NutritionAdvisor.layer({ baseUrl, licenseKey: lost, refresh })
    ]
  ])("%s", function*([, layer]) {
    expect(yield* linesOf(layer)).toEqual([])
  })
})
