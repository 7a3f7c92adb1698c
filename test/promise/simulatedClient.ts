/** A promise client with its own simulator. */
import { Effect, Layer, ManagedRuntime } from "effect"
import { type ClientOptions, createClient } from "effect-nutrition-advisor/promise"
import { Simulator } from "effect-nutrition-advisor/testing"

export const simulatedClient = (options: Partial<ClientOptions> = {}) => {
  const service = ManagedRuntime.make(Simulator.layerHttpClient())
  let builds = 0
  const httpClient = Layer.unwrapEffect(Effect.map(service.runtimeEffect, ({ context }) => {
    builds += 1
    return Layer.succeedContext(context)
  }))
  const { baseUrl, licenseKey } = Simulator
  const advisor = createClient({ baseUrl, licenseKey, httpClient, ...options })
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
