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
import { check, known, namesOf, pause } from "./internal/check.js"
import { searchAsOf } from "./internal/request/decode.js"
import { retries } from "./internal/resilience/metrics.js"
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
  /** Repeats for each request that a caller begins; 0.2 by default. Ten more are there at first, and at most a hundred are saved up. */
  readonly budget?: number | undefined
}

type Request<A> = Effect.Effect<A, NutritionAdvisorError>

/** No answer, or one of 5xx: the exchange of the license key has had repeats of its own. */
const isRepeatable = (error: NutritionAdvisorError) =>
  error.operation !== "token" && isTransient(error) && error._tag !== "TooManyRequests"

const names = namesOf<Options>({ times: true, base: true, cap: true, budget: true })

const make = (options: Options) =>
  Effect.gen(function*() {
    const { base = "100 millis", budget: share = 0.2, cap = "5 seconds", times = 2 } = options
    yield* known(options, names)
    yield* check("times", [Number.isSafeInteger(times) && times >= 0, "must be a whole number, 0 or above"])
    yield* check("budget", [share >= 0 && share < Number.POSITIVE_INFINITY, "must be a number, 0 or above"])
    const first = yield* pause("base", base)
    const longest = yield* pause("cap", cap)
    const advisor = yield* NutritionAdvisor
    let budget = 10
    retries.start()

    const mayRepeat = () => {
      const isWithinBudget = Math.round(budget * 1e6) >= 1e6
      if (isWithinBudget) budget -= 1
      retries.count(isWithinBudget ? "Retried" : "OutOfBudget")
      return isWithinBudget
    }

    const attempt = <A>(self: Request<A>, repeats: number): Request<A> =>
      Effect.catchAll(self, (error) => {
        const asked = "retryAfter" in error && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0
        if (repeats === times || !isRepeatable(error) || asked > longest || !mayRepeat()) return Effect.fail(error)
        const backoff = Math.min(longest, first * 2 ** repeats)
        return Random.next.pipe(
          Effect.flatMap((random) => Effect.sleep(Math.ceil(Math.max(asked, backoff * (0.5 + random / 2))))),
          Effect.zipRight(attempt(self, repeats + 1))
        )
      })

    const counted = <A>(self: Request<A>) =>
      Effect.suspend(() => {
        budget = Math.min(100, budget + share)
        return self
      })
    const repeated = <A>(self: Request<A>) => counted(attempt(self, 0))
    const search: Service["search"] = (term, options) => repeated(advisor.search(term, options))
    return {
      search,
      searchAs: searchAsOf(search),
      httpClient: HttpClient.transform(
        advisor.httpClient,
        (sent, { method }) => method === "GET" || method === "HEAD" ? repeated(sent) : counted(sent)
      )
    }
  })

/**
 * Repeats a search, and a GET or HEAD through `httpClient`, that ended in ServerError or TransportError, and nothing that belongs to the
 * exchange of the license key. A caller gets the last error, at once where the budget is used up or where the service asked for a
 * longer pause than `cap`. Building it ends in ConfigurationError where a setting makes no sense.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor> =>
  Layer.fresh(Layer.effect(NutritionAdvisor, make(options)))
