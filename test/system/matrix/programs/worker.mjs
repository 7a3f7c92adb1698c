/** The worker of docs/recipes.md: a layer for each request, over one cache in the memory of the isolate. */
import { FetchHttpClient } from "@effect/platform"
import { Context, Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor, SharedTokenCache } from "effect-nutrition-advisor"
import { useAllWith } from "./effect.mjs"

const cache = Effect.runSync(
  Effect.scoped(Effect.map(Layer.build(SharedTokenCache.layerMemory), Context.get(SharedTokenCache.SharedTokenCache)))
)

const Cache = Layer.succeed(SharedTokenCache.SharedTokenCache, cache)

const worker = {
  fetch: async (request, environment, context) => {
    const advisor = NutritionAdvisor.layerShared({
      baseUrl: environment.NUTRITION_ADVISOR_BASE_URL,
      licenseKey: Redacted.make(environment.NUTRITION_ADVISOR_LICENSE_KEY),
      refresh: { background: false }
    }).pipe(Layer.provide([FetchHttpClient.layer, Cache]))
    const runPromise = (effect, options) => {
      const promise = Effect.runPromise(Effect.provide(effect, advisor), options)
      context.waitUntil(promise.catch(() => {}))
      return promise
    }
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === "/") {
      return Response.json(await runPromise(NutritionAdvisor.search(searchParams.get("term") ?? "")))
    }
    await useAllWith(runPromise, environment.SIMULATOR)
    return new Response("done")
  }
}

export { worker as default }
