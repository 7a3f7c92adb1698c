/**
 * Sends a failed search again: a layer around NutritionAdvisor that repeats what is safe to repeat, within a budget.
 *
 * @since 1.0.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { withNow } from "./internal/clock.js"
import { searchAsOfAnswers } from "./internal/request/searchAs.js"
import { wholeAnswer } from "./internal/request/wholeAnswer.js"
import * as Metrics from "./internal/resilience/metrics.js"
import * as RetryBudget from "./internal/resilience/retryBudget.js"
import * as Settings from "./internal/resilience/settings.js"
import { NutritionAdvisor, type Service } from "./NutritionAdvisor.js"
import { type ConfigurationError, isTransient, type NutritionAdvisorError } from "./NutritionAdvisorError.js"

/**
 * How often, how soon and how much is repeated.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** How often one request is sent again at most; 2 by default, so that it is sent three times in all. */
  readonly times?: number | undefined
  /** The first pause; each further one is twice as long. "100 millis" by default. */
  readonly base?: Duration.DurationInput | undefined
  /** The longest pause, and the longest `retryAfter` that is waited for; "5 seconds" by default. */
  readonly cap?: Duration.DurationInput | undefined
  /** Repeats in ten seconds, for each request that callers begin in them; 0.2 by default. Ten more are free. */
  readonly budget?: number | undefined
}

/** An answer of 5xx, or none: the exchange of the license key has had repeats of its own. */
const isRepeatable = (error: NutritionAdvisorError) =>
  isTransient(error) && error._tag !== "TooManyRequests" && error.operation !== "token"

/** Whole milliseconds before the next sending, as `base` and `cap` are; undefined where the service asked for more patience. */
const pauseAfter = (error: NutritionAdvisorError, repeats: number, random: number, base: number, cap: number) => {
  const backoff = Math.ceil(Math.min(cap, base * 2 ** repeats) * (0.5 + random / 2))
  const { retryAfter = 0 } = error._tag === "ServerError" ? error : {}
  return retryAfter * 1000 <= cap ? Math.max(backoff, Math.ceil(retryAfter * 1000)) : undefined
}

const repeatableMethods: ReadonlySet<string> = new Set(["GET", "HEAD"])

/**
 * The service that sends a failed request again, around the one in the context. Ends in ConfigurationError where a setting makes no sense.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<Service, ConfigurationError, NutritionAdvisor> =>
  Effect.gen(function*() {
    const times = yield* Settings.count("times", options.times ?? 2)
    const base = yield* Settings.pause("base", options.base ?? "100 millis")
    const cap = yield* Settings.pause("cap", options.cap ?? "5 seconds")
    const budget = RetryBudget.make(yield* Settings.share("budget", options.budget ?? 0.2))
    const advisor = yield* NutritionAdvisor
    Metrics.retries.start()

    const refuse = Effect.sync(() => {
      Metrics.retries.countNow({ outcome: "OutOfBudget" })
      return false
    })

    const send = (due: number) =>
      withNow(({ monotonic: now }) => {
        if (!budget.send(due, now)) return refuse
        Metrics.retries.countNow({ outcome: "Retried" })
        return Effect.succeed(true)
      })

    /** Whether the request may be sent again now; not before the pause is over, if it may. */
    const mayRepeatAfter = (pause: number): Effect.Effect<boolean> =>
      Effect.uninterruptibleMask((restore) =>
        withNow(({ monotonic: now }) => {
          const due = now + pause
          if (!budget.plan(now, due)) return refuse
          return Effect.sleep(pause).pipe(
            restore,
            Effect.onInterrupt(() => Effect.sync(() => budget.cancel(due))),
            Effect.zipRight(send(due))
          )
        })
      )

    const attempt = <A>(
      self: Effect.Effect<A, NutritionAdvisorError>,
      repeats: number
    ): Effect.Effect<A, NutritionAdvisorError> =>
      Effect.catchAll(self, (error) => {
        if (repeats === times || !isRepeatable(error)) return Effect.fail(error)
        return Effect.flatMap(Random.next, (random) => {
          const pause = pauseAfter(error, repeats, random, base, cap)
          if (pause === undefined) return Effect.fail(error)
          return Effect.flatMap(
            mayRepeatAfter(pause),
            (mayRepeat) => mayRepeat ? attempt(self, repeats + 1) : Effect.fail(error)
          )
        })
      })

    const counted = <A>(self: Effect.Effect<A, NutritionAdvisorError>) =>
      withNow(({ monotonic: now }) => {
        budget.begin(now)
        return self
      })

    const repeated = <A>(self: Effect.Effect<A, NutritionAdvisorError>) => counted(attempt(self, 0))

    return {
      search: (term, options) => repeated(advisor.search(term, options)),
      searchAs: searchAsOfAnswers((term, options) => repeated(advisor.searchAs(wholeAnswer)(term, options))),
      httpClient: HttpClient.transform(
        advisor.httpClient,
        (sent, request) => repeatableMethods.has(request.method) ? repeated(sent) : counted(sent)
      )
    }
  })

/**
 * Repeats a search, and a GET or HEAD through `httpClient`, that ended in ServerError or TransportError, and nothing that belongs to the
 * exchange of the license key. A caller gets the last error, at once where the budget is used up or where the service asked for a
 * longer pause than `cap`. Building it ends in ConfigurationError where a setting makes no sense.
 *
 * @example
 * ```ts
 * import { FetchHttpClient } from "@effect/platform"
 * import { Layer } from "effect"
 * import { NutritionAdvisor, RequestRetry } from "effect-nutrition-advisor"
 *
 * export const Advisor = RequestRetry.layer({ times: 2 }).pipe(
 *   Layer.provide(NutritionAdvisor.layerConfig()),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options?: Options): Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor> =>
  Layer.fresh(Layer.effect(NutritionAdvisor, make(options)))
