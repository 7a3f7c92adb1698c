/**
 * Remembers what searches found, and sends one request for equal searches at once: a layer around NutritionAdvisor.
 *
 * @since 1.0.0
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { searchAsOf } from "./internal/request/searchAs.js"
import * as SentWith from "./internal/request/searchOptions.js"
import * as Metrics from "./internal/resilience/metrics.js"
import * as Payloads from "./internal/resilience/payloads.js"
import * as Settings from "./internal/resilience/settings.js"
import * as SharedRequests from "./internal/resilience/sharedRequests.js"
import { NutritionAdvisor, type Service } from "./NutritionAdvisor.js"
import { type ConfigurationError, isTransient, type NutritionAdvisorError } from "./NutritionAdvisorError.js"

/**
 * How long payloads are kept, and how many.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /**
   * How long a payload is given to further searches, counted from when it came. There is no default: how long may be right depends on
   * the terms of use.
   */
  readonly timeToLive: Duration.DurationInput
  /**
   * The most that all payloads may take, in bytes; 64 MiB by default. Those used last stay. Each counts as JSON, with term, parameters
   * and headers, and 200 bytes more.
   */
  readonly maxBytes?: number | undefined
  /**
   * How far past its time a payload may be that is given in place of a ServerError, a TransportError or a TooManyRequests. None is given
   * by default.
   */
  readonly staleIfError?: Duration.DurationInput | undefined
}

/** Nothing where the value is no JSON, as a double of the service may give. */
const textOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** The same text for equal searches only. */
const keyOf = (term: string, { headers, urlParams = [] }: SentWith.Further): string => {
  const fields = Object.entries(headers ?? {})
  return urlParams.length === 0 && fields.length === 0 ? `=${term}` : JSON.stringify([term, urlParams, fields])
}

interface Memory {
  readonly payloads: Payloads.Payloads
  /** Milliseconds. */
  readonly timeToLive: number
  readonly servesStale: boolean
}

const serviceAround = (memory: Memory | undefined): Effect.Effect<Service, never, NutritionAdvisor | Scope.Scope> =>
  Effect.gen(function*() {
    const advisor = yield* NutritionAdvisor
    const clock = yield* Effect.clock
    Metrics.cachedSearches.start()

    /** Each caller gets a way to read the payload: text is parsed for each one, so that what one does to its payload no other sees. */
    const join = yield* SharedRequests.make((key, value, waiting): () => unknown => {
      const text = memory === undefined && waiting < 2 ? undefined : textOf(value)
      if (text === undefined) return () => value
      memory?.payloads.keep(key, text, clock)
      return () => JSON.parse(text)
    })

    const fresh = (key: string, clock: Clock.Clock) => {
      const kept = memory?.payloads.find(key, clock)
      return memory !== undefined && kept !== undefined && kept.age < memory.timeToLive ? kept : undefined
    }

    const stale = (key: string, cause: Cause.Cause<NutritionAdvisorError>, clock: Clock.Clock) =>
      memory?.servesStale === true && Option.exists(Cause.failureOption(cause), isTransient)
        ? memory.payloads.find(key, clock)
        : undefined

    const ask = (key: string, request: Effect.Effect<unknown, NutritionAdvisorError>, clock: Clock.Clock) =>
      join(key, request, (exit, isFirst) => {
        const kept = Exit.isFailure(exit) ? stale(key, exit.cause, clock) : undefined
        Metrics.cachedSearches.countNow({ outcome: kept !== undefined ? "Stale" : isFirst ? "Miss" : "Joined" })
        if (kept !== undefined) return Effect.sync((): unknown => JSON.parse(kept.text))
        return Effect.flatMap(exit, Effect.sync)
      })

    /** Key and request come from one reading: callers may change their options while a layer below waits. */
    const search: Service["search"] = (term, options) => {
      const further = SentWith.read(options)
      if (typeof term !== "string" || further === undefined) return Effect.suspend(() => advisor.search(term, options))
      return Effect.clockWith((clock) => {
        const key = keyOf(term, further)
        const kept = fresh(key, clock)
        if (kept === undefined) return ask(key, Effect.suspend(() => advisor.search(term, options && further)), clock)
        Metrics.cachedSearches.countNow({ outcome: "Hit" })
        return Effect.sync((): unknown => JSON.parse(kept.text))
      })
    }

    return { search, searchAs: searchAsOf(search), httpClient: advisor.httpClient }
  })

/**
 * The service with a memory of its own, around the one in the context; its requests end with the scope. Ends in ConfigurationError
 * where a setting makes no sense.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  options: Options
): Effect.Effect<Service, ConfigurationError, NutritionAdvisor | Scope.Scope> =>
  Effect.gen(function*() {
    const timeToLive = yield* Settings.ageAboveZero("timeToLive", options.timeToLive)
    const maxBytes = yield* Settings.positive("maxBytes", options.maxBytes ?? 64 * 1024 * 1024)
    const staleIfError = yield* Settings.age("staleIfError", options.staleIfError ?? 0)
    return yield* serviceAround({
      payloads: Payloads.make(maxBytes, timeToLive + staleIfError),
      timeToLive,
      servesStale: options.staleIfError !== undefined
    })
  })

/**
 * Gives a search the payload of an equal one that is not older than `timeToLive`, and sends one request for all equal searches at once.
 * Equal are those with the same term, query parameters and headers. Each caller gets a payload of its own, decoded by its own schema.
 * Only what the service answered is kept, never an error. Building it ends in ConfigurationError where a setting makes no sense.
 *
 * @example
 * ```ts
 * import { FetchHttpClient } from "@effect/platform"
 * import { Layer } from "effect"
 * import { NutritionAdvisor, SearchCache } from "effect-nutrition-advisor"
 *
 * export const Advisor = SearchCache.layer({ timeToLive: "10 minutes", staleIfError: "1 hour" }).pipe(
 *   Layer.provide(NutritionAdvisor.layerConfig()),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor> =>
  Layer.fresh(Layer.scoped(NutritionAdvisor, make(options)))

/**
 * Sends one request for all equal searches that are under way at once, and keeps nothing. Each client that it is provided with has
 * requests of its own. It needs no settings, and building it can't fail.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerCoalescing: Layer.Layer<NutritionAdvisor, never, NutritionAdvisor> = Layer.fresh(
  Layer.scoped(NutritionAdvisor, serviceAround(undefined))
)
