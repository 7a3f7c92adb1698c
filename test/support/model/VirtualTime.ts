import { Duration, Effect } from "effect"
import * as ManualClock from "../doubles/ManualClock.js"
import { makeClock } from "../doubles/runtime.js"

interface Timer {
  readonly at: number
  readonly fire: () => void
}

export const epoch = 1_800_000_000_000

/** A clock with timers. Only `passing` moves it. TestClock needs some real milliseconds for each step, which is too slow for 60,000 steps. */
export class VirtualTime {
  /** Milliseconds since the start. */
  now = 0
  private readonly timers = new Set<Timer>()

  /** Timers depend only on `now`, as Node's depend on the monotonic clock: changing the wall clock does not delay them. */
  readonly clock = ManualClock.over(makeClock({
    wall: () => Math.floor(epoch + this.now),
    monotonic: () => BigInt(Math.round(this.now * 1e6)),
    sleep: (duration) =>
      Effect.async((resume: (effect: Effect.Effect<void>) => void) =>
        Effect.sync(this.after(Duration.toMillis(duration), () => resume(Effect.void)))
      )
  }))

  get pendingTimers() {
    return this.timers.size
  }

  /** Calls `fire` after this many milliseconds. Returns a function that cancels this. */
  after(millis: number, fire: () => void) {
    const timer: Timer = { at: this.now + millis, fire }
    this.timers.add(timer)
    return () => void this.timers.delete(timer)
  }

  /** Advances the time. It yields first, and then after the timers of each moment, so that fibers can run. */
  *passing(millis: number) {
    const end = this.now + millis
    yield
    for (let next = this.next; next <= end; next = this.next) {
      this.now = Math.max(this.now, next)
      for (const timer of this.timers) {
        if (timer.at <= this.now && this.timers.delete(timer)) timer.fire()
      }
      yield
    }
    this.now = end
  }

  /** When the next timer is due. */
  private get next() {
    let next = Number.POSITIVE_INFINITY
    for (const { at } of this.timers) next = Math.min(next, at)
    return next
  }
}
