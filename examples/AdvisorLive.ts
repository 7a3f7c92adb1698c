import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Config, Effect, Layer, Option } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

/** Whether the base URL or the license key is set. If neither is, the examples use the embedded simulator. */
export const isConfigured = Effect.map(
  Config.all([
    Config.option(Config.string("NUTRITION_ADVISOR_BASE_URL")),
    Config.option(Config.redacted("NUTRITION_ADVISOR_LICENSE_KEY"))
  ]),
  ([baseUrl, licenseKey]) => Option.isSome(baseUrl) || Option.isSome(licenseKey)
)

const Configured = NutritionAdvisor.layerConfig().pipe(Layer.provide(FetchHttpClient.layer))

const Simulated = NutritionAdvisor.layer({
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey
}).pipe(Layer.provide(Simulator.layerHttpClient()))

export const AdvisorLive = Layer.unwrapEffect(
  Effect.map(isConfigured, (configured) => configured ? Configured : Simulated)
)
