/** JSON-RPC as MCP clients write it; the one of @effect/rpc loses ids that are texts, and stops at a line that is no JSON. */
import * as McpSchema from "@effect/ai/McpSchema"
import type * as RpcMessage from "@effect/rpc/RpcMessage"
import { hasProperty } from "effect/Predicate"

const longestId = 256

/** What a message that is no request is taken for; no method has such a name. */
const notJson = "not JSON"

const notRequest = "not a request"

export const field = (value: unknown, key: string): unknown => hasProperty(value, key) ? value[key] : undefined

/** The id of an MCP request is a number or a text, that of @effect/rpc a whole number: it holds the other one's JSON. */
const numbered = (id: unknown): string => String(BigInt(`0x${Buffer.from(JSON.stringify(id)).toString("hex")}`))

const idOf = (number: string): unknown => JSON.parse(Buffer.from(BigInt(number).toString(16), "hex").toString())

const isId = (id: unknown): boolean => typeof id === "number" || (typeof id === "string" && id.length <= longestId)

const request = (id: string, tag: string, payload?: unknown): RpcMessage.RequestEncoded => ({
  _tag: "Request",
  id,
  tag,
  payload,
  headers: []
})

const unreadable = (tag: typeof notJson | typeof notRequest) => [request(numbered(null), tag)]

const notification = (method: string, params: unknown): ReadonlyArray<RpcMessage.RequestEncoded> => {
  if (method !== "notifications/cancelled") {
    return McpSchema.ClientNotificationRpcs.requests.has(method) ? [request("", method, params)] : []
  }
  const requestId = field(params, "requestId")
  return isId(requestId) ? [request("", method, { requestId: numbered(requestId) })] : []
}

const requestsOf = (message: unknown): ReadonlyArray<RpcMessage.RequestEncoded> => {
  const id = field(message, "id")
  const method = field(message, "method")
  if (typeof method !== "string") {
    return hasProperty(message, "result") || hasProperty(message, "error") ? [] : unreadable(notRequest)
  }
  if (id === undefined) return notification(method, field(message, "params"))
  return isId(id) ? [request(numbered(id), method, field(message, "params"))] : unreadable(notRequest)
}

/** The requests and notifications in a text; those that the server need not know of are left out. */
export const decode = (text: string): ReadonlyArray<RpcMessage.RequestEncoded> => {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed.flatMap(requestsOf) : requestsOf(parsed)
  } catch {
    return unreadable(notJson)
  }
}

const error = (requestId: string, code: number, message: string): RpcMessage.ResponseExitEncoded => ({
  _tag: "Exit",
  requestId,
  exit: { _tag: "Failure", cause: { _tag: "Fail", error: { code, message } } }
})

/** The answer to a request that no method takes: @effect/rpc answers it without its id. */
export const unanswerable = ({ id, tag }: RpcMessage.RequestEncoded): RpcMessage.ResponseExitEncoded | undefined =>
  tag === notJson
    ? error(id, -32700, "The message is not JSON.")
    : tag === notRequest
    ? error(id, -32600, "The message is no JSON-RPC request.")
    : id === "" || McpSchema.ClientRpcs.requests.has(tag)
    ? undefined
    : error(id, -32601, "The server has no such method.")

type Cause = Extract<RpcMessage.ResponseExitEncoded["exit"], { readonly _tag: "Failure" }>["cause"]

const isCancelled = (cause: Cause): boolean =>
  cause._tag === "Interrupt" || cause._tag === "Empty" ||
  ((cause._tag === "Parallel" || cause._tag === "Sequential") && isCancelled(cause.left) && isCancelled(cause.right))

/** Only what the protocol says of a failure: its cause may hold what a user's own code says. */
const errorOf = (cause: Cause) =>
  cause._tag === "Fail"
    ? { code: field(cause.error, "code"), message: field(cause.error, "message") }
    : cause._tag === "Die" && typeof cause.defect === "string"
    ? { code: -32602, message: "The parameters do not fit the method." }
    : { code: -32603, message: "The server could not answer." }

/** The frame of an answer; none for a cancelled call, nor for what is no answer. */
export const encode = (message: RpcMessage.FromServerEncoded): ReadonlyArray<object> => {
  if (message._tag !== "Exit") return []
  const answer = { jsonrpc: "2.0", id: idOf(message.requestId) }
  if (message.exit._tag === "Success") return [{ ...answer, result: message.exit.value }]
  return isCancelled(message.exit.cause) ? [] : [{ ...answer, error: errorOf(message.exit.cause) }]
}
