import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** One request that must end in time: a link in the queue of those that began before and after it. */
interface Entry {
  readonly end: number
  readonly onTimeout: () => void
  before: Entry | undefined
  after: Entry | undefined
}

/**
 * The same timeout for many requests. They time out in the order they began, so one fiber that sleeps until the first of them
 * is due watches over all: a request costs two links of a queue, and no timer or fiber of its own.
 */
export interface Deadline {
  /** Calls `onTimeout` once the time is over, unless the function that it returns is called before. */
  readonly enter: (onTimeout: () => void) => () => void
}

export const make = (millis: number): Effect.Effect<Deadline, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const isAwaited = yield* Effect.makeLatch()
    let first: Entry | undefined
    let last: Entry | undefined

    const now = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6

    const remove = (entry: Entry) => {
      if (entry.before !== undefined) entry.before.after = entry.after
      else if (first === entry) first = entry.after
      else return
      if (entry.after !== undefined) entry.after.before = entry.before
      else last = entry.before
      entry.before = undefined
      entry.after = undefined
    }

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
          const { onTimeout } = first
          remove(first)
          yield* Effect.exit(Effect.sync(onTimeout))
        }
      }
    })

    yield* Effect.forkScoped(watch)

    return {
      enter: (onTimeout) => {
        const entry: Entry = { end: now() + millis, onTimeout, before: last, after: undefined }
        if (last === undefined) {
          first = entry
          isAwaited.unsafeOpen()
        } else {
          last.after = entry
        }
        last = entry
        return () => remove(entry)
      }
    }
  })
