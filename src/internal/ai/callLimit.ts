import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"

/**
 * Lets so many effects run at once, and so many others wait, in order; the rest are answered by `orElse`. The semaphore of Effect would
 * wake all who wait for each place, and keep memory for each time: docs/upstream.md says more.
 */
export const make = (mostRunning: number, mostWaiting: number) => {
  const running = new Set<Deferred.Deferred<void>>()
  const waiting = new Set<Deferred.Deferred<void>>()

  const leave = (place: Deferred.Deferred<void>) => {
    waiting.delete(place)
    if (!running.delete(place)) return
    for (const next of waiting) {
      waiting.delete(next)
      running.add(next)
      return Deferred.unsafeDone(next, Exit.void)
    }
  }

  return <A, E, R>(self: Effect.Effect<A, E, R>, orElse: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const place: Deferred.Deferred<void> = Deferred.unsafeMake(FiberId.none)
        const isFree = running.size < mostRunning
        if (!isFree && waiting.size >= mostWaiting) return restore(orElse)
        ;(isFree ? running : waiting).add(place)
        return Effect.ensuring(
          restore(isFree ? self : Effect.zipRight(Deferred.await(place), self)),
          Effect.sync(() => leave(place))
        )
      })
    )
}
