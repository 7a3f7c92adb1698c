/** JSON-RPC 2.0 as MCP clients write it. Nothing in a text makes reading it fail. */
import { hasProperty } from "effect/Predicate"

export type Id = string | number

export interface Request {
  readonly _tag: "Request"
  readonly id: Id
  readonly method: string
  readonly params: unknown
}

/** What is answered with an error: its id is null where it can't be told. */
export interface Refused {
  readonly _tag: "Refused"
  readonly id: Id | null
  readonly code: number
  readonly message: string
}

export type Message = Request | Refused | {
  readonly _tag: "Notification"
  readonly method: string
  readonly params: unknown
}

export const refused = (id: Id | null, code: number, message: string): Refused => ({
  _tag: "Refused",
  id,
  code,
  message
})

export const field = (value: unknown, key: string): unknown => hasProperty(value, key) ? value[key] : undefined

const longestId = 256

export const isId = (id: unknown): id is Id =>
  typeof id === "number" ? Number.isFinite(id) : typeof id === "string" && id.length <= longestId

/** Nothing for an answer of the client: this server asks it nothing. */
const messagesOf = (value: unknown): ReadonlyArray<Message> => {
  const id = field(value, "id")
  const method = field(value, "method")
  if (method === undefined && (hasProperty(value, "result") || hasProperty(value, "error"))) return []
  const isRequest = id === undefined || isId(id)
  if (field(value, "jsonrpc") !== "2.0" || typeof method !== "string" || !isRequest) {
    return [refused(isId(id) ? id : null, -32600, "The message is no JSON-RPC request.")]
  }
  const params = field(value, "params")
  return [id === undefined ? { _tag: "Notification", method, params } : { _tag: "Request", id, method, params }]
}

const mostInBatch = 1024

const tooLarge = refused(null, -32600, `A batch may hold ${mostInBatch} messages, so this one was not read.`)

export interface Decoded {
  readonly isBatch: boolean
  readonly messages: ReadonlyArray<Message>
}

const alone = (messages: ReadonlyArray<Message>): Decoded => ({ isBatch: false, messages })

/** The messages in a text, and whether they came as a batch. */
export const decode = (text: string): Decoded => {
  try {
    const parsed: unknown = JSON.parse(text)
    if (!Array.isArray(parsed) || parsed.length === 0) return alone(messagesOf(parsed))
    return parsed.length > mostInBatch ? alone([tooLarge]) : { isBatch: true, messages: parsed.flatMap(messagesOf) }
  } catch {
    return alone([refused(null, -32700, "The message is not JSON.")])
  }
}

export const errorText = ({ code, id, message }: Refused): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })

/** A result of our own may be nested too deep to be written. */
export const resultText = (id: Id, result: unknown): string => {
  try {
    return JSON.stringify({ jsonrpc: "2.0", id, result })
  } catch {
    return errorText(refused(id, -32603, "The answer can't be written as JSON."))
  }
}
