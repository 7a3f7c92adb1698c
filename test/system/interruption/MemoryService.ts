/** The service over connections in memory, for the real HTTP clients: nothing waits for a network. */
import * as Http from "node:http"
import type { Socket } from "node:net"
import { type Duplex, duplexPair } from "node:stream"
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import { Effect, Layer } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { isExchange } from "../../support/tables/tokenRoutes.js"

export type Route = "token" | "data"

const bodyOf: Record<Route, (count: number) => unknown> = {
  token: (count) => ({
    access_token: `token-${count}`,
    expires_in: 3_600,
    token_type: "Bearer",
    customer_id: "customer"
  }),
  data: () => ({ foods: [] })
}

/** A socket for what asks a network socket for more than a stream has. */
const asSocket = (stream: Duplex): Duplex =>
  Object.assign(stream, {
    ref: () => stream,
    unref: () => stream,
    setKeepAlive: () => stream,
    setNoDelay: () => stream,
    setTimeout: () => stream
  })

export class MemoryService {
  /** Routes that never respond. */
  readonly silent = new Set<Route>()
  private readonly open = new Map<Http.ServerResponse, Route>()
  private requests = 0
  private readonly server = Http.createServer((request, response) => {
    const route = isExchange(request.url ?? "") ? "token" : "data"
    this.requests += 1
    this.open.set(response, route)
    response.once("close", () => this.open.delete(response))
    request.resume().once("end", () => {
      if (!this.silent.has(route)) this.respond(response, route)
    }).on("error", () => {})
  })

  openOn(route: Route): number {
    return [...this.open.values()].filter((open) => open === route).length
  }

  /** Responds to all requests from now on, and to the waiting ones. */
  respondToAll() {
    this.silent.clear()
    for (const [response, route] of this.open) this.respond(response, route)
  }

  connect(): Duplex {
    const [ours, theirs] = duplexPair()
    for (const [side, other] of [[ours, theirs], [theirs, ours]] as const) {
      side.on("error", () => {}).once("close", () => other.destroy())
    }
    this.server.emit("connection", asSocket(theirs))
    return asSocket(ours)
  }

  private respond(response: Http.ServerResponse, route: Route) {
    if (response.writableEnded) return
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(bodyOf[route](this.requests)))
  }
}

/** UndiciClient loads the stock client with the first request that needs it, which takes longer than everything here. */
await Effect.runPromise(
  Effect.flatMap(UndiciClient.make(), (client) => Effect.exit(client.get("http://127.0.0.1:1"))).pipe(Effect.scoped)
)

type ClientLayer = Layer.Layer<HttpClient.HttpClient>

/** undici is not ready for a connection that is there at once. */
const connector = (service: MemoryService): Undici.buildConnector.connector => (_, done) =>
  queueMicrotask(() => done(null, service.connect() as Socket))

const agentOf = (service: MemoryService) =>
  Effect.acquireRelease(
    Effect.sync(() => new Undici.Agent({ connect: connector(service) })),
    (agent) => Effect.promise(() => agent.destroy())
  )

const nodeAgentOf = (service: MemoryService) =>
  Effect.map(NodeHttpClient.makeAgent(), (agent) => {
    agent.http.createConnection = () => service.connect()
    return agent
  })

export const clients: Readonly<Record<string, (service: MemoryService) => ClientLayer>> = {
  "NodeHttpClient.layerUndici": (service) =>
    Layer.provide(
      NodeHttpClient.layerUndiciWithoutDispatcher,
      Layer.scoped(NodeHttpClient.Dispatcher, agentOf(service))
    ),
  "NodeHttpClient.layer": (service) =>
    Layer.provide(NodeHttpClient.layerWithoutAgent, Layer.scoped(NodeHttpClient.HttpAgent, nodeAgentOf(service))),
  "FetchHttpClient": (service) =>
    Layer.provide(
      FetchHttpClient.layer,
      Layer.scoped(
        FetchHttpClient.Fetch,
        Effect.map(
          agentOf(service),
          (dispatcher) => (url, init) => Undici.fetch(url as never, { ...init, dispatcher } as never) as never
        )
      )
    ),
  "UndiciClient": (service) => Layer.orDie(UndiciClient.layer({ undici: { connect: connector(service) } }))
}
