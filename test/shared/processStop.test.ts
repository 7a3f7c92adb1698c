/** A client that shares its token, in a process that is stopped during an exchange. */
import { HttpClient } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer } from "effect"
import { NutritionAdvisor, SharedTokenCache } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import { around } from "../support/doubles/CacheDouble.js"
import * as ManualClock from "../support/doubles/ManualClock.js"
import { settings } from "../support/doubles/simulatedAdvisor.js"
import * as Time from "../support/doubles/Time.js"

const test = arranged(Simulator.Simulator, Simulator.layerHttpClient(), around)

/** The end of a search whose process is stopped for a minute during its exchange: both clocks go on, and no timer fires. */
const searchWhileStopped = Effect.gen(function*() {
  const clock = ManualClock.over(yield* Effect.clock)
  const layer = NutritionAdvisor.layerShared({
    ...settings,
    tokenTimeout: "1 second",
    lease: "1500 millis",
    cacheTimeout: "100 millis"
  })
  const context = yield* Effect.withClock(Layer.build(Layer.provide(layer, SharedTokenCache.layerMemory)), clock)
  const { search } = Context.get(context, NutritionAdvisor.NutritionAdvisor)
  const searching = yield* Effect.fork(Effect.withClock(Effect.exit(search("oats")), clock))
  yield* Time.pass(100)
  ManualClock.suspend(clock, 60_000)
  yield* Time.pass(10_000)
  return yield* Fiber.join(searching)
})

const uninterruptible = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, HttpClient.transformResponse(Effect.uninterruptible))
)

describe("sharing: a process that is suspended during an exchange", () => {
  test("the exchange is repeated if it can be interrupted", function*(simulator) {
    yield* simulator.respondNext("token", "hang")
    expect(Exit.isSuccess(yield* searchWhileStopped)).toBe(true)
    expect(yield* simulator.counters).toMatchObject({ exchanges: 2, exchangesAtOnce: 1 })
  })

  test("no second exchange starts while an uninterruptible one runs", function*(simulator) {
    yield* simulator.setLatency("token", "5 seconds")
    expect(Exit.isFailure(yield* Effect.provide(searchWhileStopped, uninterruptible))).toBe(true)
    expect(yield* simulator.counters).toMatchObject({ exchangesAtOnce: 1 })
  })
})
