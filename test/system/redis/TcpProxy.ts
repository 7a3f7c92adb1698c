/** A TCP proxy in front of a server: it delays, cuts, silences and moves connections, and records every byte. */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { Effect, Redacted, type Scope } from "effect"

export interface TcpProxy {
  readonly port: number
  readonly url: Redacted.Redacted<string>
  /** Answers come so many milliseconds late from now on; those on their way come at once. */
  readonly setDelay: (millis: number) => Effect.Effect<void>
  /** Cuts every connection. */
  readonly cut: Effect.Effect<void>
  /** So many of the next commands reach the server by half, and then their connection is cut. */
  readonly cutNextCommands: (count: number) => Effect.Effect<void>
  /** So many of the next commands reach the server, and their connection is cut before the answer. */
  readonly cutNextAnswers: (count: number) => Effect.Effect<void>
  /** A connection is cut as soon as its client sends something that holds this text. */
  readonly cutAt: (text: string) => Effect.Effect<void>
  /** The connections of now stay open, and nothing passes through them ever again; new ones work. */
  readonly silence: Effect.Effect<void>
  /** Refuses new connections, or takes them again. */
  readonly setRefusing: (isRefusing: boolean) => Effect.Effect<void>
  /** Cuts every connection; new ones lead to another port. */
  readonly switchTo: (port: number) => Effect.Effect<void>
  /** New connections lead to another port; those of now stay. */
  readonly divertTo: (port: number) => Effect.Effect<void>
  /** Every byte that clients sent. */
  readonly sent: Effect.Effect<string>
  /** Every byte that came to the proxy, from either side. */
  readonly recorded: Effect.Effect<string>
}

interface State {
  to: number
  delay: number
  commandsToCut: number
  answersToCut: number
  textToCutAt?: string
  isRefusing: boolean
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  /** Answers on their way to the client, in their order. */
  readonly late: Array<Buffer>
  isSilent: boolean
}

export const make = (target: number): Effect.Effect<TcpProxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const pairs = new Set<Pair>()
    const sent: Array<Buffer> = []
    const record: Array<Buffer> = []
    const state: State = { to: target, delay: 0, commandsToCut: 0, answersToCut: 0, isRefusing: false }

    const end = (pair: Pair) => {
      pairs.delete(pair)
      pair.client.destroy()
      pair.server.destroy()
    }

    const fromClient = (pair: Pair, bytes: Buffer) => {
      sent.push(bytes)
      record.push(bytes)
      if (pair.isSilent) return
      if (state.textToCutAt !== undefined && bytes.includes(state.textToCutAt)) {
        end(pair)
      } else if (state.commandsToCut > 0) {
        state.commandsToCut -= 1
        pair.server.end(bytes.subarray(0, bytes.length / 2))
        pair.client.destroy()
      } else if (state.answersToCut > 0) {
        state.answersToCut -= 1
        pair.server.end(bytes)
        pair.client.destroy()
      } else {
        pair.server.write(bytes)
      }
    }

    const deliver = (pair: Pair, count: number) => {
      for (const bytes of pair.late.splice(0, count)) if (pair.client.writable) pair.client.write(bytes)
    }

    const fromServer = (pair: Pair, bytes: Buffer) => {
      record.push(bytes)
      if (pair.isSilent) return
      pair.late.push(bytes)
      if (state.delay === 0) deliver(pair, pair.late.length)
      else setTimeout(() => deliver(pair, 1), state.delay).unref()
    }

    const listener = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const listener = createServer((client) => {
          if (state.isRefusing) {
            client.destroy()
            return
          }
          const pair: Pair = { client, server: connect(state.to, "127.0.0.1"), late: [], isSilent: false }
          pairs.add(pair)
          client.on("data", (bytes) => fromClient(pair, bytes))
          pair.server.on("data", (bytes) => fromServer(pair, bytes))
          for (const socket of [client, pair.server]) {
            socket.on("error", () => {})
            socket.on("close", () => pair.isSilent || end(pair))
          }
        }).listen(0, "127.0.0.1")
        await once(listener, "listening")
        return listener
      }),
      (listener) =>
        Effect.sync(() => {
          for (const pair of pairs) end(pair)
          listener.close()
        })
    )
    const address = listener.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const cut = Effect.sync(() => {
      for (const pair of pairs) end(pair)
    })

    const set = (changes: Partial<State>) => Effect.sync(() => void Object.assign(state, changes))

    return {
      port,
      url: Redacted.make(`redis://127.0.0.1:${port}`),
      setDelay: (delay) =>
        Effect.map(set({ delay }), () => {
          for (const pair of pairs) deliver(pair, pair.late.length)
        }),
      cut,
      cutNextCommands: (commandsToCut) => set({ commandsToCut }),
      cutNextAnswers: (answersToCut) => set({ answersToCut }),
      cutAt: (textToCutAt) => set({ textToCutAt }),
      silence: Effect.sync(() => {
        for (const pair of pairs) pair.isSilent = true
      }),
      setRefusing: (isRefusing) => set({ isRefusing }),
      switchTo: (to) => Effect.zipRight(set({ to }), cut),
      divertTo: (to) => set({ to }),
      sent: Effect.sync(() => Buffer.concat(sent).toString("latin1")),
      recorded: Effect.sync(() => Buffer.concat(record).toString("latin1"))
    }
  })
