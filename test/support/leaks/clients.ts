import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Layer } from "effect"
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
