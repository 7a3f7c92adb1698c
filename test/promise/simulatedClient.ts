/** Promise clients without a service. */
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import type { NutritionAdvisor } from "effect-nutrition-advisor"
import { type ClientOptions, createClient, fromLayer } from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest, Simulator } from "effect-nutrition-advisor/testing"

export const key = Redacted.value(Simulator.licenseKey)

export const settings = { baseUrl: Simulator.baseUrl, licenseKey: key }

export const clientWithSearch = (search: NutritionAdvisor.Service["search"]) =>
  fromLayer(NutritionAdvisorTest.layer({ search }))

/** A client with its own simulator. */
export const simulatedClient = (options: Partial<ClientOptions> = {}) => {
  const service = ManagedRuntime.make(Simulator.layerHttpClient())
  let builds = 0
  const httpClient = Layer.effectContext(Effect.map(service.runtimeEffect, ({ context }) => {
    builds += 1
    return context
  }))
  const advisor = createClient({ ...settings, httpClient, ...options })
  return {
    advisor,
    httpClient,
    /** How many times the HttpClient was built. */
    builds: () => builds,
    run: <A>(use: (simulator: Simulator.Service) => Effect.Effect<A>) =>
      service.runPromise(Effect.flatMap(Simulator.Simulator, use)),
    [Symbol.asyncDispose]: async () => {
      await advisor.close()
      await service.dispose()
    }
  }
}
