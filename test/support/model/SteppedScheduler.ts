import type { Fiber } from "effect"
import { ManualScheduler } from "../doubles/runtime.js"

/**
 * Runs fibers only when told to, at most so many operations each, and picks the next one at random: every order it makes is
 * one that some machine could make. Without `random` the order is first in, first out.
 */
export class SteppedScheduler extends ManualScheduler {
  private readonly tasks: Array<() => void> = []
  /** The oldest tasks, the next one last: taking one from the front of thousands is slow. */
  private round: Array<() => void> = []

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
    return this.tasks.length + this.round.length === 0
  }

  /** Runs what is to run, or only so many turns of it. */
  readonly runFibers = (turns = Number.POSITIVE_INFINITY) => {
    for (let turn = 0; turn < turns && !this.isIdle; turn++) this.next()?.()
  }

  private next() {
    if (this.random !== undefined) return this.tasks.splice(Math.floor(this.random() * this.tasks.length), 1)[0]
    if (this.round.length === 0) this.round = this.tasks.splice(0).reverse()
    return this.round.pop()
  }
}
