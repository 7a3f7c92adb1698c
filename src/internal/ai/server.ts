/** The part of MCP that a server of one tool needs: each text of a client is answered, whatever it holds, or needs no answer. */
import * as McpSchema from "@effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { version } from "../version.js"
import * as CallLimit from "./callLimit.js"
import * as HeldAnswers from "./heldAnswers.js"
import * as JsonRpc from "./jsonRpc.js"

const searchesAtOnce = 16

/** How many calls may wait for their turn, in all. */
export const mostWaiting = 1024

const mostCallsInBatch = 256

/** Characters: the short answers of four of the largest batches have room, or of many usual ones. */
const mostShort = 8 * 1024 * 1024

/** Characters: the longest results of a whole batch have room. */
const mostHeld = 32 * 1024 * 1024

const protocolVersions = ["2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"] as const

export interface Session {
  /** Whose calls a client may cancel. */
  readonly name: string
  /** Whether its protocol is older than structured content. */
  isTextOnly: boolean
}

export const isTextOnly = (protocolVersion: string): boolean => protocolVersion < "2025-06-18"

export interface CallResult {
  readonly isError: boolean
  readonly content: ReadonlyArray<{ readonly type: "text"; readonly text: string }>
  readonly structuredContent?: unknown
}

export const failed = (text: string): CallResult => ({ isError: true, content: [{ type: "text", text }] })

export interface Tool {
  readonly listing: { readonly name: string }
  readonly call: (input: unknown) => Effect.Effect<CallResult>
}

/** Ends with the text for the client; with nothing where none is due. */
export type Answer = Effect.Effect<string | undefined>

const noAnswer: Answer = Effect.succeed(undefined)

export interface Server {
  /** Begins what a text of a client asks for. Its calls end with the scope. */
  readonly begin: (text: string, session: Session) => Effect.Effect<Answer, never, Scope.Scope>
}

/** Whether a value is what a schema decodes, without a word on why not: the reasons repeat the value, and overflow where it is deep. */
export const decoder = <A, I>(schema: Schema.Schema<A, I>, onExcessProperty: "ignore" | "error" = "ignore") => {
  const decode = Schema.decodeUnknownOption(schema, { onExcessProperty })
  return (value: unknown): Option.Option<A> => {
    try {
      return decode(value)
    } catch {
      return Option.none()
    }
  }
}

const params = {
  call: decoder(McpSchema.CallTool.payloadSchema),
  cancelled: decoder(Schema.Struct({ requestId: Schema.Union(Schema.String, Schema.Number) })),
  initialize: decoder(McpSchema.Initialize.payloadSchema),
  list: decoder(McpSchema.ListTools.payloadSchema),
  ping: decoder(McpSchema.Ping.payloadSchema)
}

const isCall = (message: JsonRpc.Message) => message._tag === "Request" && message.method === "tools/call"

const unfit = ({ id }: JsonRpc.Request) => JsonRpc.refused(id, -32602, "The parameters do not fit the method.")

const idInUse = ({ id }: JsonRpc.Request) => JsonRpc.refused(id, -32600, "A call with this id still runs.")

type Reply = JsonRpc.Refused | { readonly _tag: "Result"; readonly result: unknown }

const result = (value: unknown): Reply => ({ _tag: "Result", result: value })

/** What is known at once. */
const replyTo = (request: JsonRpc.Request, session: Session, tool: Tool, instructions: string | undefined): Reply => {
  const answer = <A>(decoded: Option.Option<A>, f: (params: A) => unknown): Reply =>
    Option.match(decoded, { onNone: () => unfit(request), onSome: (params) => result(f(params)) })
  switch (request.method) {
    case "ping":
      return answer(params.ping(request.params), () => ({}))
    case "tools/list":
      return answer(params.list(request.params), () => ({ tools: [tool.listing] }))
    case "initialize":
      return answer(params.initialize(request.params), ({ protocolVersion }) => {
        session.isTextOnly = isTextOnly(protocolVersion)
        return {
          protocolVersion: protocolVersions.find((known) => known === protocolVersion) ?? protocolVersions[0],
          capabilities: { tools: {} },
          serverInfo: { name: "effect-nutrition-advisor", version },
          instructions
        }
      })
    default:
      return JsonRpc.refused(request.id, -32601, "The server has no such method.")
  }
}

const tooMany = failed(`${mostWaiting} calls wait already, so this one was not made. Try again later.`)

const tooLargeBatch = failed(`A batch may hold ${mostCallsInBatch} calls, so this one was not made.`)

const tooLongTogether = failed("The answers of the batches that run are too long together: ask for fewer in a batch.")

const noRoom = JsonRpc.refused(null, -32603, "The answers of the batches that run are too long together.")

/** In place of an answer that finds no room, and never shorter than one for which no room is asked. */
const shortAnswer = (message: JsonRpc.Request | JsonRpc.Refused): string => {
  if (message._tag === "Refused") return JsonRpc.errorText(message)
  return isCall(message)
    ? JsonRpc.resultText(message.id, tooLongTogether)
    : JsonRpc.errorText(JsonRpc.refused(message.id, -32603, "The answers of this batch are too long together."))
}

