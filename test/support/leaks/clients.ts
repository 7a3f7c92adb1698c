import { FetchHttpClient, HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"

export interface Client {
  readonly name: string
  readonly layer: Layer.Layer<HttpClient.HttpClient>
}

export const clients: ReadonlyArray<Client> = [
  { name: "undici", layer: NodeHttpClient.layerUndici },
  { name: "node:http", layer: NodeHttpClient.layer },
  { name: "fetch", layer: FetchHttpClient.layer },
  { name: "UndiciClient", layer: Layer.orDie(UndiciClient.layer()) }
]

export type Wrap = (client: HttpClient.HttpClient) => HttpClient.HttpClient

export const wrapping = (layer: Client["layer"], wrap: Wrap): Client["layer"] =>
  Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, wrap)), layer)

/** With something around UndiciClient, each body arrives as a stream. */
export const wrapped: ReadonlyArray<Client> = [{
  name: "UndiciClient with a wrapper",
  layer: wrapping(Layer.orDie(UndiciClient.layer()), HttpClient.transformResponse((response) => response))
}]
