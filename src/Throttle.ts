/**
 * Delays requests after a 429, and limits their rate: a layer around NutritionAdvisor.
 *
 * @since 1.0.0
 * @module
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { check, count, known, millis, namesOf, pause } from "./internal/check.js"
import { searchAsOf } from "./internal/request/decode.js"
import { withIteratorsRead } from "./internal/request/searchOptions.js"
import * as Line from "./internal/resilience/line.js"
import { heldRequests } from "./internal/resilience/metrics.js"
import { makePace } from "./internal/resilience/pace.js"
import { NutritionAdvisor, type Service } from "./NutritionAdvisor.js"
import type { ConfigurationError } from "./NutritionAdvisorError.js"

/**
 * The options of Throttle: what happens to requests after a 429, and how many may be sent.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** What happens to a request during the hold after a 429: it fails at once with TooManyRequests, or it waits. Default: "fail". */
  readonly onTooManyRequests?: "fail" | "wait" | undefined
  /**
   * The service gets at most `limit` requests in any `interval`, or one more because of jitter. Requests are sent at even distances,
   * and wait in order. Default: no limit.
   */
  readonly rate?: { readonly limit: number; readonly interval: Duration.DurationInput } | undefined
  /** The longest time that one request waits in all, before it fails with TooManyRequests. Default: "30 seconds". */
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
      pace: rate && makePace(yield* count("rate.limit", rate.limit), yield* millis("rate.interval", rate.interval))
    })
    const advisor = yield* NutritionAdvisor
    heldRequests.start()
    const search: Service["search"] = (term, options) =>
      withIteratorsRead(options, (read) => throttled("search", advisor.search(term, read)))
    return {
      search,
      searchAs: searchAsOf(search),
      httpClient: HttpClient.transform(advisor.httpClient, (sent) => throttled("request", sent))
    }
  })

/**
 * Holds all searches and requests after a 429: for the time in its Retry-After, an hour at most, or for one second. Then one request is
 * sent first. The others follow as soon as it gets any response but a 429; after five seconds without a response, the next one is sent
 * in its place. With `rate`, the service gets at most `limit` requests in any `interval`. Each request counts when it is sent, and counts
 * again when it is sent a second time after a renewal. Requests that are not sent fail with TooManyRequests without a `status`; its
 * `retryAfter` is the time, in seconds, until the next request may be sent. Fails with ConfigurationError if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor> =>
  Layer.fresh(Layer.scoped(NutritionAdvisor, make(options)))
