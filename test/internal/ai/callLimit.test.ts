import { expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Fiber, TestClock } from "effect"
import * as CallLimit from "../../../src/internal/ai/callLimit.js"

const calls = fc.array(fc.record({ millis: fc.nat(50), leavesAfter: fc.option(fc.nat(80)) }), { maxLength: 40 })

it.effect.prop(
  "no place is lost, none is given twice, and none beyond those that wait gets one",
  [calls],
  ([calls]) =>
    Effect.gen(function*() {
      const limited = CallLimit.make(3, 10)
      let running = 0
      const work = (millis: number) =>
        Effect.acquireUseRelease(
          Effect.sync(() => expect(++running).toBeLessThanOrEqual(3)),
          () => Effect.as(Effect.sleep(millis), "done"),
          () => Effect.sync(() => running -= 1)
        )
      const fibers = yield* Effect.forEach(calls, ({ leavesAfter, millis }) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(limited(work(millis), Effect.succeed("refused")))
          if (leavesAfter !== null) yield* Effect.fork(Effect.delay(Fiber.interrupt(fiber), leavesAfter))
          yield* Effect.yieldNow()
          return fiber
        }))
      yield* TestClock.adjust("10 seconds")
      const refused = yield* Effect.forEach(
        fibers,
        (fiber) => Effect.map(Fiber.await(fiber), (exit) => exit._tag === "Success" && exit.value === "refused")
      )
      expect(refused.slice(0, 13)).not.toContain(true)
      const again = yield* Effect.forEach(
        Array.from({ length: 3 }),
        () => Effect.fork(limited(work(5), Effect.succeed("refused")))
      )
      yield* TestClock.adjust(5)
      expect(yield* Effect.forEach(again, Fiber.join)).toEqual(["done", "done", "done"])
    })
)
