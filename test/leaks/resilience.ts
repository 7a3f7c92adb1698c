/** The layers around the client, with settings under which every search still ends as it does without them. */
import { Layer } from "effect"
import {
  type NutritionAdvisor,
  type NutritionAdvisorError,
  RequestRetry,
  SearchCache,
  Throttle
} from "effect-nutrition-advisor"

export type Around = Layer.Layer<
  NutritionAdvisor.NutritionAdvisor,
  NutritionAdvisorError.ConfigurationError,
  NutritionAdvisor.NutritionAdvisor
>

export const allAround: Around = SearchCache.layer({ timeToLive: "1 millis" }).pipe(
  Layer.provideMerge(RequestRetry.layer({ times: 1, base: "1 millis" })),
  Layer.provideMerge(Throttle.layer({ rate: { limit: 1_000, interval: "1 second" } }))
)
