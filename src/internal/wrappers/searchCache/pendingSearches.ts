import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { NutritionAdvisorError } from "../../../NutritionAdvisorError.js"
import { abortedError, closedError } from "../../errors/transportErrors.js"
import * as Background from "../../runtime/background.js"
import { onClose } from "../../runtime/onClose.js"
import { cachedSearches } from "../metrics.js"
import type { MakeCopy } from "./payloads.js"

type Search = Effect.Effect<MakeCopy, NutritionAdvisorError>

interface PendingSearch {
  /** It succeeds with the exit, because Effect logs the error of a failed fiber, and here the callers get it. */
  readonly fiber: Fiber.RuntimeFiber<Exit.Exit<MakeCopy, NutritionAdvisorError>>
  callers: number
}

/** Lets callers of equal searches share one request. It is interrupted when the last one leaves, or when the scope is closed. */
export const make = Effect.gen(function*() {
  const run = yield* Background.make
  const pending = new Map<string, PendingSearch>()
  let isClosed = false
  yield* onClose(Effect.sync(() => isClosed = true))

  /** After the last caller has left, an equal search may have started its own request before this one has ended. */
  const forget = (key: string, shared: PendingSearch) => {
    if (pending.get(key) === shared) pending.delete(key)
  }

  const begin = (key: string, search: Search): PendingSearch => {
    const shared = { fiber: run(Effect.exit(search)), callers: 0 }
    pending.set(key, shared)
    shared.fiber.addObserver(() => forget(key, shared))
    return shared
  }

  const leave = (key: string, shared: PendingSearch) =>
    Effect.suspend(() => {
      shared.callers -= 1
      if (shared.callers > 0) return Effect.void
      forget(key, shared)
      return Fiber.interrupt(shared.fiber)
    })

  /** The request was interrupted, but not by its callers: either this layer was closed, or the service that it wraps. */
  const interrupted = () => isClosed ? closedError("search") : abortedError("search")

  return (key: string, search: Search): Search =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const known = pending.get(key)
        cachedSearches.count({ outcome: known === undefined ? "Miss" : "Joined" })
        const shared = known ?? begin(key, search)
        shared.callers += 1
        return Effect.onInterrupt(restore(Fiber.await(shared.fiber)), () => leave(key, shared))
      })
    ).pipe(Effect.flatMap((ended) => {
      const exit = Exit.isSuccess(ended) ? ended.value : Exit.failCause(ended.cause)
      return Exit.isInterrupted(exit) ? Effect.fail(interrupted()) : exit
    }))
})
