import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Why a request was cut off: its time was over, or its layer was closed before. */
export type Reason = "Timeout" | "Aborted"

/** What must end in time: itself a link in the queue of those that began before and after it. */
export abstract class Timed {
  /** The three are the deadline's. */
  end = 0
  before: Timed | undefined
  after: Timed | undefined

  abstract cutOff(reason: Reason): void
}

/**
 * The same timeout for many requests. They time out in the order they began, so one fiber that sleeps until the first of them
 * is due watches over all: a request costs two links of a queue, and no timer, fiber or object of its own.
 */
export interface Deadline {
  /** Cuts it off once the time is over or the scope is closed, and at once after that, unless it leaves before. */
  readonly enter: (timed: Timed) => void
  /** Nothing happens to one who is not there. */
  readonly leave: (timed: Timed) => void
}

export const make = (millis: number): Effect.Effect<Deadline, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const isAwaited = yield* Effect.makeLatch()
    let first: Timed | undefined
    let last: Timed | undefined
    let isClosed = false

    const now = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6

    const leave = (timed: Timed) => {
      if (timed.before !== undefined) timed.before.after = timed.after
      else if (first === timed) first = timed.after
      else return
      if (timed.after !== undefined) timed.after.before = timed.before
      else last = timed.before
      timed.before = undefined
      timed.after = undefined
    }

    const enter = (timed: Timed) => {
      if (isClosed) return timed.cutOff("Aborted")
      timed.end = now() + millis
      timed.before = last
      if (last === undefined) {
        first = timed
        isAwaited.unsafeOpen()
      } else {
        last.after = timed
      }
      last = timed
    }

    const cutOff = (timed: Timed, reason: Reason) =>
      Effect.exit(Effect.sync(() => {
        leave(timed)
        timed.cutOff(reason)
      }))

    const watch = Effect.gen(function*() {
      while (true) {
        yield* isAwaited.await
        if (first === undefined) {
          isAwaited.unsafeClose()
          continue
        }
        const left = first.end - now()
        if (left > 0) {
          yield* Effect.sleep(Math.ceil(left))
        } else {
          yield* cutOff(first, "Timeout")
        }
      }
    })

    const close = Effect.gen(function*() {
      isClosed = true
      while (first !== undefined) yield* cutOff(first, "Aborted")
    })

    yield* Effect.addFinalizer(() => close)
    yield* Effect.forkScoped(Effect.interruptible(watch))

    return { enter, leave }
  })
