import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as MutableHashMap from "effect/MutableHashMap"
import * as Option from "effect/Option"
import { type NutritionAdvisorError, TransportError } from "../../../NutritionAdvisorError.js"
import { closed, onClose } from "../../errors/closed.js"
import * as Background from "../../runtime/background.js"
import { cachedSearches } from "../metrics.js"
import type { MakeCopy } from "./payloads.js"
import type { SearchKey } from "./searchKey.js"

type Search = Effect.Effect<MakeCopy, NutritionAdvisorError>

interface Request {
  readonly fiber: Fiber.RuntimeFiber<MakeCopy, NutritionAdvisorError>
  callers: number
}

/** Lets callers of equal searches share one request. It is interrupted when the last one leaves, or when the scope is closed. */
export const make = Effect.gen(function*() {
  const run = yield* Background.make
  const inFlight = MutableHashMap.empty<SearchKey, Request>()
  let isClosed = false
  yield* onClose(Effect.sync(() => isClosed = true))

  const forget = (key: SearchKey, request: Request) => {
    if (Option.contains(MutableHashMap.get(inFlight, key), request)) MutableHashMap.remove(inFlight, key)
  }

  const begin = (key: SearchKey, search: Search): Request => {
    const request = { fiber: run(search), callers: 0 }
    MutableHashMap.set(inFlight, key, request)
    request.fiber.addObserver(() => forget(key, request))
    return request
  }

  const leave = (key: SearchKey, request: Request) =>
    Effect.suspend(() => {
      request.callers -= 1
      if (request.callers > 0) return Effect.void
      forget(key, request)
      return Fiber.interrupt(request.fiber)
    })

  /** The request was interrupted, but not by its callers: either this layer was closed, or the service that it wraps. */
  const interrupted = () => isClosed ? closed("search") : new TransportError({ operation: "search", reason: "Aborted" })

  return (key: SearchKey, search: Search): Search =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const known = Option.getOrUndefined(MutableHashMap.get(inFlight, key))
        cachedSearches.count(known === undefined ? "Miss" : "Joined")
        const request = known ?? begin(key, search)
        request.callers += 1
        return Effect.onInterrupt(restore(Fiber.await(request.fiber)), () => leave(key, request))
      })
    ).pipe(Effect.flatMap((exit) => Exit.isInterrupted(exit) ? Effect.fail(interrupted()) : exit))
})
