/** Clients over the simulator or another HttpClient. They exchange the key only if a request needs a token, and try that once. */
import { type HttpClient, HttpClientRequest } from "@effect/platform"
import { Context, Effect, Layer } from "effect"
import { NutritionAdvisor, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

export const settings: NutritionAdvisor.Options = {
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  refresh: { attempts: 1, background: false }
}

export const advisor = (options: Partial<NutritionAdvisor.Options> = {}, simulator: Simulator.Options = {}) =>
  NutritionAdvisor.layer({ ...settings, ...options }).pipe(Layer.provideMerge(Simulator.layerHttpClient(simulator)))

/** A client that is composed of its parts, with a store of one's own. */
export const composedAdvisor = (options: NutritionAdvisor.Options, store = TokenStore.layer) =>
  NutritionAdvisor.layerWithoutTokens(options).pipe(
    Layer.provideMerge(TokenProvider.layer()),
    Layer.provide([TokenIssuer.layer(options), store])
  )

export type HttpClientLayer = Layer.Layer<HttpClient.HttpClient>

/** Builds a client over an HttpClient. It is closed with the scope. */
export const advisorOver = (httpClient: HttpClientLayer, options: Partial<NutritionAdvisor.Options>) =>
  NutritionAdvisor.layer({ ...settings, ...options }).pipe(
    Layer.provide(httpClient),
    Layer.build,
    Effect.map(Context.get(NutritionAdvisor.NutritionAdvisor))
  )

export const execute = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.execute(request))

/** A request through httpClient. */
export const getPlan = execute(HttpClientRequest.get("/v2/plan"))

/** A program that changes the simulator first. */
export const after = <A, E, R>(
  change: (simulator: Simulator.Service) => Effect.Effect<void>,
  program: Effect.Effect<A, E, R>
) => Effect.zipRight(Effect.flatMap(Simulator.Simulator, change), program)

/** The requests of an operation that the simulator has received. */
export const requestsOf = (operation: Simulator.Operation) =>
  Effect.flatMap(
    Simulator.Simulator,
    ({ requests }) => Effect.map(requests, (all) => all.filter((request) => request.operation === operation))
  )
