/** Moves TestClock, and shows which fibers run or sleep. */
import { Chunk, type Duration, Effect, Fiber, Option, TestClock } from "effect"

/** Advances the clock, and runs everything that is due. */
export const pass: (duration: Duration.DurationInput) => Effect.Effect<void> = TestClock.adjust

/** Sets the clock to a time, in epoch milliseconds. */
export const set: (millis: number) => Effect.Effect<void> = TestClock.setTime

/** The number of sleeping fibers. */
export const timers: Effect.Effect<number> = Effect.map(TestClock.sleeps(), Chunk.size)

/** The number of running fibers that have no parent. */
export const fibers: Effect.Effect<number> = Effect.map(Fiber.roots, ({ length }) => length)

/** Advances the clock in steps of this duration until the effect ends. */
export const runToEnd = (step: Duration.DurationInput) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* pass(0)
    while (Option.isNone(yield* Fiber.poll(fiber))) yield* pass(step)
    return yield* Fiber.join(fiber)
  })
