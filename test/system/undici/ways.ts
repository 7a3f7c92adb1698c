/** The ways by which a request of NutritionAdvisor comes to an UndiciClient. */
import { HttpClient } from "@effect/platform"
import { Context, Effect, identity, Layer, Redacted, type Scope } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import * as Issuer from "../../support/doubles/IssuerDouble.js"

export const undiciClient = Effect.orDie(UndiciClient.make())

export const ways = [
  { name: "in one step", through: identity<HttpClient.HttpClient> },
  // A client behind another one can't bring a whole body in one step.
  { name: "that reads an HttpClientResponse", through: HttpClient.mapRequest(identity) }
]

export const advisor = (
  client: HttpClient.HttpClient,
  baseUrl: string,
  options: Partial<NutritionAdvisor.Options> = {}
): Effect.Effect<NutritionAdvisor.Service, never, Scope.Scope> =>
  NutritionAdvisor.layerWithoutTokens({ baseUrl, licenseKey: Redacted.make("a-license-key"), ...options }).pipe(
    Layer.provide([Issuer.layerOnDemand, Layer.succeed(HttpClient.HttpClient, client)]),
    Layer.build,
    Effect.orDie,
    Effect.map(Context.get(NutritionAdvisor.NutritionAdvisor))
  )
