import { FetchHttpClient } from "@effect/platform"
import { expect } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"
import { test } from "../support/doubles/arranged.js"
import * as ManualClock from "../support/doubles/ManualClock.js"
import { advisorOver } from "../support/doubles/simulatedAdvisor.js"

test("exchange with a fetch that ignores its signal: after a suspension, it is not repeated while it still runs", function*() {
  const clock = ManualClock.over(yield* Effect.clock)
  let calls = 0
  const hanging: typeof fetch = () => {
    calls += 1
    return new Promise(() => {})
  }
  const client = Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, hanging))
  const { search } = yield* Effect.withClock(advisorOver(client, {}), clock)
  const searching = yield* Effect.fork(Effect.withClock(Effect.flip(search("oats")), clock))
  yield* TestClock.adjust(1_000)
  ManualClock.suspend(clock, 60_000)
  yield* TestClock.adjust(20_000)
  expect(yield* Fiber.join(searching)).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
  expect(calls).toBe(1)
})
