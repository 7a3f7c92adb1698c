// Effect 4 has no Supervisor and no Random service for a seed, and its scheduler and its clock are different.
import { type Clock, Context, type Duration, Effect, type Fiber, Metric, Random, type Scheduler } from "effect"

export class FiberCount {
  running = 0

  readonly counted = Effect.provideService(Metric.FiberRuntimeMetrics, {
    recordFiberStart: () => this.running++,
    recordFiberEnd: () => this.running--
  })
}

export const seeded = (seed: string) => {
  const service = Effect.runSync(Random.withSeed(Effect.map(Effect.context<never>(), Context.get(Random.Random)), seed))
  return { service, next: () => service.nextDoubleUnsafe() }
}

interface ClockParts {
  readonly wall: () => number
  readonly monotonic: () => bigint
  readonly sleep: (duration: Duration.Duration) => Effect.Effect<void>
}

export const makeClock = ({ monotonic, sleep, wall }: ClockParts): Clock.Clock => {
  const unixNanos = () => BigInt(Number.isFinite(wall()) ? Math.round(wall()) : 0) * 1_000_000n
  return {
    currentTimeMillis: Effect.sync(wall),
    currentTimeMillisUnsafe: wall,
    currentTimeNanos: Effect.sync(unixNanos),
    currentTimeNanosUnsafe: unixNanos,
    monotonicTimeNanos: Effect.sync(monotonic),
    monotonicTimeNanosUnsafe: monotonic,
    sleep
  }
}

/** The number of operations that the runtime itself needs to wake a fiber from a yield. */
const wakingOperations = 3

type AnyFiber = Fiber.Fiber<unknown, unknown>

export const makeScheduler = (
  add: (task: () => void) => void,
  yields: (operations: number, fiber: AnyFiber) => boolean
): Scheduler.Scheduler => ({
  executionMode: "async",
  shouldYield: (fiber) => yields(fiber.currentOpCount - wakingOperations, fiber),
  makeDispatcher: () => ({ scheduleTask: add, flush: () => {} })
})
