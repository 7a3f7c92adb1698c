/**
 * Replaces parts of Effect's runtime: it counts fibers, and decides their order, the random numbers and the time. These parts share a
 * file, because Effect 4 needs another one (`editions/effect-4/overlays`).
 */
import { Clock, type Duration, Effect, type Fiber, Random, type Scheduler, Supervisor } from "effect"

export class FiberCount {
  private readonly supervisor = Supervisor.unsafeTrack()

  /** The number of fibers that have not ended. */
  get running() {
    return Effect.runSync(this.supervisor.value).length
  }

  readonly counted = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.supervised(effect, this.supervisor)
}

/** Random numbers from a seed: `service` for fibers, and `next` for numbers between 0 and 1. */
export const seeded = (seed: string) => {
  const service = Random.make(seed)
  return { service, next: () => Effect.runSync(service.next) }
}

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

/** The number of operations that the runtime needs to wake a fiber from a yield. With fewer, no fiber makes progress. */
const wakingOperations = 9

/**
 * A scheduler that passes each task to `add`. A fiber continues until `yields`, which gets the number of its own operations, returns
 * true.
 */
export const makeScheduler = (
  add: (task: () => void) => void,
  yields: (operations: number, fiber: AnyFiber) => boolean
): Scheduler.Scheduler => ({
  shouldYield: (fiber) => yields(fiber.currentOpCount - wakingOperations, fiber) ? 0 : false,
  scheduleTask: add
})
