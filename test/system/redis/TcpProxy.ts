/** A TCP proxy in front of a server: it cuts connections, and leads new ones to another server. */
import { connect, createServer, type Socket } from "node:net"
import { Effect, Redacted } from "effect"
import { listening } from "../../support/doubles/Wire.js"

export const make = (target: number) =>
  Effect.gen(function*() {
    const state = { isCuttingResponses: false, target }

    const accept = (client: Socket) => {
      const server = connect(state.target, "127.0.0.1")
      for (const [socket, other] of [[client, server], [server, client]] as const) {
        socket.on("error", () => {})
        socket.on("close", () => other.destroy())
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
      /** New connections go to another port; open ones stay, as with the host name of a managed Redis. */
      setTarget: (target: number) => set({ target }),
      /** Whether commands reach the server, but their connection is cut before the response. */
      setCuttingResponses: (isCuttingResponses: boolean) => set({ isCuttingResponses })
    }
  })
