import type { Fiber } from "effect"
import { ManualScheduler } from "../doubles/runtime.js"

/**
 * Runs fibers only in `runFibers`. A fiber yields after the given number of operations, and the next one is picked at random, so
 * that each order is one that could happen. Without `random`, the order is first in, first out.
 */
export class SteppedScheduler extends ManualScheduler {
  private readonly tasks: Array<() => void> = []

  constructor(private readonly operations = 2_048, private readonly random = () => 0) {
    super()
  }

  protected override yields(operations: number, _fiber: Fiber.RuntimeFiber<unknown, unknown>) {
    return operations > this.operations
  }

  protected override add(goOn: () => void) {
    this.tasks.push(goOn)
  }

  get isIdle() {
    return this.tasks.length === 0
  }

  /** Runs all waiting tasks, or at most the given number of them. */
  readonly runFibers = (turns = Number.POSITIVE_INFINITY) => {
    for (let turn = 0; turn < turns && !this.isIdle; turn++) {
      const [next] = this.tasks.splice(Math.floor(this.random() * this.tasks.length), 1)
      next?.()
    }
  }
}
