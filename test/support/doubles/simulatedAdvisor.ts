/** Clients over the simulator or another HttpClient. They exchange the key only if a request needs a token, and try that once. */
import type { HttpClient } from "@effect/platform"
import { Context, Effect, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

export const settings: NutritionAdvisor.Options = {
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  refresh: { attempts: 1, background: false }
}

export const advisor = (options: Partial<NutritionAdvisor.Options> = {}, simulator: Simulator.Options = {}) =>
  NutritionAdvisor.layer({ ...settings, ...options }).pipe(Layer.provideMerge(Simulator.layerHttpClient(simulator)))

export type HttpClientLayer = Layer.Layer<HttpClient.HttpClient>

/** Builds a client over an HttpClient. It is closed with the scope. */
export const advisorOver = (httpClient: HttpClientLayer, options: Partial<NutritionAdvisor.Options>) =>
  NutritionAdvisor.layer({ ...settings, ...options }).pipe(
    Layer.provide(httpClient),
    Layer.build,
    Effect.map(Context.get(NutritionAdvisor.NutritionAdvisor))
  )
