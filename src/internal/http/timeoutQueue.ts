import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { monotonicOf } from "../clock.js"

/** Why a request was cut off: its time was over, or its layer was closed before. */
export type Reason = "Timeout" | "Aborted"

/** What must end in time: itself a link in the queue of those that began before and after it. */
export abstract class TimedRequest {
  /** The three are the timeout's. */
  end = 0
  before: TimedRequest | undefined
  after: TimedRequest | undefined

  abstract abort(reason: Reason): void
}

/**
 * The same timeout for many requests. They time out in the order they began, so one fiber that sleeps until the first of them
 * is due watches over all: a request costs two links of a queue, and no timer, fiber or object of its own.
 */
export interface TimeoutQueue {
  /** Cuts it off once the time is over or the scope is closed, and at once after that, unless it is removed before. */
  readonly add: (request: TimedRequest) => void
  /** Nothing happens to one who is not there. */
  readonly remove: (request: TimedRequest) => void
  /** Whether the scope is closed: nothing is to begin any more. */
  readonly isClosed: () => boolean
}

/** In milliseconds: a sleep that nobody waits for any more keeps a process alive no longer than this. */
const longestSleep = 250

export const make = (millis: number): Effect.Effect<TimeoutQueue, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const isAwaited = yield* Effect.makeLatch()
    let first: TimedRequest | undefined
    let last: TimedRequest | undefined
    let isClosed = false

    const now = () => monotonicOf(clock)

    const remove = (request: TimedRequest) => {
      if (request.before !== undefined) request.before.after = request.after
      else if (first === request) first = request.after
      else return
      if (request.after !== undefined) request.after.before = request.before
      else last = request.before
      request.before = undefined
      request.after = undefined
    }

    const add = (request: TimedRequest) => {
      if (isClosed) return request.abort("Aborted")
      request.end = now() + millis
      request.before = last
      const isFirst = last === undefined
      if (last === undefined) first = request
      else last.after = request
      last = request
      if (isFirst) isAwaited.unsafeOpen()
    }

    const abort = (request: TimedRequest, reason: Reason) =>
      Effect.exit(Effect.sync(() => {
        remove(request)
        request.abort(reason)
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
          yield* Effect.sleep(Math.ceil(Math.min(left, longestSleep)))
        } else {
          yield* abort(first, "Timeout")
        }
      }
    })

    const close = Effect.gen(function*() {
      isClosed = true
      while (first !== undefined) yield* abort(first, "Aborted")
    })

    yield* Effect.addFinalizer(() => close)
    yield* Effect.forkScoped(Effect.interruptible(watch))

    return { add, remove, isClosed: () => isClosed }
  })
