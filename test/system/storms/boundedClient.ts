import type { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import * as Undici from "undici"

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

export interface Client {
  readonly name: string
  readonly layer: (connections: number) => Layer.Layer<HttpClient.HttpClient>
  /** How many of the searches that were begun with one token are sent with it though it was rejected meanwhile. */
  readonly rejectionsAtMost: (connections: number, searches: number) => number
}

export const clients: ReadonlyArray<Client> = [
  { name: "undici", layer, rejectionsAtMost: (_, searches) => searches },
  {
    name: "UndiciClient",
    layer: (connections) => Layer.orDie(UndiciClient.layer({ connections })),
    rejectionsAtMost: (connections) => 2 * connections
  }
]
