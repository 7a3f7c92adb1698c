import type * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type * as Effect from "effect/Effect"
import type { Answer } from "./answer.js"

/** Its address in the two parts that a connection needs; the path begins with a slash and holds the query, or the license key. */
export interface Request {
  readonly method: HttpMethod
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: HttpBody.HttpBody
}

/** A request whose body is there as a whole. */
export interface BufferedRequest extends Request {
  readonly body: Exclude<HttpBody.HttpBody, HttpBody.Stream>
}

export const isBuffered = (request: Request): request is BufferedRequest => request.body._tag !== "Stream"

/** An answer as it was read: only the beginning of its body where it is larger than it may be. */
export interface Received extends Omit<Answer, "kind"> {
  readonly isWhole: boolean
}

/** Hears once how a request ended. Nothing but its codes is ever looked at of what a client failed with. */
export interface Receiver {
  readonly maxBytesOf: (status: number) => number
  readonly onAnswer: (received: Received) => void
  /** `status` is there where the head of an answer was. */
  readonly onFailure: (cause: unknown, status?: number) => void
  /** The stream of the request's own body failed. */
  readonly onBodyFailure: () => void
}

/** Aborts the request. The effect ends once the client has let go of it, which one that ignores its signal does late or never. */
export type Abort = () => Effect.Effect<unknown>

/** Sends a request. Once it is aborted, the receiver hears no more of it. */
export type Dispatch<Req extends Request = Request> = (request: Req, receiver: Receiver) => Abort

const dispatches = new WeakMap<HttpClient.HttpClient, Dispatch<BufferedRequest>>()

/** This very client can bring a whole body in one step; one that is made from it can't. */
export const withDispatch = (
  client: HttpClient.HttpClient,
  dispatch: Dispatch<BufferedRequest>
): HttpClient.HttpClient => {
  dispatches.set(client, dispatch)
  return client
}

export const dispatchOf = (client: HttpClient.HttpClient): Dispatch<BufferedRequest> | undefined =>
  dispatches.get(client)
