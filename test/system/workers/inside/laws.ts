/** The laws of a SharedTokenCache, run in a worker over the Durable Object of the example: those that are broken. */
import { Effect } from "effect"
import { SharedTokenCacheLaws } from "effect-nutrition-advisor/testing"
import { layer, type SharedTokens as Tokens } from "./durable-object.js"

export { SharedTokens } from "./durable-object.js"

const laws = SharedTokenCacheLaws.laws.map(({ holds }) => Effect.flip(Effect.scoped(holds)))

const worker: ExportedHandler<{ readonly SHARED_TOKENS: DurableObjectNamespace<Tokens> }> = {
  fetch: (_, { SHARED_TOKENS }) =>
    Effect.allSuccesses(laws, { concurrency: "unbounded" }).pipe(
      Effect.map((broken) => Response.json({ broken: broken.map(({ message }) => message), laws: laws.length })),
      Effect.provide(layer(SHARED_TOKENS)),
      Effect.runPromise
    )
}

export { worker as default }
