/** The wrong way: one runtime in module scope, for all requests. */
import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import type { Settings } from "./foods.js"

let runtime: ManagedRuntime.ManagedRuntime<NutritionAdvisor.NutritionAdvisor, unknown> | undefined

const runtimeFor = (settings: Settings) =>
  runtime ??= ManagedRuntime.make(
    NutritionAdvisor.layer({
      baseUrl: settings.NUTRITION_ADVISOR_BASE_URL,
      licenseKey: Redacted.make(settings.NUTRITION_ADVISOR_LICENSE_KEY)
    }).pipe(Layer.provide(FetchHttpClient.layer))
  )

const foods = (request: Request) =>
  Effect.gen(function*() {
    const { httpClient, search } = yield* NutritionAdvisor.NutritionAdvisor
    const { pathname } = new URL(request.url)
    return pathname === "/request" ? yield* Effect.as(httpClient.get("/v2/foods"), {}) : yield* search("oats")
  }).pipe(
    Effect.match({
      onFailure: ({ _tag, message }) => Response.json({ error: _tag, message }, { status: 502 }),
      onSuccess: (payload) => Response.json(payload)
    })
  )

const worker: ExportedHandler<Settings> = {
  fetch: (request, settings) => runtimeFor(settings).runPromise(foods(request))
}

export { worker as default }
