import type * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type * as Effect from "effect/Effect"
import type { ReadResponse } from "./serviceResponse.js"

/** A request whose URL is split as a connection needs it. The path starts with a slash, and includes the query or the license key. */
export interface Request {
  readonly method: HttpMethod
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: HttpBody.HttpBody
}

/** A request whose body is not a stream. */
export interface BufferedRequest extends Request {
  readonly body: Exclude<HttpBody.HttpBody, HttpBody.Stream>
}

export const isBuffered = (request: Request): request is BufferedRequest => request.body._tag !== "Stream"

/** A response as it was read. If the body exceeds the limit, only its beginning is there and `isWhole` is false. */
export interface Received extends ReadResponse {
  readonly isWhole: boolean
}

/** Receives the result of a request; only the first result counts. Of a client's error, only the code is used. */
export interface Receiver {
  readonly maxBytesOf: (status: number) => number
  readonly onResponse: (received: Received) => void
  /** The request failed. `status` is set if the head of a response was received. */
  readonly onFailure: (cause: unknown, status?: number) => void
  /** The stream of the request body failed. */
  readonly onBodyFailure: () => void
}

/** Aborts the request. The effect ends when the client has released it. A client that ignores its signal does so late or never. */
export type Abort = () => Effect.Effect<unknown>

/** Sends a request. After it is aborted, the receiver ignores its result. */
export type Dispatch<Req extends Request = Request> = (request: Req, receiver: Receiver) => Abort

const dispatches = new WeakMap<HttpClient.HttpClient, Dispatch<BufferedRequest>>()

/** Registers a function that returns a whole response in one step. It applies to this client, and not to clients derived from it. */
export const withDispatch = (
  client: HttpClient.HttpClient,
  dispatch: Dispatch<BufferedRequest>
): HttpClient.HttpClient => {
  dispatches.set(client, dispatch)
  return client
}

export const dispatchOf = (client: HttpClient.HttpClient): Dispatch<BufferedRequest> | undefined =>
  dispatches.get(client)
