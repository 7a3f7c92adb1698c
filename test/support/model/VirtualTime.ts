import { Duration, Effect } from "effect"
import * as ManualClock from "../doubles/ManualClock.js"
import { makeClock } from "../doubles/runtime.js"

interface Timer {
  readonly at: number
  /** Undefined if the timer was canceled. */
  fire: (() => void) | undefined
}

export const epoch = 1_800_000_000_000

/** A clock with timers. Only `pass` moves it. TestClock needs some real milliseconds for each step, which is too slow for 60,000 steps. */
export class VirtualTime {
  /** Milliseconds since the start. */
  now = 0
  /** Sorted, with the next timer last. Timers with the same time fire in the order in which they were set. */
  private readonly timers: Array<Timer> = []

  /** Timers depend only on `now`, as Node's depend on the monotonic clock: changing the wall clock does not delay them. */
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

  /** Calls `fire` after this many milliseconds. */
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

  /** Advances the time. It yields first, and then after the timers of each moment, so that fibers can run. */
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

  /** Advances the time, and runs fibers with `runFibers`. */
  pass(millis: number, runFibers: () => void) {
    for (const _ of this.passing(millis)) runFibers()
  }
}
