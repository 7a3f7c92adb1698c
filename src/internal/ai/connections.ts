import type * as RpcMessage from "@effect/rpc/RpcMessage"
import * as RpcSerialization from "@effect/rpc/RpcSerialization"
import * as RpcServer from "@effect/rpc/RpcServer"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import { hasProperty } from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as JsonRpc from "./jsonRpc.js"

export interface Connection {
  /** Whose calls a client may cancel: over HTTP each message is a connection of its own. */
  readonly session: string
  /** Whether its protocol is older than structured content. */
  readonly isTextOnly: boolean
  readonly running: Set<string>
}

/** By client, as @effect/rpc numbers them. */
export type Connections = Map<number, Connection>

const withStructure = "2025-06-18"

const connectionOf = (
  known: Connection | undefined,
  { headers, payload, tag }: RpcMessage.RequestEncoded
): Connection => {
  const header = new Map(headers)
  const version = tag === "initialize" ? JsonRpc.field(payload, "protocolVersion") : header.get("mcp-protocol-version")
  return {
    session: headers.length === 0 ? "" : header.get("mcp-session-id") ?? globalThis.crypto.randomUUID(),
    isTextOnly: version === undefined ? known?.isTextOnly ?? headers.length > 0 : String(version) < withStructure,
    running: known?.running ?? new Set()
  }
}

const asText = (message: RpcMessage.FromServerEncoded): RpcMessage.FromServerEncoded =>
  message._tag === "Exit" && message.exit._tag === "Success" && hasProperty(message.exit.value, "structuredContent")
    ? { ...message, exit: { ...message.exit, value: { ...message.exit.value, structuredContent: undefined } } }
    : message

const isRunning = (connections: Connections) => [...connections.values()].some(({ running }) => running.size > 0)

/** The protocol with knowledge of what runs on which connection, so that a call can be cancelled from another one. */
export const track = (
  connections: Connections,
  protocol: RpcServer.Protocol["Type"],
  /** Those that @effect/ai would notify; over HTTP it never forgets them. */
  initialized: Set<number>
) =>
  Effect.gen(function*() {
    const disconnects = yield* Mailbox.make<number>()
    yield* protocol.disconnects.take.pipe(
      Effect.tap((client) => Effect.sync(() => connections.delete(client) && initialized.delete(client))),
      Effect.flatMap((client) => disconnects.offer(client)),
      Effect.forever,
      Effect.forkScoped
    )

    const send: typeof protocol.send = (client, message) => {
      const connection = connections.get(client)
      return Effect.ensuring(
        protocol.send(client, connection?.isTextOnly === true ? asText(message) : message),
        Effect.sync(() => message._tag === "Exit" && connection?.running.delete(message.requestId))
      )
    }

    const clientOf = (session: string, requestId: unknown) =>
      [...connections].find(([, other]) => other.session === session && other.running.has(String(requestId)))?.[0]

    /** @effect/rpc takes nothing more for a message over HTTP once it has read it: so its whole connection ends. */
    const disconnect = (client: number) =>
      connections.get(client)?.running.size === 1
        ? Effect.zipRight(disconnects.offer(client), protocol.end(client))
        : Effect.void

    const run: typeof protocol.run = (receive) =>
      protocol.run((client, message) => {
        if (message._tag !== "Request") return receive(client, message)
        const connection = connectionOf(connections.get(client), message)
        connections.set(client, connection)
        if (message.tag === "notifications/cancelled") {
          const target = clientOf(connection.session, JsonRpc.field(message.payload, "requestId"))
          if (target === undefined) return Effect.void
          return target === client ? receive(client, message) : disconnect(target)
        }
        const answer = JsonRpc.unanswerable(message)
        if (answer !== undefined) return protocol.send(client, answer)
        if (message.id !== "") connection.running.add(message.id)
        return receive(client, message)
      })

    return RpcServer.Protocol.of({ ...protocol, disconnects, run, send })
  })

const standardInput = Stream.asyncPush<Uint8Array>((emit) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      process.stdin.on("data", (chunk) => emit.single(chunk)).on("end", () => emit.end()).on("error", () => emit.end())
    ),
    (stdin) => Effect.sync(() => stdin.destroy())
  ), { bufferSize: "unbounded" })

const write = (text: string) =>
  Effect.async((resume: (written: Effect.Effect<void>) => void) => {
    process.stdout.write(text, () => resume(Effect.void))
  })

/** What was asked before standard input ended has so many milliseconds to be answered. */
const lastAnswers = 1_000

/** A message a line; ends `onEnd` when standard input ends, or nobody reads standard output any more. */
export const makeStdio = (connections: Connections, onEnd: Effect.Effect<void>) =>
  RpcServer.Protocol.make((receive) =>
    Effect.gen(function*() {
      const answered = Effect.sync(() => isRunning(connections)).pipe(
        Effect.delay(10),
        Effect.repeat({ while: (running) => running }),
        Effect.timeoutOption(lastAnswers)
      )
      yield* Effect.acquireRelease(
        Effect.sync(() => process.stdout.on("error", () => {})),
        (stdout) => Effect.sync(() => stdout.removeAllListeners("error"))
      )
      yield* standardInput.pipe(
        Stream.decodeText(),
        Stream.splitLines,
        Stream.filter((line) => line.trim() !== ""),
        Stream.mapConcat(JsonRpc.decode),
        Stream.runForEach((message) => receive(0, message)),
        Effect.zipRight(answered),
        Effect.ensuring(onEnd),
        Effect.forkScoped
      )
      return {
        clientIds: Effect.succeed(new Set([0])),
        disconnects: yield* Mailbox.make<number>(),
        end: () => Effect.void,
        initialMessage: Effect.succeedNone,
        send: (_, message) =>
          Effect.forEach(JsonRpc.encode(message), (frame) => write(`${JSON.stringify(frame)}\n`), { discard: true }),
        supportsAck: false,
        supportsSpanPropagation: false,
        supportsTransferables: false
      }
    })
  )

const unframed = RpcSerialization.RpcSerialization.of({
  contentType: "application/json",
  includesFraming: false,
  unsafeMake: () => {
    let isBatch = false
    return {
      decode: (body) => {
        const text = typeof body === "string" ? body : new TextDecoder().decode(body)
        isBatch = text.trimStart().startsWith("[")
        return JsonRpc.decode(text)
      },
      encode: (responses) => {
        const frames = (Array.isArray(responses) ? responses : [responses]).flatMap(JsonRpc.encode)
        return frames.length === 0 ? "" : JSON.stringify(isBatch ? frames : frames[0])
      }
    }
  }
})

/** A message, or an array of them, a request. */
export const makeHttp = Effect.provideService(
  RpcServer.makeProtocolWithHttpApp,
  RpcSerialization.RpcSerialization,
  unframed
)
