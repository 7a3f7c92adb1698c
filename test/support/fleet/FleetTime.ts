/** Virtual time for thousands of fibers: timers in a heap, fibers in a queue, and WebCrypto that is waited for. */
import { Duration, Effect, type Fiber } from "effect"
import { makeClock } from "../doubles/makeClock.js"
import { ManualScheduler } from "../doubles/runtime.js"
import * as PlainCrypto from "./PlainCrypto.js"

interface Timer {
  readonly at: number
  /** Timers of the same moment fire in the order in which they were set. */
  readonly order: number
  /** None once it is canceled. */
  fire: (() => void) | undefined
}

const isBefore = (self: Timer, that: Timer) => self.at < that.at || (self.at === that.at && self.order < that.order)

/** Runs fibers first in, first out, and only when told to. */
class QueueScheduler extends ManualScheduler {
  private tasks: Array<() => void> = []

  protected override yields(operations: number, _fiber: Fiber.RuntimeFiber<unknown, unknown>) {
    return operations > 2_048
  }

  protected override add(goOn: () => void) {
    this.tasks.push(goOn)
  }

  get isIdle() {
    return this.tasks.length === 0
  }

  readonly run = () => {
    while (this.tasks.length > 0) {
      const tasks = this.tasks
      this.tasks = []
      for (const task of tasks) task()
    }
  }
}

const epoch = 1_800_000_000_000

export class FleetTime {
  readonly scheduler = new QueueScheduler()
  private readonly heap: Array<Timer> = []
  private order = 0
  /** Milliseconds since the start. */
  now = 0

  /** The clock of a machine whose wall clock is off by so many milliseconds. */
  readonly clock = (skew: number) =>
    makeClock({
      wall: () => Math.floor(epoch + this.now + skew),
      monotonic: () => BigInt(Math.round(this.now * 1e6)),
      sleep: (duration) =>
        Effect.async((resume: (effect: Effect.Effect<void>) => void) => {
          const timer = this.push(this.now + Duration.toMillis(duration), () => resume(Effect.void))
          return Effect.sync(() => {
            timer.fire = undefined
          })
        })
    })

  /** Calls back after so many milliseconds. */
  after(millis: number, fire: () => void) {
    this.push(this.now + millis, fire)
  }

  /** Lets so much time pass, and everything happen that is due meanwhile. */
  async pass(millis: number) {
    const end = this.now + millis
    await this.settle()
    for (let timer = this.heap[0]; timer !== undefined && timer.at <= end; timer = this.heap[0]) {
      this.now = Math.max(this.now, timer.at)
      for (let due = this.heap[0]; due !== undefined && due.at <= this.now; due = this.heap[0]) {
        this.pop()
        due.fire?.()
      }
      await this.settle()
    }
    this.now = end
  }

  private async settle() {
    this.scheduler.run()
    while (PlainCrypto.takeUses() > 0 || !this.scheduler.isIdle) {
      await new Promise((resolve) => setImmediate(resolve))
      this.scheduler.run()
    }
  }

  private push(at: number, fire: () => void): Timer {
    const timer: Timer = { at, order: this.order++, fire }
    const { heap } = this
    let index = heap.length
    for (let up = (index - 1) >> 1; index > 0; index = up, up = (index - 1) >> 1) {
      const parent = heap[up]
      if (parent === undefined || isBefore(parent, timer)) break
      heap[index] = parent
    }
    heap[index] = timer
    return timer
  }

  private pop() {
    const { heap } = this
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (let down = 1; down < heap.length; index = down, down = 2 * index + 1) {
      const [left, right] = [heap[down], heap[down + 1]]
      if (left !== undefined && right !== undefined && isBefore(right, left)) down += 1
      const child = heap[down]
      if (child === undefined || isBefore(last, child)) break
      heap[index] = child
    }
    heap[index] = last
  }
}
