/** The layers around the client, with settings under which every search still ends as it does without them. */
import { type Duration, Layer } from "effect"
import {
  type NutritionAdvisor,
  type NutritionAdvisorError,
  RequestRetry,
  SearchCache,
  Throttle
} from "effect-nutrition-advisor"
import * as Secrets from "./secrets.js"

export type Around = Layer.Layer<
  NutritionAdvisor.NutritionAdvisor,
  NutritionAdvisorError.ConfigurationError,
  NutritionAdvisor.NutritionAdvisor
>

export const allAround: Around = SearchCache.layer({ timeToLive: "1 millis" }).pipe(
  Layer.provideMerge(RequestRetry.layer({ times: 1, base: "1 millis" })),
  Layer.provideMerge(Throttle.layer({ rate: { limit: 1_000, interval: "1 second" } }))
)

/** What a program without types may hand over. */
const duration = Secrets.key as Duration.DurationInput

const count: unknown = Secrets.key

export const misconfigured: ReadonlyArray<{ readonly field: string; readonly layer: Around }> = [
  { field: "times", layer: RequestRetry.layer({ times: count as number }) },
  { field: "base", layer: RequestRetry.layer({ base: duration }) },
  { field: "cap", layer: RequestRetry.layer({ cap: duration }) },
  { field: "budget", layer: RequestRetry.layer({ budget: count as number }) },
  { field: "onTooManyRequests", layer: Throttle.layer({ onTooManyRequests: Secrets.key as "fail" }) },
  { field: "maxWait", layer: Throttle.layer({ maxWait: duration }) },
  { field: "rate.limit", layer: Throttle.layer({ rate: { limit: count as number, interval: "1 second" } }) },
  { field: "rate.interval", layer: Throttle.layer({ rate: { limit: 1, interval: duration } }) },
  { field: "timeToLive", layer: SearchCache.layer({ timeToLive: duration }) },
  { field: "maxBytes", layer: SearchCache.layer({ timeToLive: 1, maxBytes: count as number }) },
  { field: "staleIfError", layer: SearchCache.layer({ timeToLive: 1, staleIfError: duration }) }
]
