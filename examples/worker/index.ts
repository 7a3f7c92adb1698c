/**
 * A worker whose requests share a token within an isolate, in memory: no further service is needed, and each isolate exchanges
 * the license key once in the life of a token.
 */
import { Effect, Layer, Stream } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import { answer, type Settings } from "./foods.js"

/** In module scope, since it does no I/O: it outlives the requests. */
const memory = Effect.runSync(SharedTokenCache.makeMemory)

/** No request may wake another, which would go on in the wrong place: those who wait look by themselves. */
const Cache = Layer.succeed(SharedTokenCache.SharedTokenCache, { ...memory, changes: () => Stream.tick("100 millis") })

const worker: ExportedHandler<Settings> = {
  fetch: (request, settings, context) => answer(request, settings, context, Cache)
}

export { worker as default }
