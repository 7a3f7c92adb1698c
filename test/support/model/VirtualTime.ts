import { Duration, Effect } from "effect"
import * as ManualClock from "../doubles/ManualClock.js"
import { makeClock } from "../doubles/runtime.js"

interface Timer {
  readonly at: number
  /** None once it is canceled. */
  fire: (() => void) | undefined
}

const epoch = 1_800_000_000_000

/** A clock and its timers, which only `pass` moves. TestClock waits some real milliseconds for each step: too long for 60,000 steps. */
export class VirtualTime {
  /** Milliseconds since the start. */
  now = 0
  /** The last one fires first. Those of the same moment fire in the order in which they were set. */
  private readonly timers: Array<Timer> = []

  /** Timers go by `now`, as they go by the monotonic clock in Node: moving `clock.wall` delays none of them. */
  readonly clock = ManualClock.over(makeClock({
    wall: () => Math.floor(epoch + this.now),
    monotonic: () => BigInt(Math.round(this.now * 1e6)),
    sleep: (duration) =>
      Effect.async((resume: (effect: Effect.Effect<void>) => void) => {
        const timer = this.after(Duration.toMillis(duration), () => resume(Effect.void))
        return Effect.sync(() => {
          timer.fire = undefined
        })
      })
  }))

  get pendingTimers() {
    return this.timers.filter(({ fire }) => fire !== undefined).length
  }

  /** Calls back after so many milliseconds. */
  after(millis: number, fire: () => void) {
    const timer: Timer = { at: this.now + millis, fire }
    let [from, to] = [0, this.timers.length]
    while (from < to) {
      const middle = Math.floor((from + to) / 2)
      if ((this.timers[middle]?.at ?? 0) > timer.at) from = middle + 1
      else to = middle
    }
    this.timers.splice(from, 0, timer)
    return timer
  }

  /** Lets so much time pass. It stops at once, and after the timers of each moment, so that fibers can run. */
  *passing(millis: number) {
    const end = this.now + millis
    yield
    for (let next = this.timers.at(-1); next !== undefined && next.at <= end; next = this.timers.at(-1)) {
      this.now = Math.max(this.now, next.at)
      while ((this.timers.at(-1)?.at ?? Number.POSITIVE_INFINITY) <= this.now) this.timers.pop()?.fire?.()
      yield
    }
    this.now = end
  }

  /** Lets so much time pass, and runs fibers with `runFibers`. */
  pass(millis: number, runFibers: () => void) {
    for (const _ of this.passing(millis)) runFibers()
  }
}
