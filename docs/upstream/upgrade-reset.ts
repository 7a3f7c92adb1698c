import { createServer } from "node:http"
import { connect } from "node:net"
import { HttpServer, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"

process.on("uncaughtException", ({ message }) => {
  console.log(`uncaught: ${message}`)
  process.exit()
})

const attack = HttpServer.addressWith((address) =>
  Effect.forever(Effect.promise(async () => {
    const socket = connect(address._tag === "TcpAddress" ? address.port : 0, "127.0.0.1").on("error", () => {})
    socket.write("GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n")
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
    socket.resetAndDestroy()
  }))
)

const Server = HttpServer.serve(HttpServerResponse.empty()).pipe(
  Layer.merge(Layer.scopedDiscard(attack)),
  Layer.provide(NodeHttpServer.layer(createServer, { port: 0 }))
)

Effect.runFork(Layer.launch(Server))
