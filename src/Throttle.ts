/**
 * Holds requests back: after a 429 of the service, and to a rate. A layer around NutritionAdvisor.
 *
 * @since 1.0.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { searchAsOfAnswers } from "./internal/request/searchAs.js"
import { wholeAnswer } from "./internal/request/wholeAnswer.js"
import * as Metrics from "./internal/resilience/metrics.js"
import * as Rate from "./internal/resilience/rate.js"
import { RateLimiter } from "./internal/resilience/rateLimiter.js"
import * as Settings from "./internal/resilience/settings.js"
import * as SharedRate from "./internal/resilience/sharedRate.js"
import * as Throttled from "./internal/resilience/throttle.js"
import { NutritionAdvisor, type Service } from "./NutritionAdvisor.js"
import type { ConfigurationError } from "./NutritionAdvisorError.js"

/**
 * What happens to requests after a 429, and how many may begin.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /**
   * What becomes of a request that comes while requests are held after a 429: "fail" ends it at once in TooManyRequests, "wait" lets it
   * wait in order, "ignore" holds none. "fail" by default.
   */
  readonly onTooManyRequests?: "fail" | "wait" | "ignore" | undefined
  /** At most `limit` requests begin in any `interval`; the others wait in order. No rate by default. */
  readonly rate?: {
    readonly limit: number
    readonly interval: Duration.DurationInput
  } | undefined
  /** How long one request waits in all before it ends in TooManyRequests; "30 seconds" by default. */
  readonly maxWait?: Duration.DurationInput | undefined
}

const refusals = ["fail", "wait", "ignore"] as const

const checked = (options: Options) =>
  Effect.gen(function*() {
    const { rate } = options
    return {
      onTooManyRequests: yield* Settings.oneOf("onTooManyRequests", options.onTooManyRequests ?? "fail", refusals),
      maxWait: yield* Settings.pause("maxWait", options.maxWait ?? "30 seconds"),
      rate: rate === undefined ? undefined : {
        limit: yield* Settings.positive("rate.limit", rate.limit),
        interval: yield* Settings.interval(rate.interval)
      }
    }
  })

const serviceAround = (settings: Throttled.Settings): Effect.Effect<Service, never, NutritionAdvisor | Scope.Scope> =>
  Effect.gen(function*() {
    const advisor = yield* NutritionAdvisor
    const throttled = yield* Throttled.make(settings)
    Metrics.heldRequests.start()
    Metrics.refusedRequests.start()
    return {
      search: (term, options) => throttled("search", advisor.search(term, options)),
      /** Decoding comes after the request: it may take for ever, and after a hold others wait for the first request. */
      searchAs: searchAsOfAnswers((term, options) => throttled("search", advisor.searchAs(wholeAnswer)(term, options))),
      httpClient: HttpClient.transform(advisor.httpClient, (sent) => throttled("request", sent))
    }
  })

/**
 * The service behind a throttle of its own, around the one in the context. Ends in ConfigurationError where a setting makes no sense.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<Service, ConfigurationError, NutritionAdvisor | Scope.Scope> =>
  Effect.flatMap(checked(options), (settings) =>
    serviceAround({
      ...settings,
      rate: settings.rate === undefined ? Rate.unlimited : Rate.make(settings.rate.limit, settings.rate.interval)
    }))

/**
 * Holds searches and requests back after a 429 of the service: for the time that it named, an hour at most, or for a second that doubles
 * to a minute. When the time is over one request goes first; the others follow once it is answered. With `rate` no more than `limit`
 * begin in any `interval`. What was held back for good ends in TooManyRequests without `status`: nothing was sent. Building it ends in
 * ConfigurationError where a setting makes no sense.
 *
 * @example
 * ```ts
 * import { FetchHttpClient } from "@effect/platform"
 * import { Layer } from "effect"
 * import { NutritionAdvisor, Throttle } from "effect-nutrition-advisor"
 *
 * export const Advisor = Throttle.layer({ rate: { limit: 50, interval: "1 second" } }).pipe(
 *   Layer.provide(NutritionAdvisor.layerConfig()),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options?: Options): Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor> =>
  Layer.fresh(Layer.scoped(NutritionAdvisor, make(options)))

/**
 * The settings of a throttle of which the rate is shared.
 *
 * @since 1.0.0
 * @category models
 */
export interface SharedOptions extends Options {
  /** Who uses the same key, interval and limit shares the rate; "effect-nutrition-advisor" by default. */
  readonly key?: string | undefined
}

/**
 * The same with a `rate` that a fleet keeps together, through the RateLimiter of `@effect/experimental` in the context: at most twice
 * `limit` in an `interval`, which is rounded up so that each request has whole milliseconds. After a 429 each process holds its own
 * requests. A store that fails, or gives no answer within `maxWait`, lets requests go on, with one warning a minute. Building it ends in
 * ConfigurationError where a setting makes no sense.
 *
 * @example
 * ```ts
 * import * as RateLimiter from "@effect/experimental/RateLimiter"
 * import { FetchHttpClient } from "@effect/platform"
 * import { Layer } from "effect"
 * import { NutritionAdvisor, Throttle } from "effect-nutrition-advisor"
 *
 * export const Advisor = Throttle.layerShared({ rate: { limit: 50, interval: "1 second" } }).pipe(
 *   Layer.provide(NutritionAdvisor.layerConfig()),
 *   Layer.provide(FetchHttpClient.layer),
 *   Layer.provide(RateLimiter.layer),
 *   Layer.provide(RateLimiter.layerStoreMemory)
 * )
 * ```
 *
 * @since 1.0.0
 * @category layers
 */
export const layerShared = (
  options: SharedOptions
): Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor | RateLimiter> =>
  Layer.fresh(Layer.scoped(
    NutritionAdvisor,
    Effect.gen(function*() {
      const settings = yield* checked(options)
      const limiter = yield* RateLimiter
      const key = options.key ?? "effect-nutrition-advisor"
      const rate = settings.rate === undefined
        ? Rate.unlimited
        : yield* SharedRate.make(limiter, { ...settings.rate, key })
      return yield* serviceAround({ ...settings, rate })
    })
  ))
