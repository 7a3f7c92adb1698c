/** The worker of docs/recipes.md: a layer for each request, over one cache in the memory of the isolate. */
import { FetchHttpClient } from "@effect/platform"
import { Context, Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor, SharedTokenCache } from "effect-nutrition-advisor"

const cache = Effect.runSync(
  Effect.scoped(Effect.map(Layer.build(SharedTokenCache.layerMemory), Context.get(SharedTokenCache.SharedTokenCache)))
)

const Cache = Layer.succeed(SharedTokenCache.SharedTokenCache, cache)

const worker = {
  fetch: (request, environment) =>
    NutritionAdvisor.search(new URL(request.url).searchParams.get("term") ?? "").pipe(
      Effect.map((payload) => Response.json(payload)),
      Effect.catchAll(({ message }) => Effect.succeed(new Response(message, { status: 502 }))),
      Effect.provide(
        NutritionAdvisor.layerShared({
          baseUrl: environment.NUTRITION_ADVISOR_BASE_URL,
          licenseKey: Redacted.make(environment.NUTRITION_ADVISOR_LICENSE_KEY),
          refresh: { background: false }
        }).pipe(Layer.provide([FetchHttpClient.layer, Cache]))
      ),
      Effect.runPromise
    )
}

export { worker as default }
