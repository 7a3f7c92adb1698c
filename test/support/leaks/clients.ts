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

/** With something around UndiciClient, each body arrives as a stream. */
export const wrapped: ReadonlyArray<Client> = [{
  name: "UndiciClient with a wrapper",
  layer: Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, HttpClient.transformResponse((response) => response))
  ).pipe(Layer.provide(Layer.orDie(UndiciClient.layer())))
}]
