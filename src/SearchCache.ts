/**
 * Remembers what searches found, and sends one request for equal searches at once: a layer around NutritionAdvisor.
 *
 * @since 1.0.0
 */
import * as Headers from "@effect/platform/Headers"
import * as UrlParams from "@effect/platform/UrlParams"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { check, count, known, namesOf, toMillis } from "./internal/check.js"
import { ownError } from "./internal/ownError.js"
import { searchAsOf } from "./internal/request/decode.js"
import { cachedSearches } from "./internal/resilience/metrics.js"
import * as UnderWay from "./internal/resilience/underWay.js"
import { NutritionAdvisor, type SearchOptions, type Service } from "./NutritionAdvisor.js"
import type { ConfigurationError } from "./NutritionAdvisorError.js"

/**
 * How long payloads are kept, and how many.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** How long a payload is given to further searches. There is no default: how long may be right depends on the terms of use. */
  readonly timeToLive: Duration.DurationInput
  /** How many payloads are kept; 1,000 by default. The one that was used least recently leaves first. */
  readonly capacity?: number | undefined
}

type Reader = () => unknown

/** Reads a payload anew for each caller; undefined where it is nested deeper than the stack, or no JSON, as a double's may be. */
const readerOf = (payload: unknown): Reader | undefined => {
  const text = Option.getOrUndefined(Option.liftThrowable(JSON.stringify)(payload))
  return text === undefined ? undefined : () => JSON.parse(text)
}

/** Those used last are the last ones of the map. */
const makeEntries = (capacity: number) => {
  const entries = new Map<string, { readonly reader: Reader; readonly until: number }>()
  const put = (key: string, reader: Reader, until: number) => {
    entries.delete(key)
    entries.set(key, { reader, until })
    const [leastUsed] = entries.keys()
    if (entries.size > capacity && leastUsed !== undefined) entries.delete(leastUsed)
  }
  const find = (key: string, now: number) => {
    const entry = entries.get(key)
    if (entry === undefined || entry.until <= now) return undefined
    put(key, entry.reader, entry.until)
    return entry.reader
  }
  return { put, find }
}

const names = namesOf<Options>({ timeToLive: true, capacity: true })

const make = (options: Options) =>
  Effect.gen(function*() {
    yield* known(options, names)
    const timeToLive = toMillis(options.timeToLive)
    yield* check("timeToLive", [timeToLive > 0, "must be a duration above zero"])
    const entries = makeEntries(yield* count("capacity", options.capacity ?? 1_000))
    const join = yield* UnderWay.make<Reader>()
    const clock = yield* Effect.clock
    const advisor = yield* NutritionAdvisor
    cachedSearches.start()

    const ask = (key: string, term: string, options: SearchOptions | undefined) =>
      Effect.map(advisor.search(term, options), (payload) => {
        const reader = readerOf(payload)
        if (reader !== undefined) entries.put(key, reader, clock.unsafeCurrentTimeMillis() + timeToLive)
        return reader ?? (() => payload)
      })

    const search: Service["search"] = (term, given) => {
      /** Read once, since it may be an iterator, and callers may change what they gave. */
      const options = given &&
        { urlParams: UrlParams.fromInput(given.urlParams ?? []), headers: Headers.fromInput(given.headers) }
      const key = JSON.stringify([term, options?.urlParams ?? [], Object.entries(options?.headers ?? {})])
      return Effect.flatMap(Effect.runtime<never>(), (caller) => {
        const kept = entries.find(key, clock.unsafeCurrentTimeMillis())
        if (kept !== undefined) {
          cachedSearches.count("Hit")
          return Effect.sync(kept)
        }
        /** The request runs as its first caller, whose trace shows it. */
        const request = Effect.provide(ask(key, term, options), caller)
        return Effect.mapBoth(join(key, request), { onFailure: ownError, onSuccess: (read) => read() })
      })
    }

    return { search, searchAs: searchAsOf(search), httpClient: advisor.httpClient }
  })

/**
 * Gives a search the payload of an equal one that is not older than `timeToLive`, and sends one request for all equal searches at once.
 * Equal are those with the same term, query parameters and headers. Each caller gets a payload of its own. No error is kept. Building it
 * ends in ConfigurationError where a setting makes no sense.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor> =>
  Layer.fresh(Layer.scoped(NutritionAdvisor, make(options)))
