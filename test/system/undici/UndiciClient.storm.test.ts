import { Effect, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { expect } from "vitest"
import { testLive } from "../../support/doubles/arranged.js"
import { start } from "../../support/doubles/WatchedSimulator.js"

const searches = 4_000

const connections = 64

testLive(
  "UndiciClient: 4,000 concurrent searches wait for 64 connections and succeed, even if their token was revoked",
  function*() {
    const { service, url: baseUrl } = yield* start()
    const { search } = yield* NutritionAdvisor.make({
      baseUrl,
      licenseKey: Simulator.licenseKey,
      // A request may wait in the queue for longer than the defaults allow.
      requestTimeout: "2 minutes",
      tokenTimeout: "2 minutes"
    }).pipe(Effect.provide(yield* Layer.build(UndiciClient.layer({ connections }))))
    yield* search("oats")
    yield* service.revoke
    yield* Effect.replicateEffect(search("oats"), searches, { concurrency: "unbounded", discard: true })
    const { exchanges, rejections } = yield* service.counters
    expect(exchanges).toBe(2)
    expect(rejections).toBeGreaterThan(0)
    expect(rejections).toBeLessThanOrEqual(searches)
  }
)
