import type * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as NutritionAdvisor from "effect-nutrition-advisor/NutritionAdvisor"
import * as TokenIssuer from "effect-nutrition-advisor/TokenIssuer"

export type HttpClientLayer = Layer.Layer<HttpClient.HttpClient>

export type Options = NutritionAdvisor.Options

/** One exchange is one call: a failure is that of the reply under test, at once. */
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
