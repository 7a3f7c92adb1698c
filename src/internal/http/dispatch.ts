/** What `send` passes to a client, and what it receives. */
import type * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type * as Effect from "effect/Effect"

/** A body that every client can send. */
export type Sendable = Exclude<HttpBody.HttpBody, HttpBody.FormData>

/** A request, with its URL split into origin and path. The path starts with a slash, and includes the query string. */
export interface OutgoingRequest {
  readonly method: HttpMethod
  readonly origin: string
  readonly path: string
  /** Every client also sends the content type of the body, unless there is a `content-type` here. The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Sendable
}

export interface BufferedRequest extends OutgoingRequest {
  readonly body: Exclude<Sendable, HttpBody.Stream>
}

export const isBuffered = (request: OutgoingRequest): request is BufferedRequest => request.body._tag !== "Stream"

/** A body in memory. If it exceeds the limit, `body` is only its beginning, and `isWhole` is false. */
export interface BufferedBody {
  readonly body: Uint8Array
  readonly isWhole: boolean
}

export const emptyBody: BufferedBody = { body: new Uint8Array(), isWhole: true }

/** What comes before the body of a response. */
export interface ResponseHead {
  readonly status: number
  /** The reason phrase, if the client provides it. */
  readonly statusText?: string | undefined
  /** The headers, with their names in lower case. Only `set-cookie` can have several values. */
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
}

export interface BufferedResponse extends ResponseHead, BufferedBody {}

export const isOk = (status: number): boolean => status >= 200 && status < 300

export const statusesWithoutBody: ReadonlySet<number> = new Set([204, 205, 304])

/** Receives the result of a request. Only the first result counts. */
export interface Receiver {
  /** The head of a response was received. Returns the maximum size of its body. */
  readonly onHead: (head: ResponseHead) => number
  /** The whole body was received too. If the request fails now, a wrapper of the client has failed. */
  readonly onBody: () => void
  readonly onResponse: (response: BufferedResponse) => void
  /** The request failed. The code of `cause` is used, or the response that the client has replaced with this error. */
  readonly onFailure: (cause: unknown) => void
  readonly onBodyFailure: () => void
}

/** Aborts the request immediately. The effect only waits until the client has released it. A client may ignore its signal. */
export type Abort = () => Effect.Effect<unknown>

/** Sends a request. After it is aborted, the receiver ignores its result. */
export type Dispatch<Req extends OutgoingRequest = OutgoingRequest> = (request: Req, receiver: Receiver) => Abort

/** This isn't a property of the client: a copy of the client would have it too, and the copy's own `execute` would be bypassed. */
const dispatches = new WeakMap<HttpClient.HttpClient, Dispatch<BufferedRequest>>()

/** Registers a function that delivers a whole response in one step. It applies to this client, but not to clients derived from it. */
export const withDispatch = (
  client: HttpClient.HttpClient,
  dispatch: Dispatch<BufferedRequest>
): HttpClient.HttpClient => {
  dispatches.set(client, dispatch)
  return client
}

export const dispatchOf = (client: HttpClient.HttpClient): Dispatch<BufferedRequest> | undefined =>
  dispatches.get(client)
