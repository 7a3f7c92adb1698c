import { Effect, type Fiber } from "effect"
import { makeScheduler } from "../doubles/runtime.js"

/**
 * Runs fibers only in `runFibers`. A fiber yields after the given number of operations, and the next one is picked at random, so
 * that each order is one that could happen. Without `random`, the order is first in, first out.
 */
export class SteppedScheduler {
  /** Called before each operation. The fiber yields there if it returns true. */
  onOperation = (_fiber: Fiber.RuntimeFiber<unknown, unknown>) => false
  private readonly tasks: Array<() => void> = []
  private readonly scheduler = makeScheduler(
    (task) => this.tasks.push(task),
    (operations, fiber) => this.onOperation(fiber) || operations > this.operations
  )

  constructor(private readonly operations = 2_048, private readonly random = () => 0) {}

  get isIdle() {
    return this.tasks.length === 0
  }

  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.RuntimeFiber<A, E> {
    return Effect.runFork(effect, { scheduler: this.scheduler })
  }

  /** Runs all waiting tasks, or at most the given number of them. */
  readonly runFibers = (turns = Number.POSITIVE_INFINITY) => {
    for (let turn = 0; turn < turns && !this.isIdle; turn++) {
      const [next] = this.tasks.splice(Math.floor(this.random() * this.tasks.length), 1)
      next?.()
    }
  }
}
