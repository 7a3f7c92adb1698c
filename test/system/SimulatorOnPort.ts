/** The simulator on a port of this machine, for programs in processes of their own and for storms of requests. */
import { createServer } from "node:http"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arrangedLive } from "../support/doubles/arranged.js"

/** Idle connections stay open: a request on a connection that is just being closed would fail. */
const server = () => createServer({ keepAliveTimeout: 600_000 })

export const layer = (options?: Simulator.Options) =>
  Simulator.layerServer(options).pipe(
    Layer.provideMerge(NodeHttpServer.layer(server, { port: 0, host: "127.0.0.1" }))
  )

export const place = Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  const baseUrl = `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`
  const simulator = yield* Simulator.Simulator
  /** What a program reads from its environment. */
  const settings = {
    NUTRITION_ADVISOR_BASE_URL: baseUrl,
    NUTRITION_ADVISOR_LICENSE_KEY: Redacted.value(Simulator.licenseKey)
  }
  return { baseUrl, settings, simulator }
})

/** Tests that have a simulator each. */
export const withSimulatorOnPort = arrangedLive(place, layer())
