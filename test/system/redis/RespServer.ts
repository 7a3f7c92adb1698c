/** A server that speaks enough of Redis' protocol to be connected to, and answers scripts and subscriptions as a test wants. */
import { once } from "node:events"
import { createServer, type Socket } from "node:net"
import { Effect, Redacted, type Scope } from "effect"

/** Bytes to send, and whether the connection is cut after them. */
export interface Answer {
  readonly bytes: string | Buffer
  readonly cuts: boolean
}

export const says = (bytes: string | Buffer): Answer => ({ bytes, cuts: false })

export const silence: Answer = says("")

export const cutAfter = (bytes: string | Buffer): Answer => ({ bytes, cuts: true })

export interface RespServer {
  readonly url: Redacted.Redacted<string>
  /** How every command is answered from now on; those of the beginning of a connection too where this says so. */
  readonly answer: (
    answer: (command: ReadonlyArray<string>) => Answer,
    options?: { readonly isAtOnce: boolean }
  ) => Effect.Effect<void>
}

/** The commands at the beginning of what came, and what is left. */
const commandsIn = (text: string): readonly [ReadonlyArray<ReadonlyArray<string>>, string] => {
  const commands: Array<ReadonlyArray<string>> = []
  let rest = text
  for (;;) {
    const head = /^\*(\d+)\r\n/.exec(rest)
    if (head === null) return [commands, rest]
    let at = head[0].length
    const words: Array<string> = []
    while (words.length < Number(head[1])) {
      const size = /^\$(\d+)\r\n/.exec(rest.slice(at, at + 16))
      if (size === null) return [commands, rest]
      const start = at + size[0].length
      const end = start + Number(size[1])
      if (rest.length < end + 2) return [commands, rest]
      words.push(rest.slice(start, end))
      at = end + 2
    }
    commands.push(words)
    rest = rest.slice(at)
  }
}

const info = "# Server\r\nredis_version:7.0.0\r\nloading:0\r\n"

const usual = (name: string): string => name === "info" ? `$${info.length}\r\n${info}\r\n` : "+OK\r\n"

export const make: Effect.Effect<RespServer, never, Scope.Scope> = Effect.gen(function*() {
  const sockets = new Set<Socket>()
  let answer: (command: ReadonlyArray<string>) => Answer = () => silence
  let isHostileAtOnce = false

  const send = (socket: Socket, { bytes, cuts }: Answer) => {
    if (cuts) socket.end(bytes)
    else socket.write(bytes)
  }

  const onCommand = (socket: Socket, command: ReadonlyArray<string>) => {
    const name = (command[0] ?? "").toLowerCase()
    const isBeginning = ["info", "client", "select"].includes(name)
    send(socket, isBeginning && !isHostileAtOnce ? says(usual(name)) : answer(command))
  }

  const listener = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const listener = createServer((socket) => {
        let pending = ""
        sockets.add(socket)
        socket.on("error", () => {}).on("close", () => sockets.delete(socket)).on("data", (bytes) => {
          const [commands, rest] = commandsIn(pending + bytes.toString("latin1"))
          pending = rest
          for (const command of commands) onCommand(socket, command)
        })
      }).listen(0, "127.0.0.1")
      await once(listener, "listening")
      return listener
    }),
    (listener) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        listener.close()
      })
  )
  const address = listener.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: Redacted.make(`redis://127.0.0.1:${port}`),
    answer: (next, { isAtOnce } = { isAtOnce: false }) =>
      Effect.sync(() => {
        answer = next
        isHostileAtOnce = isAtOnce
      })
  }
})
