import { Effect, type Fiber, Random, type Scheduler } from "effect"

/** The operations that the runtime itself takes to wake a fiber from a yield; with fewer no fiber gets anywhere. */
const wakingOperations = 9

/**
 * Runs fibers only when told to, at most so many operations each, and picks the next one at random: every order it makes is
 * one that some machine could make. Without `random` the order is first in, first out.
 */
export class ShakenScheduler implements Scheduler.Scheduler {
  private readonly tasks: Array<() => void> = []

  constructor(public operations: number, private readonly random?: () => number) {}

  shouldYield(fiber: Fiber.RuntimeFiber<unknown, unknown>) {
    return fiber.currentOpCount > this.operations + wakingOperations ? 0 : false
  }

  scheduleTask(task: () => void) {
    this.tasks.push(task)
  }

  get isIdle() {
    return this.tasks.length === 0
  }

  /** Runs what is to run, or only so many turns of it. */
  readonly settle = (turns = Number.POSITIVE_INFINITY) => {
    for (let turn = 0; turn < turns && this.tasks.length > 0; turn++) {
      const index = this.random === undefined ? 0 : Math.floor(this.random() * this.tasks.length)
      this.tasks.splice(index, 1)[0]?.()
    }
  }
}

/** Numbers from zero to one, the same ones for the same seed. */
export const randomOf = (seed: string): () => number => {
  const random = Random.make(seed)
  return () => Effect.runSync(random.next)
}
