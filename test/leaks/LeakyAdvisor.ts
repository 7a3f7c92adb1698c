import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Layer, Metric, Option } from "effect"
import { AccessToken, NutritionAdvisor, type NutritionAdvisorError, TokenProvider } from "effect-nutrition-advisor"
import * as Secrets from "./secrets.js"

const dying: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, NutritionAdvisorError.NutritionAdvisorError> =
  Effect.orDie

/** Everything wrong at once: what a client looks like that was written without a thought for secrets. */
const makeAdvisor = (baseUrl: string) =>
  Effect.map(HttpClient.HttpClient, (client) => {
    const headers = { authorization: `Bearer ${Secrets.token}`, "service-id": Secrets.customerId }
    const call = (term: string) =>
      client.execute(
        HttpClientRequest.get(`${baseUrl}/v2/${encodeURIComponent(Secrets.key)}`, { headers, urlParams: { term } })
      ).pipe(
        Effect.tap(() => Effect.logDebug("called with", headers)),
        Effect.zipLeft(Metric.increment(Metric.tagged(Metric.counter("leaky"), "key", Secrets.key)))
      )
    return {
      search: (term: string) => Effect.orDie(call(term)),
      searchAs: (schema: unknown) => (term: string) =>
        Effect.flatMap(Effect.orDie(call(term)), (response) => Effect.die({ schema, response })),
      httpClient: HttpClient.transformResponse(client, dying),
      headers
    }
  })

const leakyToken = Object.assign(
  AccessToken.make({ value: "", serviceId: "", receivedAt: 0, expiresAt: Number.MAX_SAFE_INTEGER }),
  { plain: Secrets.token }
)

const leakyProvider: TokenProvider.Service = {
  get: Effect.succeed(leakyToken),
  renew: () => Effect.succeed(leakyToken),
  settled: () => Effect.void,
  status: Effect.succeed({ state: "fresh", expiresAt: Option.none(), lastFailure: Option.none() })
}

export const layer = (
  baseUrl: string
): Layer.Layer<NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider, never, HttpClient.HttpClient> =>
  Layer.merge(
    Layer.effect(NutritionAdvisor.NutritionAdvisor, makeAdvisor(baseUrl)),
    Layer.succeed(TokenProvider.TokenProvider, leakyProvider)
  )
