import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { outsideOfCalls } from "../runtime/asyncContext.js"
import type { RunInBackground } from "../runtime/background.js"
import { monotonicMillis } from "../runtime/clock.js"
import { onClose } from "../runtime/onClose.js"

/** An entry with a timeout. It is a node of a ring, ordered by start time. Only the ring uses the three fields. */
export abstract class Timed {
  dueAt = Number.POSITIVE_INFINITY
  before: Timed = this
  after: Timed = this

  abstract onExpire(reason: "Timeout" | "Closed"): void
}

/** Where the ring starts and ends. It is due at infinity, so it never expires. */
class Anchor extends Timed {
  onExpire() {}
}

/**
 * One timeout for many requests. They time out in the order in which they started, so one fiber sleeps until the first one is due, and no
 * request needs its own timer or fiber. This is not a Set, because V8 would keep its old tables in memory as it grows.
 */
export class Timeouts {
  private readonly anchor: Timed = new Anchor()
  private isClosed = false

  constructor(
    private readonly millis: number,
    private readonly now: () => number,
    private readonly watch: () => void
  ) {}

  /** Adds an entry, which times out unless it is removed in time. After `close`, the entry expires at once. */
  add(timed: Timed) {
    if (this.isClosed) return timed.onExpire("Closed")
    const { anchor } = this
    timed.dueAt = this.now() + this.millis
    timed.before = anchor.before
    timed.after = anchor
    timed.before.after = anchor.before = timed
    this.watch()
  }

  /** Removes an entry. Removing it twice is harmless. */
  remove(timed: Timed) {
    timed.before.after = timed.after
    timed.after.before = timed.before
    timed.before = timed.after = timed
  }

  /** Expires all entries, and every entry that is added later. */
  close() {
    this.isClosed = true
    this.expireUntil(Number.MAX_VALUE, "Closed")
  }

  /** Expires all entries that are due, and returns the time at which the next one is due; infinity if there is none. */
  expireDue(now = this.now()): number {
    this.expireUntil(now, "Timeout")
    return this.anchor.after.dueAt
  }

  /** Stops at the anchor, which is due at infinity. */
  private expireUntil(latest: number, reason: "Timeout" | "Closed") {
    for (let first = this.anchor.after; first.dueAt <= latest; first = this.anchor.after) {
      this.remove(first)
      first.onExpire(reason)
    }
  }
}

export const make = (millis: number, run: RunInBackground): Effect.Effect<Timeouts, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    let isWatched = false

    const now = () => monotonicMillis(clock)

    /** After a sleep, its end time counts as reached, even if a test fakes the timers but not this clock. */
    const watching = Effect.gen(function*() {
      for (
        let dueAt = timeouts.expireDue();
        Number.isFinite(dueAt);
        dueAt = timeouts.expireDue(Math.max(dueAt, now()))
      ) {
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
