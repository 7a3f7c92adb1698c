import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { outsideOfCalls } from "../runtime/asyncContext.js"
import type { RunInBackground } from "../runtime/background.js"
import { monotonicMillis } from "../runtime/clock.js"
import { onClose } from "../runtime/onClose.js"

/** An entry with a timeout. It is a node of a linked list, ordered by start time. Only the list uses the three fields. */
export abstract class Timed {
  dueAt = 0
  before: Timed | undefined
  after: Timed | undefined

  abstract onExpire(reason: "Timeout" | "Closed"): void
}

/**
 * One timeout for many requests. They time out in the order in which they started, so one fiber sleeps until the first one is due, and no
 * request needs its own timer or fiber. This is not a Set, because V8 would keep its old tables in memory as it grows.
 */
export class Timeouts {
  private first: Timed | undefined
  private last: Timed | undefined
  private isClosed = false

  constructor(
    private readonly millis: number,
    private readonly now: () => number,
    private readonly watch: () => void
  ) {}

  /** Adds an entry, which times out unless it is removed in time. After `close`, the entry expires at once. */
  add(timed: Timed) {
    if (this.isClosed) return timed.onExpire("Closed")
    timed.dueAt = this.now() + this.millis
    timed.before = this.last
    if (this.last === undefined) this.first = timed
    else this.last.after = timed
    this.last = timed
    this.watch()
  }

  /** Removes an entry. Removing it twice is harmless. */
  remove(timed: Timed) {
    if (timed.before === undefined && this.first !== timed) return
    if (timed.before === undefined) this.first = timed.after
    else timed.before.after = timed.after
    if (timed.after === undefined) this.last = timed.before
    else timed.after.before = timed.before
    timed.before = timed.after = undefined
  }

  /** Expires all entries, and every entry that is added later. */
  close() {
    this.isClosed = true
    while (this.first !== undefined) this.expire(this.first, "Closed")
  }

  private expire(timed: Timed, reason: "Timeout" | "Closed") {
    this.remove(timed)
    timed.onExpire(reason)
  }

  /** Expires all entries that are due, and returns the time at which the next one is due. */
  expireDue(now = this.now()): number | undefined {
    while (this.first !== undefined && this.first.dueAt <= now) this.expire(this.first, "Timeout")
    return this.first?.dueAt
  }
}

export const make = (millis: number, run: RunInBackground): Effect.Effect<Timeouts, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    let isWatched = false

    const now = () => monotonicMillis(clock)

    /** After a sleep, its end time counts as reached, even if a test fakes the timers but not this clock. */
    const watching = Effect.gen(function*() {
      for (let dueAt = timeouts.expireDue(); dueAt !== undefined; dueAt = timeouts.expireDue(Math.max(dueAt, now()))) {
        yield* Effect.sleep(Math.ceil(dueAt - now()))
      }
      isWatched = false
    })

    const timeouts: Timeouts = new Timeouts(millis, now, () => {
      if (isWatched) return
      isWatched = true
      outsideOfCalls(() => run(watching))
    })
    yield* onClose(Effect.sync(() => timeouts.close()))
    return timeouts
  })
