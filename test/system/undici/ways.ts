/** The ways by which a request of NutritionAdvisor comes to an UndiciClient. */
import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Context, Effect, identity, Layer, Option, Redacted, type Scope } from "effect"
import { AccessToken, NutritionAdvisor, TokenProvider } from "effect-nutrition-advisor"
import { UndiciClient } from "effect-nutrition-advisor/undici"

export const ours = Effect.orDie(UndiciClient.make())

/** The client of the platform over undici. */
export const stock = Layer.build(NodeHttpClient.layerUndici).pipe(Effect.map(Context.get(HttpClient.HttpClient)))

const tokenNamed = (value: string) =>
  AccessToken.make({ value, serviceId: "a-customer", receivedAt: Date.now(), expiresAt: Date.now() + 3_600_000 })

/** A provider that always has a token, and another one for each that is rejected: no exchange, cool-down or backoff. */
const tokens = Layer.succeed(TokenProvider.TokenProvider, {
  get: Effect.succeed(tokenNamed("first")),
  renew: () => Effect.sync(() => tokenNamed("second")),
  status: Effect.succeed<TokenProvider.TokenStatus>({
    state: "fresh",
    expiresAt: Option.none(),
    lastFailure: Option.none()
  })
})

interface Way {
  readonly name: string
  readonly through: (client: HttpClient.HttpClient) => HttpClient.HttpClient
}

export const ways: ReadonlyArray<Way> = [
  { name: "in one step", through: identity },
  // A client behind another one can't bring a whole body in one step.
  { name: "that reads an HttpClientResponse", through: HttpClient.mapRequest(identity) }
]

export const advisor = (
  client: HttpClient.HttpClient,
  baseUrl: string,
  options: Partial<NutritionAdvisor.Options> = {}
): Effect.Effect<NutritionAdvisor.Service, never, Scope.Scope> =>
  NutritionAdvisor.layerWithoutTokens({ baseUrl, licenseKey: Redacted.make("a-license-key"), ...options }).pipe(
    Layer.provide([tokens, Layer.succeed(HttpClient.HttpClient, client)]),
    Layer.build,
    Effect.orDie,
    Effect.map(Context.get(NutritionAdvisor.NutritionAdvisor))
  )
