import { FetchHttpClient } from "@effect/platform"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Layer, NutritionAdvisor, useAll } from "./effect.mjs"

await useAll(
  Layer.provide(NutritionAdvisor.layerSharedConfig(), [FetchHttpClient.layer, RedisTokenCache.layerConfig()])
)
