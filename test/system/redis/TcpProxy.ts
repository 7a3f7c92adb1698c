/** A TCP proxy in front of a server: it cuts connections, leads new ones to another server, and records every byte. */
import { connect, createServer, type Socket } from "node:net"
import { Effect, Redacted, type Scope } from "effect"
import { listening } from "../../support/doubles/Wire.js"

export interface TcpProxy {
  readonly port: number
  readonly url: Redacted.Redacted<string>
  /** Whether commands reach the server, but their connection is cut before the response. */
  readonly setCuttingResponses: (isCutting: boolean) => Effect.Effect<void>
  /** New connections go to another port; open ones stay, as with the host name of a managed Redis. */
  readonly setTarget: (port: number) => Effect.Effect<void>
  /** Every byte that came to the proxy, from either side. */
  readonly recorded: Effect.Effect<string>
}

export const make = (target: number): Effect.Effect<TcpProxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const record: Array<Buffer> = []
    const state = { isCuttingResponses: false, target }

    const accept = (client: Socket) => {
      const server = connect(state.target, "127.0.0.1")
      for (const [socket, other] of [[client, server], [server, client]] as const) {
        socket.on("error", () => {})
        socket.on("close", () => other.destroy())
        socket.on("data", (bytes) => record.push(bytes))
      }
      client.on("data", (bytes) => {
        server.write(bytes)
        if (state.isCuttingResponses) setTimeout(() => client.destroy(), 5)
      })
      server.on("data", (bytes) => {
        if (!state.isCuttingResponses && client.writable) client.write(bytes)
      })
    }

    const port = yield* listening(createServer(accept))
    const set = (changes: Partial<typeof state>) => Effect.sync(() => void Object.assign(state, changes))

    return {
      port,
      url: Redacted.make(`redis://127.0.0.1:${port}`),
      setTarget: (target) => set({ target }),
      setCuttingResponses: (isCuttingResponses) => set({ isCuttingResponses }),
      recorded: Effect.sync(() => Buffer.concat(record).toString("latin1"))
    }
  })