const shortLength = (messages: ReadonlyArray<JsonRpc.Message>): number =>
  messages.reduce((sum, message) => sum + (message._tag === "Notification" ? 0 : shortAnswer(message).length), 0)

/** A refusal is logged without what was refused. A method that is unknown is no fault: clients ask for what others have. */
const refusal = (reply: JsonRpc.Refused) =>
  Effect.as(
    reply.code === -32601 ? Effect.void : Effect.logWarning(`A message was refused: ${reply.message}`),
    JsonRpc.errorText(reply)
  )

const textOf = (request: JsonRpc.Request, reply: Reply) =>
  reply._tag === "Refused" ? refusal(reply) : Effect.succeed(JsonRpc.resultText(request.id, reply.result))

const held = (text: Effect.Effect<string>, request: JsonRpc.Request, batch: HeldAnswers.Batch | undefined) =>
  batch === undefined ? text : Effect.map(text, (text) => batch.hold(text, shortAnswer(request)))

const keyOf = ({ name }: Session, id: unknown) => JSON.stringify([name, id])

/** A server whose calls end with the scope. */
export const make = (
  tool: Tool,
  instructions: string | undefined
): Effect.Effect<Server, never, Scope.Scope> =>
  Effect.gen(function*() {
    const limited = CallLimit.make(searchesAtOnce, mostWaiting)
    const running = new Map<string, Fiber.Fiber<unknown>>()
    const openBatch = HeldAnswers.make(mostShort, mostHeld)
    yield* Effect.addFinalizer(() => Fiber.interruptAll(running.values()))

    const called = (request: JsonRpc.Request, session: Session): Effect.Effect<Reply> => {
      const call = Option.getOrUndefined(params.call(request.params))
      if (call === undefined) return Effect.succeed(unfit(request))
      if (call.name !== tool.listing.name) {
        return Effect.succeed(JsonRpc.refused(request.id, -32602, "The server has no such tool."))
      }
      return Effect.map(
        limited(tool.call(call.arguments), Effect.succeed(tooMany)),
        ({ structuredContent, ...text }) => result(session.isTextOnly ? text : { ...text, structuredContent })
      )
    }

    /** A call has a fiber of its own, which the client may interrupt: then there is no answer. */
    const start = (request: JsonRpc.Request, session: Session, batch: HeldAnswers.Batch | undefined) =>
      Effect.suspend(() => {
        const key = keyOf(session, request.id)
        if (running.has(key)) return Effect.map(refusal(idInUse(request)), Effect.succeed)
        return Effect.map(
          Effect.forkScoped(
            held(Effect.flatMap(called(request, session), (reply) => textOf(request, reply)), request, batch)
          ),
          (fiber): Answer => {
            running.set(key, fiber)
            fiber.addObserver(() => running.delete(key))
            return Effect.map(Fiber.await(fiber), Exit.getOrElse(() => undefined))
          }
        )
      })

    const cancel = (given: unknown, session: Session) =>
      Option.match(params.cancelled(given), {
        onNone: () => Effect.void,
        onSome: ({ requestId }) => {
          const fiber = running.get(keyOf(session, requestId))
          return fiber === undefined ? Effect.void : Fiber.interruptFork(fiber)
        }
      })

    const begin = (
      message: JsonRpc.Message,
      session: Session,
      batch: HeldAnswers.Batch | undefined
    ): Effect.Effect<Answer, never, Scope.Scope> => {
      switch (message._tag) {
        case "Refused":
          return Effect.map(refusal(message), Effect.succeed)
        case "Notification":
          return Effect.as(
            message.method === "notifications/cancelled" ? cancel(message.params, session) : Effect.void,
            noAnswer
          )
        case "Request":
          return isCall(message)
            ? start(message, session, batch)
            : Effect.map(
              held(textOf(message, replyTo(message, session, tool, instructions)), message, batch),
              Effect.succeed
            )
      }
    }

    const beginBatch = (messages: ReadonlyArray<JsonRpc.Message>, session: Session) =>
      Effect.gen(function*() {
        const batch = yield* openBatch(shortLength(messages))
        if (batch === undefined) return yield* begin(noRoom, session, undefined)
        const tooManyCalls = new Set(messages.filter(isCall).slice(mostCallsInBatch))
        const answers = yield* Effect.forEach(messages, (message) =>
          message._tag === "Request" && tooManyCalls.has(message)
            ? Effect.succeed(Effect.succeed(JsonRpc.resultText(message.id, tooLargeBatch)))
            : begin(message, session, batch))
        const answer = Effect.map(Effect.all(answers), (texts) => {
          const due = texts.filter((text) => text !== undefined)
          return due.length === 0 ? undefined : `[${due.join(",")}]`
        })
        return Effect.ensuring(answer, batch.close)
      })

    return {
      begin: (text, session) =>
        Effect.suspend(() => {
          const { isBatch, messages } = JsonRpc.decode(text)
          if (isBatch) return beginBatch(messages, session)
          const [message] = messages
          return message === undefined ? Effect.succeed(noAnswer) : begin(message, session, undefined)
        })
    }
  })
