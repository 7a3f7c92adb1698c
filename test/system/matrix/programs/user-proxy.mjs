import { Undici } from "@effect/platform-node"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { Layer, NutritionAdvisor, useAll } from "./effect.mjs"

const agent = new Undici.EnvHttpProxyAgent()
await useAll(Layer.provide(NutritionAdvisor.layerConfig(), UndiciClient.layerFromDispatcher(agent)))
await agent.close()
