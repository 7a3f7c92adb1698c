import type { HttpClient } from "@effect/platform"
import { Context, Effect, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { settings } from "./simulatedAdvisor.js"

export type HttpClientLayer = Layer.Layer<HttpClient.HttpClient>

/** Builds a client over an HttpClient. It is closed with the scope. */
export const advisorOver = (httpClient: HttpClientLayer, options: Partial<NutritionAdvisor.Options>) =>
  NutritionAdvisor.layer({ ...settings, ...options }).pipe(
    Layer.provide(httpClient),
    Layer.build,
    Effect.map(Context.get(NutritionAdvisor.NutritionAdvisor))
  )
