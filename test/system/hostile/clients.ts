import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
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

/** With something around the client, each answer comes as a response whose body is a stream. */
export const wrapped: Client = {
  name: "UndiciClient with a wrapper",
  layer: Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, HttpClient.transformResponse((response) => response))
  ).pipe(Layer.provide(ours.layer))
}

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
