import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { SharedTokenCacheError } from "../../SharedTokenCache.js"
import { withNow } from "../clock.js"
import * as Metrics from "../metrics.js"
import * as Outage from "../outage.js"

/** Counts and logs the failures of a cache, and that they are over. */
export interface CacheLog {
  readonly failed: (error: SharedTokenCacheError) => Effect.Effect<void>
  readonly worked: Effect.Effect<void>
}

/** All failures of a cache are one kind: nothing holds back the calls of one that fails now in this way and now in that. */
const kind = "cache"

export const make: Effect.Effect<CacheLog> = Effect.map(Ref.make(Outage.initial), (state) => ({
  failed: ({ message, reason }) =>
    Effect.gen(function*() {
      yield* Metrics.cacheFailures.count({ reason })
      if (yield* withNow((now) => Ref.modify(state, (state) => Outage.failed(state, kind, now)))) {
        yield* Effect.logWarning(`${message} Until it works again, this process exchanges the license key by itself.`)
      }
    }),
  worked: Effect.gen(function*() {
    const millis = yield* withNow((now) => Ref.modify(state, (state) => Outage.worked(state, now)))
    if (millis !== undefined) {
      yield* Effect.logInfo(`The shared token cache works again. It had failed for ${Outage.inSeconds(millis)}.`)
    }
  })
}))
