import type { HttpClient } from "@effect/platform"
import { NodeHttpClient, Undici } from "@effect/platform-node"
import { Effect, Layer } from "effect"

/** An HttpClient that opens at most so many connections: further requests wait in its queue. */
export const layer = (connections: number): Layer.Layer<HttpClient.HttpClient> =>
  NodeHttpClient.layerUndiciWithoutDispatcher.pipe(
    Layer.provide(Layer.scoped(
      NodeHttpClient.Dispatcher,
      Effect.acquireRelease(
        Effect.sync(() => new Undici.Agent({ connections })),
        (agent) => Effect.promise(() => agent.destroy())
      )
    ))
  )
