// Before it moves, the TestClock of Effect 4 doesn't wait for fibers that can still run.
import { type Duration, Effect, type Fiber } from "effect"
import { TestClock } from "effect/testing"

/** Waits until fibers have done everything for which no time needs to pass. */
const settled = Effect.promise(() => new Promise<void>((done) => setImmediate(() => setImmediate(() => done()))))

const around = (move: Effect.Effect<void>) => settled.pipe(Effect.andThen(move), Effect.andThen(settled))

export const pass = (duration: Duration.Input) => around(TestClock.adjust(duration))

export const set = (millis: number) => around(TestClock.setTime(millis))

export const runToEnd = (step: Duration.Input) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber: Fiber.Fiber<A, E> = yield* Effect.forkChild(effect)
    yield* pass(0)
    while (fiber.pollUnsafe() === undefined) yield* pass(step)
    return yield* Effect.suspend(() => fiber.pollUnsafe() ?? Effect.never)
  })
