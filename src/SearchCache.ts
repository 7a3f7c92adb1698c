/**
 * A layer that wraps NutritionAdvisor: it caches search payloads, and sends one request for equal pending searches.
 *
 * @since 1.0.0
 * @module
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import type * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { copyOfError } from "./internal/errors/copyOfError.js"
import { checkValue, parseCount, toMillis } from "./internal/options/check.js"
import { type Declarations, parse } from "./internal/options/declarations.js"
import { searchAsOf } from "./internal/request/decode.js"
import { normalizeOptions, searchKey } from "./internal/request/searchOptions.js"
import { monotonicMillis } from "./internal/runtime/clock.js"
import { onClose } from "./internal/runtime/onClose.js"
import { cachedSearches } from "./internal/wrappers/metrics.js"
import * as Payloads from "./internal/wrappers/searchCache/payloads.js"
import * as PendingSearches from "./internal/wrappers/searchCache/pendingSearches.js"
import { wrapperLayer } from "./internal/wrappers/wrapAdvisor.js"
import { NutritionAdvisor, type Service } from "./NutritionAdvisor.js"
import type { ConfigurationError } from "./NutritionAdvisorError.js"

/**
 * The options of SearchCache: how long payloads are cached, and how many.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /**
   * How long a payload is cached, on the monotonic clock. A number means milliseconds. There is no default, because your terms of use
   * determine how long you may keep a payload.
   */
  readonly timeToLive: Duration.DurationInput
  /** The maximum number of cached payloads. The least recently used one is removed first. 1,000 by default. */
  readonly capacity?: number | undefined
}

/** @internal */
export const declarations = {
  timeToLive: {
    isRequired: true,
    parse: (duration, field) => {
      const timeToLive = toMillis(duration)
      return checkValue(timeToLive, field, [timeToLive > 0, "must be a duration above zero, such as \"10 minutes\""])
    }
  },
  capacity: { default: 1_000, parse: parseCount }
} satisfies Declarations<Options>

/**
 * Prepares the runtime of the first caller for the request, which then appears in that caller's trace. The request also runs if the caller
 * is already interrupted, for example in a finalizer.
 */
const notInterrupted = Runtime.updateFiberRefs(FiberRefs.delete(FiberRef.interruptedCause))

const make = (options: Options) =>
  Effect.gen(function*() {
    const { capacity, timeToLive } = yield* parse(declarations, options)
    const payloads = Payloads.make(capacity)
    yield* onClose(Effect.sync(payloads.clear))
    const join = yield* PendingSearches.make
    const clock = yield* Effect.clock
    const advisor = yield* NutritionAdvisor
    cachedSearches.createSeries()

    const now = () => monotonicMillis(clock)

    const search: Service["search"] = (term, given) =>
      Effect.flatMap(normalizeOptions(given), (normalized) => {
        const sent = Effect.suspend(() => advisor.search(term, given ? normalized : undefined))
        const key = searchKey(term, normalized)
        // A search that can't be compared with others is always sent.
        if (key === undefined) {
          return Effect.zipRight(Effect.sync(() => cachedSearches.count({ outcome: "Miss" })), sent)
        }
        return Effect.flatMap(Effect.runtime<never>(), (caller) => {
          const cached = payloads.find(key, now())
          if (cached !== undefined) {
            cachedSearches.count({ outcome: "Hit" })
            return Effect.sync(cached)
          }
          const request = Effect.map(sent, (payload) => payloads.put(key, payload, now() + timeToLive))
          const shared = join(key, Effect.provide(request, notInterrupted(caller)))
          return Effect.mapBoth(shared, { onFailure: copyOfError, onSuccess: (makeCopy) => makeCopy() })
        })
      })

    return { search, searchAs: searchAsOf(search), httpClient: advisor.httpClient }
  })

/**
 * Returns the cached payload of an equal search if it is younger than `timeToLive`, and sends one request for equal searches that are
 * pending at the same time. Two searches are equal if their terms and all of their options are equal. Each caller gets its own copy of the
 * payload. Errors are not cached. `httpClient` is passed through unchanged. Fails with ConfigurationError if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor> =>
  wrapperLayer(make(options))
