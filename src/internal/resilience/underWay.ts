import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { type NutritionAdvisorError, TransportError } from "../../NutritionAdvisorError.js"
import { cachedSearches } from "./metrics.js"

type Search<A> = Effect.Effect<A, NutritionAdvisorError>

/** What a search ends in that was interrupted while somebody waited for it, as where the layer is closed. */
const aborted = new TransportError({ operation: "search", reason: "Aborted" })

/** One search under way for all who ask for the same: it ends with the scope of this, or when all have left. */
export const make = <A>(): Effect.Effect<(key: string, search: Search<A>) => Search<A>, never, Scope.Scope> =>
  Effect.map(FiberSet.makeRuntime<never, A, NutritionAdvisorError>(), (run) => {
    const underWay = new Map<string, ReturnType<typeof begin>>()

    const begin = (key: string, search: Search<A>) => {
      const request = { fiber: run(Effect.interruptible(search)), waiting: 0 }
      underWay.set(key, request)
      request.fiber.addObserver(() => forget(key, request))
      return request
    }

    const forget = (key: string, request: object) => underWay.get(key) === request && underWay.delete(key)

    return (key, search) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const known = underWay.get(key)
          cachedSearches.count(known === undefined ? "Miss" : "Joined")
          const request = known ?? begin(key, search)
          request.waiting += 1
          const leave = Effect.suspend(() => {
            request.waiting -= 1
            if (request.waiting > 0) return Effect.void
            forget(key, request)
            return Fiber.interrupt(request.fiber)
          })
          return Effect.onInterrupt(restore(Fiber.await(request.fiber)), () => leave)
        })
      ).pipe(Effect.flatMap((exit) => Exit.isInterrupted(exit) ? Effect.fail(aborted) : exit))
  })
