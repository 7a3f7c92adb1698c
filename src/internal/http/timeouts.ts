import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { outsideOfCalls } from "../runtime/asyncContext.js"
import { monotonicMillis } from "../runtime/clock.js"
import { onClose } from "../runtime/onClose.js"

/** An entry with a timeout. It is a node in a ring, ordered by start time. Only this file uses the three fields. */
export abstract class Timed {
  dueAt = 0
  before: Timed = this
  after: Timed = this

  /** Called when the time is up, or when the scope is closed. */
  abstract onEnd(reason: "Timeout" | "Closed"): void

  /** Leaves the ring, so that `onEnd` isn't called. Leaving twice is harmless. */
  leave() {
    this.before.after = this.after
    this.after.before = this.before
    this.before = this.after = this
  }
}

/** Where the ring starts and ends. */
class Anchor extends Timed {
  onEnd() {}
}

/**
 * One timeout for many requests. They time out in the order in which they started, so one fiber is enough: it sleeps until the first one is
 * due. This is not a Set, because V8 would keep its old tables in memory as it grows.
 */
export interface Timeouts {
  /** Adds an entry, which times out unless it leaves in time. After the scope is closed, the entry ends immediately. */
  readonly add: (timed: Timed) => void
}

export const make = (millis: number): Effect.Effect<Timeouts, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const runtime = yield* Effect.runtime<never>()
    const anchor: Timed = new Anchor()
    let isClosed = false
    /** The fiber that sleeps until the first entry is due. */
    let watcher: Fiber.RuntimeFiber<void> | undefined

    const now = () => monotonicMillis(clock)

    /** Ends the entries that are due by then. */
    const endUntil = (latest: number, reason: "Timeout" | "Closed") => {
      for (let first = anchor.after; first !== anchor && first.dueAt <= latest; first = anchor.after) {
        first.leave()
        first.onEnd(reason)
      }
    }

    /** After a sleep, its end time counts as reached, even if a test fakes the timers but not this clock. */
    const watching = Effect.gen(function*() {
      while (anchor.after !== anchor) {
        const { dueAt } = anchor.after
        yield* Effect.sleep(Math.ceil(dueAt - now()))
        endUntil(Math.max(dueAt, now()), "Timeout")
      }
      watcher = undefined
    })

    yield* onClose(Effect.sync(() => {
      isClosed = true
      watcher?.unsafeInterruptAsFork(FiberId.none)
      endUntil(Number.POSITIVE_INFINITY, "Closed")
    }))

    return {
      add: (timed) => {
        if (isClosed) return timed.onEnd("Closed")
        timed.dueAt = now() + millis
        timed.before = anchor.before
        timed.after = anchor
        timed.before.after = anchor.before = timed
        watcher ??= outsideOfCalls(() => Runtime.runFork(runtime, Effect.interruptible(watching)))
      }
    }
  })
