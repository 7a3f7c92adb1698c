/** By module, not by barrel: the process that measures memory loads them too, and would take seconds more to start. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Layer from "effect/Layer"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import type { HttpClientLayer } from "./advisor.js"

export interface Client {
  readonly name: string
  readonly layer: HttpClientLayer
}

const undici: Client = { name: "undici", layer: NodeHttpClient.layerUndici }

const fetch: Client = { name: "fetch", layer: FetchHttpClient.layer }

const ours: Client = { name: "UndiciClient", layer: Layer.orDie(UndiciClient.layer()) }

export const clients: ReadonlyArray<Client> = [undici, { name: "node:http", layer: NodeHttpClient.layer }, fetch, ours]

/** Clients that keep their connections: the stock layer of node:http opens one for each request. */
export const keepingClients: ReadonlyArray<Client> = [
  undici,
  {
    name: "node:http with keep-alive",
    layer: Layer.provide(NodeHttpClient.layerWithoutAgent, NodeHttpClient.makeAgentLayer({ keepAlive: true }))
  },
  fetch,
  ours
]
