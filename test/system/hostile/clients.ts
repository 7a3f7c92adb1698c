import { HttpClient } from "@effect/platform"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Layer } from "effect"
import { type Client, clients } from "../../support/leaks/clients.js"

/** With something around UndiciClient, each body arrives as a stream. */
export const wrapped: ReadonlyArray<Client> = clients.filter(({ name }) => name === "UndiciClient").map((
  { layer }
) => ({
  name: "UndiciClient with a wrapper",
  layer: Layer.project(
    layer,
    HttpClient.HttpClient,
    HttpClient.HttpClient,
    HttpClient.transformResponse((response) => response)
  )
}))

/** Clients that keep their connections: the platform's client on node:http opens one for each request. */
export const keepingClients: ReadonlyArray<Client> = clients.map((client) =>
  client.name === "node:http"
    ? {
      name: "node:http with keep-alive",
      layer: Layer.provide(NodeHttpClient.layerWithoutAgent, NodeHttpClient.makeAgentLayer({ keepAlive: true }))
    }
    : client
)
