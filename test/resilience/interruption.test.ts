import * as RateLimiter from "@effect/experimental/RateLimiter"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Logger } from "effect"
import {
  type NutritionAdvisor,
  NutritionAdvisorError,
  RequestRetry,
  SearchCache,
  Throttle
} from "effect-nutrition-advisor"
import { ShakenScheduler } from "../model/ShakenScheduler.js"
import * as AdvisorDouble from "./AdvisorDouble.js"
import { AdvisorWorld } from "./AdvisorWorld.js"

type Around = Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown, NutritionAdvisor.NutritionAdvisor>

const limiterOf = (consume: Effect.Effect<RateLimiter.ConsumeResult, RateLimiter.RateLimiterError>) =>
  Layer.succeed(RateLimiter.RateLimiter, { [RateLimiter.TypeId]: RateLimiter.TypeId, consume: () => consume })

const granted: RateLimiter.ConsumeResult = {
  delay: Duration.zero,
  limit: 2,
  remaining: 0,
  resetAfter: Duration.seconds(1)
}

const onTooManyRequests = "wait"

const shared = (consume: Effect.Effect<RateLimiter.ConsumeResult, RateLimiter.RateLimiterError>) =>
  Throttle.layerShared({ onTooManyRequests: "ignore", rate: { limit: 2, interval: "1 second" }, maxWait: "1 minute" })
    .pipe(
      Layer.provide(limiterOf(consume))
    )

const retrying = RequestRetry.layer({ base: 1_000 })

const layers: ReadonlyArray<readonly [string, Around]> = [
  ["SearchCache.layer", SearchCache.layer({ timeToLive: 1 })],
  ["SearchCache.layerCoalescing", SearchCache.layerCoalescing],
  ["RequestRetry.layer", retrying],
  [
    "Throttle.layer with a rate",
    Throttle.layer({ onTooManyRequests, rate: { limit: 1, interval: "1 minute" }, maxWait: "1 hour" })
  ],
  ["Throttle.layer during a hold", Throttle.layer({ onTooManyRequests })],
  ["Throttle.layerShared", shared(Effect.delay(Effect.succeed(granted), 5))],
  ["Throttle.layerShared over a limiter that hangs", shared(Effect.never)],
  ["Throttle.layerShared over a limiter that dies", shared(Effect.die("a bug in a store"))],
  ["Throttle.layerShared over a limiter that is interrupted", shared(Effect.interrupt)],
  ["Throttle.layerShared over a limiter that answers nonsense", shared(Effect.succeed(null as never))]
]

const quiet = Logger.remove(Logger.defaultLogger)

const operation = "search"

const unavailable = Effect.fail(new NutritionAdvisorError.ServerError({ operation, status: 503 }))

/** What makes layers wait: a 429 for one term, and for a flaky service every other search fails. */
const below = (isFlaky: boolean) =>
  AdvisorDouble.make(({ index, what }) => {
    if (what === "limit") {
      return Effect.fail(new NutritionAdvisorError.TooManyRequests({ operation, status: 429, retryAfter: 2 }))
    }
    return Effect.delay(isFlaky && index % 2 === 1 ? unavailable : Effect.succeed("found"), 10)
  })

/** Interrupts a search after so many turns, and says whether it would have gone on. */
const interruptedAfter = (layer: Around, operations: number, turns: number, isWaiting: boolean) => {
  const double = below(layer === retrying)
  const scheduler = new ShakenScheduler(2_048)
  const world = new AdvisorWorld(Layer.provide(layer, Layer.merge(double.layer, quiet)), "a seed", scheduler)
  world.search("limit")
  const other = isWaiting ? world.search("oats") : undefined
  scheduler.operations = operations
  const leaving = world.run(world.advisor.search("oats"), turns)
  const goesOn = !scheduler.isIdle
  if (layer === retrying && scheduler.isIdle) world.pass(10)
  world.interrupt(leaving)
  scheduler.operations = 2_048
  expect(leaving.unsafePoll()).not.toBeNull()
  if (!isWaiting) expect(double.inFlight.now).toBe(0)
  const sent = double.sent.filter(({ what }) => what === "oats").length
  world.pass(3_600_000)
  if (other === undefined) expect(double.sent.filter(({ what }) => what === "oats")).toHaveLength(sent)
  else expect(other.unsafePoll()).toEqual(Exit.succeed("found"))
  const later = world.search("oats")
  world.pass(3_600_000)
  expect(later.unsafePoll()).toEqual(Exit.succeed("found"))
  world.close()
  expect([double.inFlight.now, world.fibers, world.time.pendingTimers]).toEqual([0, 0, 0])
  return goesOn
}

describe.each(layers)("a search through %s that is interrupted at any step", (_, layer) => {
  it.each([1, 2, 3, 5, 8, 13])(
    "ends at once, is sent for nobody, and leaves nothing behind: fibers yield after %i operations",
    (operations) => {
      for (const isWaiting of [false, true]) {
        let turns = 0
        while (interruptedAfter(layer, operations, turns, isWaiting)) turns += 1
        /** A search that a cache answers may take no more than 13 operations. */
        if (operations < 13) expect(turns).toBeGreaterThan(0)
      }
    }
  )
})
