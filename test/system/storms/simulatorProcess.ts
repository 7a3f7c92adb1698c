/** The simulator on a port of its own process, so that a storm measures the client alone. It gets its orders over Node's IPC. */
import { createServer } from "node:http"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Runtime } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import type { Letter, Receipt } from "./OrderedProcess.js"

export type Order =
  | { readonly name: "look" }
  | { readonly name: "revoke" }
  | {
    readonly name: "respondAlways"
    readonly operation: Simulator.Operation
    readonly answer: Simulator.SimulatedResponse | undefined
  }
  | { readonly name: "setLatency"; readonly operation: Simulator.Operation; readonly millis: number }

/** What the server saw after an order was carried out. */
export interface Sight extends Simulator.Counters {
  /** TCP connections that were opened, in all. */
  readonly connections: number
  readonly openExchanges: number
  /** Exchanges whose connection was closed before their response. */
  readonly abandonedExchanges: number
}

export interface Greeting {
  readonly port: number
}

const traffic = { abandonedExchanges: 0, connections: 0, openExchanges: 0 }

/** Idle connections stay open: a request on a connection that is just being closed would fail, which is not what a storm tests. */
const watchedServer = () => {
  const server = createServer({ keepAliveTimeout: 600_000 })
  server.on("connection", () => {
    traffic.connections += 1
  })
  server.on("request", (request, response) => {
    if (request.method !== "POST") return
    traffic.openExchanges += 1
    response.once("close", () => {
      traffic.openExchanges -= 1
      if (!response.writableFinished) traffic.abandonedExchanges += 1
    })
  })
  return server
}

const carryOut = (simulator: Simulator.Service, order: Order): Effect.Effect<void> => {
  switch (order.name) {
    case "look":
      return Effect.void
    case "revoke":
      return simulator.revoke
    case "respondAlways":
      return simulator.respondAlways(order.operation, order.answer)
    case "setLatency":
      return simulator.setLatency(order.operation, order.millis)
  }
}

const send = (message: Greeting | Receipt<Sight>) => process.send?.(message)

const program = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const { address } = yield* HttpServer.HttpServer
  const run = Runtime.runSync(yield* Effect.runtime())
  process.on("message", ({ id, order }: Letter<Order>) => {
    const counters = run(Effect.zipRight(carryOut(simulator, order), simulator.counters))
    send({ id, sight: { ...counters, ...traffic } })
  })
  process.once("disconnect", () => process.exit())
  send({ port: address._tag === "TcpAddress" ? address.port : 0 })
  return yield* Effect.never
})

program.pipe(
  Effect.provide(
    Simulator.layerServer().pipe(
      Layer.provideMerge(NodeHttpServer.layer(watchedServer, { port: 0, host: "127.0.0.1" }))
    )
  ),
  NodeRuntime.runMain
)
