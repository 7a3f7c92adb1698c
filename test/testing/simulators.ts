/** The simulator, and an HttpClient for which its base URL is already there. */
import { createServer } from "node:http"
import { HttpClient, HttpClientRequest, HttpServer } from "@effect/platform"
import { NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import { Context, Layer } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"

const atBaseUrl = (context: Context.Context<Simulator.Simulator | HttpClient.HttpClient>) =>
  Context.add(
    context,
    HttpClient.HttpClient,
    HttpClient.mapRequest(
      Context.get(context, HttpClient.HttpClient),
      HttpClientRequest.prependUrl(Simulator.baseUrl)
    )
  )

export const inMemory = (options?: Simulator.Options) => Layer.map(Simulator.layerHttpClient(options), atBaseUrl)

export const onAPort = (options?: Simulator.Options) =>
  Layer.merge(Simulator.layerServer(options), HttpServer.layerTestClient).pipe(
    Layer.provide(NodeHttpServer.layer(createServer, { port: 0 })),
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.orDie
  )
