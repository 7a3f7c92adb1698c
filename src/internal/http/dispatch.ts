/** How `send` gets a response from a client. */
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Effect from "effect/Effect"
import type { BufferedRequest, BufferedResponse, OutgoingRequest, ResponseHead } from "./messages.js"

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
