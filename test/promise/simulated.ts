/** A promise client with its own simulator. */
import { Effect, Layer, ManagedRuntime } from "effect"
import { type Client, type ClientOptions, createClient } from "effect-nutrition-advisor/promise"
import { Simulator } from "effect-nutrition-advisor/testing"

export interface Simulated extends AsyncDisposable {
  readonly advisor: Client
  readonly httpClient: NonNullable<ClientOptions["httpClient"]>
  /** How many times the HttpClient was built. */
  readonly builds: () => number
  readonly run: <A>(use: (simulator: Simulator.Service) => Effect.Effect<A>) => Promise<A>
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
    run: (use) => service.runPromise(Effect.flatMap(Simulator.Simulator, use)),
    [Symbol.asyncDispose]: async () => {
      await advisor.close()
      await service.dispose()
    }
  }
}
