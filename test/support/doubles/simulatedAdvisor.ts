/** The client over the simulator in memory. It exchanges the key only if a request needs a token, and does not retry the exchange. */
import { Layer } from "effect"
import { NutritionAdvisor, RequestRetry, SearchCache, SharedTokenCache, Throttle } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

export const settings: NutritionAdvisor.Options = {
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  refresh: { attempts: 1, background: false }
}

export const advisor = (options: Partial<NutritionAdvisor.Options> = {}, simulator: Simulator.Options = {}) =>
  NutritionAdvisor.layer({ ...settings, ...options }).pipe(Layer.provideMerge(Simulator.layerHttpClient(simulator)))

/** The client with a shared token and all layers that wrap it, so that it has every metric. */
export const advisorWithAllLayers = Throttle.layer({}).pipe(
  Layer.provide(RequestRetry.layer({})),
  Layer.provide(SearchCache.layer({ timeToLive: "1 minute" })),
  Layer.provide(NutritionAdvisor.layerShared(settings)),
  Layer.provide([Simulator.layerHttpClient(), SharedTokenCache.layerMemory])
)
