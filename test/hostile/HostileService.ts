import { once } from "node:events"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, type Scope } from "effect"
import type { Reply } from "./replies.js"

export interface Replies {
  readonly token: Reply
  readonly data: Reply
}

/** What the server saw of connections: how many were opened in all, and how many are open now. */
export interface Connections {
  readonly opened: number
  readonly open: number
}

export interface HostileService {
  readonly origin: string
  readonly connections: Effect.Effect<Connections>
}

/** The service on a port of this machine; it answers with whatever bytes it is given, valid HTTP or not. */
export const start = (replies: Replies): Effect.Effect<HostileService, never, Scope.Scope> =>
  Effect.gen(function*() {
    const connections = { opened: 0, open: 0 }
    const server = Http.createServer((request, response) => {
      request.resume()
      request.once("end", () => (request.method === "POST" ? replies.token : replies.data)(response))
    })
    server.keepAliveTimeout = 60_000
    server.on("connection", (socket) => {
      connections.opened += 1
      connections.open += 1
      socket.on("error", () => socket.destroy())
      socket.once("close", () => {
        connections.open -= 1
      })
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
      () =>
        Effect.promise(() => {
          const closed = once(server.close(), "close")
          server.closeAllConnections()
          return closed
        })
    )
    return {
      origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      connections: Effect.sync(() => ({ ...connections }))
    }
  })
