import { expect } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { withTimeoutExtendingIfStopped } from "../../src/internal/token/withTimeout.js"
import { test } from "../support/doubles/arranged.js"
import * as ManualClock from "../support/doubles/ManualClock.js"
import * as Time from "../support/doubles/Time.js"

test("exchange in a process that is suspended: an issuer that repeats it gets the whole timeout once more", function*() {
  const clock = ManualClock.besides(yield* Effect.clock)
  const repeated = Effect.delay(Effect.succeed("token"), "1900 millis")
  const waiting = yield* Effect.fork(Effect.withClock(withTimeoutExtendingIfStopped(1_000)(repeated), clock))
  yield* Time.pass("100 millis")
  clock.wall += 60_000
  clock.monotonic += 60_000
  yield* Time.pass("2 seconds")
  expect(yield* Fiber.join(waiting)).toBe("token")
})
