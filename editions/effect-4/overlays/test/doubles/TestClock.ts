// Effect 4's TestClock does not tell who sleeps, and nothing tells which fibers run: this one, which tests get in its place, notes both.
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as TestClock from "../../../node_modules/effect/dist/testing/TestClock.js"

export * from "../../../node_modules/effect/dist/testing/TestClock.js"

/** Of the test that runs: its clock, when those who sleep are due, and how many fibers run. */
export const current = {
  clock: undefined as TestClock.TestClock | undefined,
  due: new Set<{ readonly at: number }>(),
  fibers: 0
}

/** Until what can go on without time has done so: the clock of Effect 4 waits for nobody before it moves. */
const settled = Effect.promise(() => new Promise<void>((done) => setImmediate(() => setImmediate(() => done()))))

/** Tests that have a clock of their own move that of the test. */
const moved = (move: (clock: TestClock.TestClock) => Effect.Effect<void>) =>
  Effect.suspend(() => {
    if (current.clock === undefined) return Effect.die("This test has no TestClock.")
    return settled.pipe(Effect.andThen(move(current.clock)), Effect.andThen(settled))
  })

export const adjust = (duration: Duration.Input) => moved((clock) => clock.adjust(duration))

export const setTime = (millis: number) => moved((clock) => clock.setTime(millis))

/** When those who sleep are due. */
export const sleeps = () =>
  Effect.sync(() => Chunk.fromIterable([...current.due].map(({ at }) => at).sort((one, other) => one - other)))

const noting = (clock: TestClock.TestClock): TestClock.TestClock => {
  const due = new Set<{ readonly at: number }>()
  Object.assign(current, { clock, due, fibers: 0 })
  const sleep = (duration: Duration.Duration) =>
    Effect.suspend(() => {
      const entry = { at: clock.currentTimeMillisUnsafe() + Duration.toMillis(duration) }
      due.add(entry)
      return Effect.ensuring(clock.sleep(duration), Effect.sync(() => due.delete(entry)))
    })
  return { ...clock, sleep }
}

const counted: Metric.FiberRuntimeMetricsService = {
  recordFiberStart: () => current.fibers++,
  recordFiberEnd: () => current.fibers--
}

export const layer = (options?: Parameters<typeof TestClock.layer>[0]) =>
  Layer.effectContext(Effect.map(Layer.build(TestClock.layer(options)), (context) =>
    context.pipe(
      Context.add(Clock.Clock, noting(Context.get(context, Clock.Clock) as TestClock.TestClock)),
      Context.add(Metric.FiberRuntimeMetrics, counted)
    )))
