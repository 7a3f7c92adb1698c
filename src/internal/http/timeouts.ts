import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { RunInBackground } from "../background.js"
import { monotonicMillis } from "../clock.js"

/** What must end in time, itself a link between those that began before and after it. The three fields are the list's. */
export abstract class Timed {
  end = 0
  before: Timed | undefined
  after: Timed | undefined

  abstract onEnd(reason: "Timeout" | "Closed"): void
}

/**
 * The same timeout for many requests, which time out in the order they began: one fiber sleeps until the first is due, and a
 * request costs no timer and no fiber of its own. No Set: the table that V8 gives up as it grows keeps all later ones alive.
 */
export class Timeouts {
  private first: Timed | undefined
  private last: Timed | undefined
  private isClosed = false

  constructor(readonly millis: number, private readonly now: () => number, private readonly watch: () => void) {}

  /** Cuts it off once the time is over, unless it is removed before; at once where nobody may begin any more. */
  add(timed: Timed) {
    if (this.isClosed) return timed.onEnd("Closed")
    timed.end = this.now() + this.millis
    timed.before = this.last
    if (this.last === undefined) this.first = timed
    else this.last.after = timed
    this.last = timed
    this.watch()
  }

  /** Nothing happens to one who is not there. */
  remove(timed: Timed) {
    if (timed.before === undefined && this.first !== timed) return
    if (timed.before === undefined) this.first = timed.after
    else timed.before.after = timed.after
    if (timed.after === undefined) this.last = timed.before
    else timed.after.before = timed.before
    timed.before = timed.after = undefined
  }

  /** Cuts off all, and all who come later. */
  close() {
    this.isClosed = true
    while (this.first !== undefined) this.cutOff(this.first, "Closed")
  }

  private cutOff(timed: Timed, reason: "Timeout" | "Closed") {
    this.remove(timed)
    timed.onEnd(reason)
  }

  /** Cuts off all that are due, and tells when the first of the others is. */
  due(now = this.now()): number | undefined {
    while (this.first !== undefined && this.first.end <= now) this.cutOff(this.first, "Timeout")
    return this.first?.end
  }
}

export const make = (millis: number, run: RunInBackground): Effect.Effect<Timeouts, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    let isWatched = false

    const now = () => monotonicMillis(clock)

    /** What was slept has passed, also where a test fakes the timers and not this clock. */
    const watching = Effect.gen(function*() {
      for (let end = timeouts.due(); end !== undefined; end = timeouts.due(Math.max(end, now()))) {
        yield* Effect.sleep(Math.ceil(end - now()))
      }
      isWatched = false
    })

    const timeouts: Timeouts = new Timeouts(millis, now, () => {
      if (isWatched) return
      isWatched = true
      run(watching)
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => timeouts.close()))
    return timeouts
  })
