/** What both workers do for a request: a layer of its own, over the cache that all requests share. */
import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Redacted, Scheduler } from "effect"
import { NutritionAdvisor, type SharedTokenCache } from "effect-nutrition-advisor"

export interface Settings {
  readonly NUTRITION_ADVISOR_BASE_URL: string
  readonly NUTRITION_ADVISOR_LICENSE_KEY: string
}

/**
 * The layer ends with its request, and a refresh in the background would end with it, half done. So a token is used until it
 * expires: the window in which it would be refreshed is hardly larger than the margin before the expiry.
 */
const refresh = { background: false, window: "10001 millis", windowFraction: 0.01001 } as const

const layer = (settings: Settings, cache: Layer.Layer<SharedTokenCache.SharedTokenCache>) =>
  NutritionAdvisor.layerShared({
    baseUrl: settings.NUTRITION_ADVISOR_BASE_URL,
    licenseKey: Redacted.make(settings.NUTRITION_ADVISOR_LICENSE_KEY),
    refresh
  }).pipe(Layer.provide([FetchHttpClient.layer, cache]))

const foods = (term: string) =>
  NutritionAdvisor.search(term).pipe(
    Effect.match({
      onFailure: ({ _tag, message }) => ({ status: 502, body: { error: _tag, message } }),
      onSuccess: (body) => ({ status: 200, body })
    })
  )

export const answer = (
  request: Request,
  settings: Settings,
  context: ExecutionContext,
  cache: Layer.Layer<SharedTokenCache.SharedTokenCache>
): Promise<Response> => {
  const term = new URL(request.url).searchParams.get("term") ?? ""
  const found = Effect.provide(foods(term), layer(settings, cache)).pipe(
    Effect.catchAll(({ message }) => Effect.succeed({ status: 500, body: { error: message } })),
    // Fibers of two requests must not stand in one queue: a timer of the one would run the other.
    Effect.withScheduler(new Scheduler.MixedScheduler(2_048)),
    Effect.runPromise
  )
  // Where the client goes away, the exchange goes on: others wait for its token.
  context.waitUntil(found)
  return found.then(({ body, status }) => Response.json(body, { status }))
}
