/** A client of promises on a simulator of its own. */
import { Effect, Layer, ManagedRuntime } from "effect"
import { type Client, type ClientOptions, createClient } from "effect-nutrition-advisor/promise"
import { Simulator } from "effect-nutrition-advisor/testing"

export interface Simulated extends AsyncDisposable {
  readonly advisor: Client
  readonly httpClient: NonNullable<ClientOptions["httpClient"]>
  /** How often the HttpClient was built. */
  readonly builds: () => number
  readonly told: <A>(tell: (simulator: Simulator.Service) => Effect.Effect<A>) => Promise<A>
}

export const simulated = (options: Partial<ClientOptions> = {}, simulator?: Simulator.Options): Simulated => {
  const service = ManagedRuntime.make(Simulator.layerHttpClient(simulator))
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
    builds: () => builds,
    told: (tell) => service.runPromise(Effect.flatMap(Simulator.Simulator, tell)),
    [Symbol.asyncDispose]: async () => {
      await advisor.close()
      await service.dispose()
    }
  }
}
