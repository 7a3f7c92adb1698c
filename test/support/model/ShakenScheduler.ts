import type { Fiber } from "effect"
import { ManualScheduler } from "../doubles/runtime.js"

/**
 * Runs fibers only when told to, at most so many operations each, and picks the next one at random: every order it makes is
 * one that some machine could make. Without `random` the order is first in, first out.
 */
export class ShakenScheduler extends ManualScheduler {
  private readonly tasks: Array<() => void> = []

  constructor(public operations: number, private readonly random?: () => number) {
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

  /** Runs what is to run, or only so many turns of it. */
  readonly settle = (turns = Number.POSITIVE_INFINITY) => {
    for (let turn = 0; turn < turns && this.tasks.length > 0; turn++) {
      const index = this.random === undefined ? 0 : Math.floor(this.random() * this.tasks.length)
      this.tasks.splice(index, 1)[0]?.()
    }
  }
}
