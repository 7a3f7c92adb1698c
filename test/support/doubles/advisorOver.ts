import type { HttpClient } from "@effect/platform"
import { Context, Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"

export type HttpClientLayer = Layer.Layer<HttpClient.HttpClient>

export type Options = Partial<NutritionAdvisor.Options> & Pick<NutritionAdvisor.Options, "baseUrl">

/** Options for a client that makes an exchange only if a request needs it, and doesn't retry it. */
export const optionsFor = (options: Options): NutritionAdvisor.Options => ({
  licenseKey: Redacted.make("key-of-a-test"),
  refresh: { attempts: 1, background: false },
  ...options
})

/** Builds a client over an HttpClient. It is closed with the scope. */
export const advisorOver = (httpClient: HttpClientLayer, options: Options) =>
  NutritionAdvisor.layer(optionsFor(options)).pipe(
    Layer.provide(httpClient),
    Layer.build,
    Effect.map(Context.get(NutritionAdvisor.NutritionAdvisor))
  )
