import type { HttpClient } from "@effect/platform"
import { Context, Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor, TokenIssuer } from "effect-nutrition-advisor"

export type HttpClientLayer = Layer.Layer<HttpClient.HttpClient>

export type Options = NutritionAdvisor.Options

/** An exchange is not retried: the first response decides. */
export const optionsFor = (baseUrl: string, options: Partial<Options> = {}): Options => ({
  baseUrl,
  licenseKey: Redacted.make("key-of-a-hostile-service"),
  refresh: { attempts: 1, background: false },
  ...options
})

export const advisor = (layer: HttpClientLayer, options: Options) =>
  NutritionAdvisor.layer(options).pipe(
    Layer.provide(layer),
    Layer.build,
    Effect.map(Context.get(NutritionAdvisor.NutritionAdvisor))
  )

export const issuer = (layer: HttpClientLayer, options: Options) =>
  TokenIssuer.layer(options).pipe(Layer.provide(layer), Layer.build, Effect.map(Context.get(TokenIssuer.TokenIssuer)))
