/**
 * Holds requests back: after a 429 of the service, and to a rate. A layer around NutritionAdvisor.
 *
 * @since 1.0.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { check, count, known, millis, namesOf, pause } from "./internal/check.js"
import { searchAsOf } from "./internal/request/decode.js"
import { readOnce } from "./internal/request/searchOptions.js"
import * as Line from "./internal/resilience/line.js"
import { heldRequests } from "./internal/resilience/metrics.js"
import { makeRate } from "./internal/resilience/rate.js"
import { NutritionAdvisor, type Service } from "./NutritionAdvisor.js"
import type { ConfigurationError } from "./NutritionAdvisorError.js"

/**
 * What happens to requests after a 429, and how many may begin.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** A request during a hold after a 429: "fail" ends it at once in TooManyRequests, "wait" lets it wait. "fail" by default. */
  readonly onTooManyRequests?: "fail" | "wait" | undefined
  /** At most `limit` requests begin in any `interval`; the others wait in order. No rate by default. */
  readonly rate?: { readonly limit: number; readonly interval: Duration.DurationInput } | undefined
  /** How long one request waits in all before it ends in TooManyRequests; "30 seconds" by default. */
  readonly maxWait?: Duration.DurationInput | undefined
}

const names = namesOf<Options>({ onTooManyRequests: true, rate: true, maxWait: true })

const rateNames = namesOf<NonNullable<Options["rate"]>>({ limit: true, interval: true })

const make = (options: Options) =>
  Effect.gen(function*() {
    const { maxWait = "30 seconds", onTooManyRequests = "fail", rate } = options
    yield* known(options, names)
    yield* known(rate ?? {}, rateNames, "rate.")
    yield* check("onTooManyRequests", [["fail", "wait"].includes(onTooManyRequests), "must be \"fail\" or \"wait\""])
    const throttled = yield* Line.make({
      onTooManyRequests,
      maxWait: yield* pause("maxWait", maxWait),
      rate: rate && makeRate(yield* count("rate.limit", rate.limit), yield* millis("rate.interval", rate.interval))
    })
    const advisor = yield* NutritionAdvisor
    heldRequests.start()
    const search: Service["search"] = (term, options) => throttled("search", advisor.search(term, readOnce(options)))
    return {
      search,
      searchAs: searchAsOf(search),
      httpClient: HttpClient.transform(advisor.httpClient, (sent) => throttled("request", sent))
    }
  })

/**
 * Holds searches and requests back after a 429 of the service: for the time of its Retry-After, an hour at most, or for a second. When
 * the time is over one request goes first, and the others follow once it is answered. With `rate` no more than `limit` begin in any
 * `interval`. What was held back for good ends in TooManyRequests without `status`, with the seconds left in `retryAfter`. Building it
 * ends in ConfigurationError where a setting makes no sense.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor> =>
  Layer.fresh(Layer.scoped(NutritionAdvisor, make(options)))
