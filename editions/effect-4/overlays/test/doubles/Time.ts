// Effect 4's TestClock does not tell who sleeps: the one beside this does.
/** The one way by which tests let time pass, and see who waits for it. */
import { type Duration, Effect, Fiber } from "effect"
import { current, type TestClock } from "./TestClock.js"

const clock = Effect.suspend(() =>
  current.clock === undefined ? Effect.die("This test has no TestClock.") : Effect.succeed(current.clock)
)

/** Until what can go on without time has done so: the clock of Effect 4 waits for nobody before it moves. */
const settled = Effect.promise(() => new Promise<void>((done) => setImmediate(() => setImmediate(() => done()))))

const moved = (move: (clock: TestClock) => Effect.Effect<void>) =>
  settled.pipe(Effect.andThen(Effect.flatMap(clock, move)), Effect.andThen(settled))

/** Lets so much time pass, and all that is due on the way happen. */
export const pass = (duration: Duration.Input) => moved((clock) => clock.adjust(duration))

/** Sets the clock to a moment, in epoch milliseconds. */
export const set = (millis: number) => moved((clock) => clock.setTime(millis))

/** When those who sleep are due, in epoch milliseconds. */
export const wakes = Effect.sync(() => [...current.due].map(({ at }) => at).sort((one, other) => one - other))

/** How many sleep. */
export const timers = Effect.map(wakes, ({ length }) => length)

/** How many fibers run. */
export const fibers = Effect.sync(() => current.fibers)

/** Runs the effect to its end while the clock goes on in such steps. */
export const settle = (step: Duration.Input) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) yield* pass(step)
    return yield* Fiber.join(fiber)
  })
