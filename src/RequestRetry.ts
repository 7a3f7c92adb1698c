/**
 * A layer that wraps NutritionAdvisor: it retries failed searches and failed GET and HEAD requests, within a budget.
 *
 * @since 1.0.0
 * @module
 */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { isRetryable, retryAfterMillis } from "./internal/errors/retry.js"
import { closedError } from "./internal/errors/transportErrors.js"
import { checkValue, parseMillisOrZero } from "./internal/options/check.js"
import { type Declarations, parse } from "./internal/options/declarations.js"
import { onClose } from "./internal/runtime/onClose.js"
import { retries } from "./internal/wrappers/metrics.js"
import { wrapAdvisor, wrapperLayer } from "./internal/wrappers/wrapAdvisor.js"
import { NutritionAdvisor } from "./NutritionAdvisor.js"
import type { ConfigurationError, NutritionAdvisorError, Operation } from "./NutritionAdvisorError.js"

/**
 * The options of RequestRetry: the number of retries, their delays and their budget.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The maximum number of retries per request. 2 by default, so a request is sent three times at most. */
  readonly times?: number | undefined
  /**
   * The longest delay before the first retry. It doubles with each further retry, up to `cap`. Each delay is shortened at random, by half
   * at most. A number means milliseconds. "100 millis" by default.
   */
  readonly base?: Duration.DurationInput | undefined
  /** The longest delay, and the longest `retryAfter` to wait for. A number means milliseconds. "5 seconds" by default. */
  readonly cap?: Duration.DurationInput | undefined
  /**
   * The number of retries that each call adds to the budget. The budget starts at ten retries and can grow to a hundred. 0.2 by
   * default.
   */
  readonly budget?: number | undefined
}

const initialBudget = 10

const maxBudget = 100

type Call<A> = Effect.Effect<A, NutritionAdvisorError>

/** @internal */
export const declarations = {
  times: {
    default: 2,
    parse: (times, field) =>
      checkValue(times, field, [Number.isSafeInteger(times) && times >= 0, "must be a whole number, 0 or above"])
  },
  base: { default: "100 millis", parse: parseMillisOrZero },
  cap: { default: "5 seconds", parse: parseMillisOrZero },
  budget: {
    default: 0.2,
    parse: (budget, field) =>
      checkValue(budget, field, [budget >= 0 && budget < Number.POSITIVE_INFINITY, "must be a number, 0 or above"])
  }
} satisfies Declarations<Options>

const make = (options: Options) =>
  Effect.gen(function*() {
    const { base, budget: share, cap, times } = yield* parse(declarations, options)
    const advisor = yield* NutritionAdvisor
    let budget = initialBudget
    const closing = yield* Deferred.make<null>()
    yield* onClose(Deferred.succeed(closing, null))
    retries.createSeries()

    /** Waits before a retry. Fails as soon as the layer is closed, even if the caller can't be interrupted. */
    const wait = (millis: number, operation: Operation) =>
      Effect.raceFirst(
        Effect.interruptible(Effect.sleep(millis)),
        Effect.interruptible(Effect.flatMap(Deferred.await(closing), () => closedError(operation)))
      )

    /** Takes one retry from the budget, if there is one. */
    const takeFromBudget = () => {
      // The budget is rounded, because the sum of shares such as 0.2 may be slightly below 1.
      const isWithinBudget = Math.round(budget * 1e6) >= 1e6
      if (isWithinBudget) budget -= 1
      retries.count({ outcome: isWithinBudget ? "Retried" : "OutOfBudget" })
      return isWithinBudget
    }

    const attempt = <A>(call: Call<A>, retriesSoFar: number): Call<A> =>
      Effect.catchAll(call, (error) => {
        const requested = retryAfterMillis(error)
        // A token exchange has its own retries.
        const canRetry = isRetryable(error) && error.operation !== "token" && retriesSoFar < times && requested <= cap
        if (!canRetry || !takeFromBudget()) return Effect.fail(error)
        const backoff = Math.min(cap, base * 2 ** retriesSoFar)
        return Random.next.pipe(
          Effect.flatMap((random) =>
            wait(Math.ceil(Math.max(requested, backoff * (0.5 + random / 2))), error.operation)
          ),
          Effect.zipRight(attempt(call, retriesSoFar + 1))
        )
      })

    return wrapAdvisor(advisor, (call, { method }) =>
      Effect.suspend(() => {
        budget = Math.min(maxBudget, budget + share)
        return method === "GET" || method === "HEAD" ? attempt(call, 0) : call
      }))
  })

/**
 * Retries searches, and GET and HEAD requests of `httpClient`, that fail with ServerError or a transient TransportError. It doesn't retry
 * other methods, failed token exchanges, or calls on a closed client. If all retries fail, callers get the last error. They get it
 * immediately if the budget is empty or if `retryAfter` is longer than `cap`. Fails with ConfigurationError if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor> =>
  wrapperLayer(make(options))
