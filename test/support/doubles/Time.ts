/** Shows which fibers run or sleep, and runs an effect to its end on TestClock. */
import { Chunk, type Duration, Effect, Fiber, Option, TestClock } from "effect"

/** The number of sleeping fibers. */
export const timers: Effect.Effect<number> = Effect.map(TestClock.sleeps(), Chunk.size)

/** The number of running fibers that have no parent. */
export const fibers: Effect.Effect<number> = Effect.map(Fiber.roots, ({ length }) => length)

/** Advances the clock in steps of this duration until the effect ends. */
export const runToEnd = (step: Duration.DurationInput) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust(0)
    while (Option.isNone(yield* Fiber.poll(fiber))) yield* TestClock.adjust(step)
    return yield* Fiber.join(fiber)
  })
