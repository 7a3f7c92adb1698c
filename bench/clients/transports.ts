/** The stock HttpClient layers, with connections that are kept. */
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient, Undici } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { sockets } from "./Client.js"

const pooled = Layer.scoped(
  NodeHttpClient.Dispatcher,
  Effect.acquireRelease(
    Effect.sync(() => new Undici.Agent({ connections: sockets })),
    (agent) => Effect.promise(() => agent.destroy())
  )
)

export const transports = {
  fetch: FetchHttpClient.layer,
  node: NodeHttpClient.layerWithoutAgent.pipe(
    Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: true, maxSockets: sockets }))
  ),
  undici: NodeHttpClient.layerUndici,
  undiciPooled: NodeHttpClient.layerUndiciWithoutDispatcher.pipe(Layer.provide(pooled))
} satisfies Record<string, Layer.Layer<HttpClient.HttpClient>>

export type Transport = keyof typeof transports
