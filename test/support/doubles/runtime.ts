/** What the runtime of Effect knows or decides: which fibers run and in which order, what is random, and what a clock is. */
import { Clock, type Duration, Effect, type Fiber, Random, type Scheduler, Supervisor } from "effect"

/** Counts the fibers that effects start. */
export class FiberCount {
  private readonly supervisor = Supervisor.unsafeTrack()

  /** Those that have not ended. */
  get running() {
    return Effect.runSync(this.supervisor.value).length
  }

  readonly counted = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.supervised(effect, this.supervisor)
}

/** Random numbers, the same ones for the same seed: for fibers, and from zero to one. */
export const seeded = (seed: string) => {
  const service = Random.make(seed)
  return { service, next: () => Effect.runSync(service.next) }
}

/** What a clock is made of. */
interface ClockParts {
  /** The wall clock, in epoch milliseconds. */
  readonly wall: () => number
  /** A clock that is never set back, in nanoseconds. */
  readonly monotonic: () => bigint
  readonly sleep: (duration: Duration.Duration) => Effect.Effect<void>
}

export const makeClock = ({ monotonic, sleep, wall }: ClockParts): Clock.Clock => ({
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  currentTimeMillis: Effect.sync(wall),
  currentTimeNanos: Effect.sync(monotonic),
  sleep,
  unsafeCurrentTimeMillis: wall,
  unsafeCurrentTimeNanos: monotonic
})

type AnyFiber = Fiber.RuntimeFiber<unknown, unknown>

/** The operations that the runtime itself takes to wake a fiber from a yield; with fewer no fiber gets anywhere. */
const wakingOperations = 9

/** A scheduler whose class decides when fibers go on, and after how many operations of their own they yield. */
export abstract class ManualScheduler implements Scheduler.Scheduler {
  protected abstract add(goOn: () => void): void

  protected abstract yields(operations: number, fiber: AnyFiber): boolean

  shouldYield(fiber: AnyFiber) {
    return this.yields(fiber.currentOpCount - wakingOperations, fiber) ? 0 : false
  }

  scheduleTask(task: () => void) {
    this.add(task)
  }
}
