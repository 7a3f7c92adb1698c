import { UndiciClient } from "effect-nutrition-advisor/undici"
import { Layer, NutritionAdvisor, useAll } from "./effect.mjs"

await useAll(Layer.provide(NutritionAdvisor.layerConfig(), UndiciClient.layerConfig()))
