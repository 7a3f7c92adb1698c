/** A client that shares its token, in a process that is stopped during an exchange. */
import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer } from "effect"
import { NutritionAdvisor, SharedTokenCache } from "effect-nutrition-advisor"
import { arranged } from "../support/doubles/arranged.js"
import { around } from "../support/doubles/CacheDouble.js"
import * as ManualClock from "../support/doubles/ManualClock.js"
import { settings } from "../support/doubles/simulatedAdvisor.js"
import * as Time from "../support/doubles/Time.js"

const test = arranged(Effect.void, Layer.empty, around)

/** A service that counts how many exchanges run at once. The first one gets no response, and ends with `first`. */
const serviceWith = (first: Effect.Effect<void>) => {
  const exchanges = { started: 0, running: 0, most: 0 }
  const ended = Effect.sync(() => {
    exchanges.running -= 1
  })
  const client = HttpClient.make((request) => {
    const respond = (json: unknown) => Effect.sync(() => HttpClientResponse.fromWeb(request, Response.json(json)))
    if (request.method !== "POST") return respond([])
    exchanges.started += 1
    exchanges.running += 1
    exchanges.most = Math.max(exchanges.most, exchanges.running)
    const exchange = exchanges.started === 1
      ? Effect.zipRight(first, new HttpClientError.RequestError({ request, reason: "Transport" }))
      : Effect.delay(respond({ access_token: "token-1", expires_in: 3_600, customer_id: "customer-1" }), "200 millis")
    return Effect.ensuring(exchange, ended)
  })
  return { client, exchanges }
}

/** A search whose exchange runs while the process is stopped for a minute: both clocks go on, and no timer fires. */
const stoppedDuring = (first: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const clock = ManualClock.over(yield* Effect.clock)
    const { client, exchanges } = serviceWith(first)
    const layer = NutritionAdvisor.layerShared({
      ...settings,
      tokenTimeout: "1 second",
      lease: "1500 millis",
      cacheTimeout: "100 millis"
    }).pipe(Layer.provide([Layer.succeed(HttpClient.HttpClient, client), SharedTokenCache.layerMemory]))
    const context = yield* Effect.withClock(Layer.build(layer), clock)
    const { search } = Context.get(context, NutritionAdvisor.NutritionAdvisor)
    const searching = yield* Effect.fork(Effect.withClock(Effect.exit(search("oats")), clock))
    yield* Time.pass(100)
    ManualClock.suspend(clock, 60_000)
    yield* Time.pass(10_000)
    return { exchanges, exit: yield* Fiber.join(searching) }
  })

describe("sharing: a process that is suspended during an exchange", () => {
  test("the exchange is repeated if it can be interrupted", function*() {
    const { exchanges, exit } = yield* stoppedDuring(Effect.never)
    expect([Exit.isSuccess(exit), exchanges.started, exchanges.most]).toEqual([true, 2, 1])
  })

  test("no second exchange starts while an uninterruptible one runs", function*() {
    const { exchanges, exit } = yield* stoppedDuring(Effect.uninterruptible(Effect.sleep("5 seconds")))
    expect(Exit.isFailure(exit)).toBe(true)
    expect(exchanges.most).toBe(1)
  })
})
