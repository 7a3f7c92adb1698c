import { Duration, Effect } from "effect"
import { makeClock } from "../doubles/makeClock.js"

interface Timer {
  readonly at: number
  readonly fire: () => void
}

/**
 * Two clocks and their timers, moved by hand. Timers go by the monotonic clock, as they do in Node; `jump` sets the wall clock
 * alone. TestClock waits some real milliseconds for each step, which 60,000 steps can't afford.
 */
export class VirtualTime {
  private readonly timers = new Set<Timer>()
  private elapsed = 0
  private offset = 1_000_000_000

  get pendingTimers() {
    return this.timers.size
  }

  get monotonicMillis() {
    return this.elapsed
  }

  get wallMillis() {
    return this.elapsed + this.offset
  }

  readonly clock = makeClock({
    wall: () => this.wallMillis,
    monotonic: () => BigInt(Math.round(this.elapsed * 1e6)),
    sleep: (duration) =>
      Effect.async((resume: (effect: Effect.Effect<void>) => void) => {
        const timer = { at: this.elapsed + Duration.toMillis(duration), fire: () => resume(Effect.void) }
        this.timers.add(timer)
        return Effect.sync(() => this.timers.delete(timer))
      })
  })

  jump(millis: number) {
    this.offset += millis
  }

  /** Lets time pass, timer by timer, and calls `settle` after each. */
  pass(millis: number, settle: () => void) {
    settle()
    for (const _ of this.firing(millis)) settle()
    settle()
  }

  /** Fires one timer after another, until so much time has passed. */
  private *firing(millis: number) {
    const end = this.elapsed + millis
    for (let timer = this.nextUntil(end); timer !== undefined; timer = this.nextUntil(end)) {
      this.elapsed = Math.max(this.elapsed, timer.at)
      this.timers.delete(timer)
      timer.fire()
      yield
    }
    this.elapsed = end
  }

  private nextUntil(end: number) {
    let next: Timer | undefined
    for (const timer of this.timers) {
      if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer
    }
    return next
  }
}
