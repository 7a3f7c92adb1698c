/** Servers on a port of this machine that respond as the test says, and record their requests and connections. */
import { once } from "node:events"
import * as Http from "node:http"
import * as Net from "node:net"
import { Effect, type Scope } from "effect"
import { expect, vi } from "vitest"
import { isExchange } from "../tables/tokenRoutes.js"

/** A request that a server received, with nothing redacted. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
}

export type Handler = (request: Received, response: Http.ServerResponse) => void

/** Lets a server listen until its scope is closed, which also breaks its connections. Returns its port. */
export const listening = (server: Net.Server): Effect.Effect<number, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sockets = new Set<Net.Socket>()
    server.on("connection", (socket: Net.Socket) => {
      sockets.add(socket)
      socket.on("error", () => socket.destroy()).once("close", () => sockets.delete(socket))
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => once(server.listen({ port: 0, host: "127.0.0.1", backlog: 2_048 }), "listening")),
      () =>
        Effect.promise(() => {
          const closed = once(server.close(), "close")
          for (const socket of sockets) socket.destroy()
          return closed
        })
    )
    return (server.address() as Net.AddressInfo).port
  })

/** A port of this machine on which nothing listens. */
export const freePort: Effect.Effect<number> = Effect.scoped(Effect.suspend(() => listening(Net.createServer())))

/** Calls the handler once a whole request has arrived. */
export const serve = (handle: Handler) =>
  Effect.gen(function*() {
    const requests: Array<Received> = []
    const connections = { opened: 0, open: 0 }
    const server = Http.createServer((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (text: string) => body += text).once("end", () => {
        const { headers, method = "", url = "" } = request
        const [path = "", query = ""] = url.split("?", 2)
        const received = { method, path, query, headers, body }
        requests.push(received)
        handle(received, response)
      })
    })
    server.keepAliveTimeout = 60_000
    server.on("connection", (socket) => {
      connections.opened += 1
      connections.open += 1
      socket.once("close", () => connections.open -= 1)
    })
    return { origin: `http://127.0.0.1:${yield* listening(server)}`, requests, connections }
  })

/** The same response to every request, with its length. */
export const replying =
  (body: string | Uint8Array, headers: Http.OutgoingHttpHeaders = {}, status = 200): Handler => (_, response) => {
    response.writeHead(status, { "content-length": Buffer.byteLength(body), ...headers }).end(body)
  }

export const tokenBody = JSON.stringify({ access_token: "token", customer_id: "customer", expires_in: 86_400 })

/** The Nutrition Advisor service: exchanges get a token, and all other requests get `data`. */
export const serveAdvisor = ({
  data = replying("{}"),
  token = replying(tokenBody)
}: { readonly data?: Handler; readonly token?: Handler } = {}) =>
  serve((request, response) => (isExchange(request.path) ? token : data)(request, response))

/** Waits until the condition is true. Fails the test if that takes more than 30 seconds, which is enough for a busy machine. */
export const eventually = (condition: () => boolean | Promise<boolean>) => {
  const check = async () => expect(await condition(), String(condition)).toBe(true)
  return Effect.promise(() => vi.waitFor(check, { interval: 10, timeout: 30_000 }))
}
