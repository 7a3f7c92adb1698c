/**
 * A layer that wraps NutritionAdvisor: it holds requests after a 429, and can limit their rate.
 *
 * @since 1.0.0
 * @module
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { checkValue, parseCount, parseMillis, parseMillisOrZero } from "./internal/options/check.js"
import { type Declarations, parse } from "./internal/options/declarations.js"
import { heldRequests } from "./internal/wrappers/metrics.js"
import * as Queue from "./internal/wrappers/throttle/queue.js"
import { wrapAdvisor, wrapperLayer } from "./internal/wrappers/wrapAdvisor.js"
import { NutritionAdvisor } from "./NutritionAdvisor.js"
import type { ConfigurationError } from "./NutritionAdvisorError.js"

/**
 * The options of Throttle: what happens to requests after a 429, and the rate limit.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /**
   * What happens to requests during the hold after a 429: with "fail", they fail immediately with TooManyRequests; with "wait", they wait
   * for up to `maxWait`. "fail" by default.
   */
  readonly onTooManyRequests?: "fail" | "wait" | undefined
  /**
   * The rate limit: at most `limit` requests in any `interval`, or one more because timers fire late. Requests are spaced evenly, and
   * wait in order. A number as `interval` means milliseconds. No limit by default.
   */
  readonly rate?: { readonly limit: number; readonly interval: Duration.DurationInput } | undefined
  /**
   * The longest total wait of one request. A request that would have to wait longer fails immediately with TooManyRequests. A number means
   * milliseconds. "30 seconds" by default.
   */
  readonly maxWait?: Duration.DurationInput | undefined
}

const rateDeclarations = {
  limit: { isRequired: true, parse: parseCount },
  interval: { isRequired: true, parse: parseMillis }
} satisfies Declarations<NonNullable<Options["rate"]>>

/** @internal */
export const declarations = {
  onTooManyRequests: {
    default: "fail",
    parse: (reaction, field) =>
      checkValue(reaction, field, [["fail", "wait"].includes(reaction), "must be \"fail\" or \"wait\""])
  },
  rate: { parse: (rate, field) => parse(rateDeclarations, rate, { prefix: `${field}.` }) },
  maxWait: { default: "30 seconds", parse: parseMillisOrZero }
} satisfies Declarations<Options>

/** Never makes a request wait. */
const noRate = { limit: Number.POSITIVE_INFINITY, interval: 0 }

const make = (options: Options) =>
  Effect.gen(function*() {
    const { rate = noRate, ...settings } = yield* parse(declarations, options)
    const queue = yield* Queue.make({ rate, ...settings })
    const advisor = yield* NutritionAdvisor
    heldRequests.createSeries()
    return wrapAdvisor(advisor, (call, { operation }) => queue.throttle(operation, call))
  })

/**
 * Holds all searches and requests after a 429, for the time in its Retry-After header (an hour at most), or for one second if it is
 * missing, zero or in the past. Then it sends one request as a probe. The others follow as soon as the probe gets any response except a
 * 429. After five seconds without a response, the next request becomes the probe. A request that is sent again after a token renewal counts
 * twice against `rate`. Requests that are not sent fail with TooManyRequests without a `status`; its `retryAfter` is the time in seconds
 * until the next request can be sent. Fails with ConfigurationError if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor> =>
  wrapperLayer(make(options))
