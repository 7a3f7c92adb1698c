/** The one way by which tests let time pass, and see who waits for it. */
import { Chunk, type Duration, Effect, Fiber, Option, TestClock } from "effect"

/** Lets so much time pass, and all that is due on the way happen. */
export const pass: (duration: Duration.DurationInput) => Effect.Effect<void> = TestClock.adjust

/** Sets the clock to a moment, in epoch milliseconds. */
export const set: (millis: number) => Effect.Effect<void> = TestClock.setTime

/** How many sleep. */
export const timers: Effect.Effect<number> = Effect.map(TestClock.sleeps(), Chunk.size)

/** How many fibers run that no other fiber waits for. */
export const fibers: Effect.Effect<number> = Effect.map(Fiber.roots, ({ length }) => length)

/** Returns the result of a fiber that must have ended by now. If it hasn't, dies at once: `Fiber.join` would wait for the test's timeout. */
export const resultNow = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(Fiber.poll(fiber), Option.getOrElse(() => Effect.dieMessage("The fiber has not ended yet")))

/** Runs the effect to its end while the clock goes on in such steps. */
export const runToEnd = (step: Duration.DurationInput) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    while (Option.isNone(yield* Fiber.poll(fiber))) yield* pass(step)
    return yield* Fiber.join(fiber)
  })
