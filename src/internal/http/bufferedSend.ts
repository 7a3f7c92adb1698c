import type * as Cookies from "@effect/platform/Cookies"
import type * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Predicate from "effect/Predicate"

/** Its address in the two parts that a connection needs; the path begins with a slash and holds the query. */
export interface Request {
  readonly method: HttpMethod
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: HttpBody.HttpBody
}

export interface BufferedResponse {
  readonly status: number
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  /** Where the client has read them; else they are in the headers. */
  readonly cookies?: Cookies.Cookies | undefined
  /** The beginning of it where `isWhole` is false: the body was larger than the status allows, and the rest was not read. */
  readonly body: Uint8Array
  readonly isWhole: boolean
}

export interface SendFailure {
  readonly cause: unknown
  /** Of the answer, where its head was there. */
  readonly status?: number
}

export interface Receiver {
  /**
   * Asked when a connection takes the request up, where it costs the connection nothing: false leaves the request unsent, and the
   * receiver hears no more of it.
   */
  readonly beforeSend: () => boolean
  readonly maxBytesOf: (status: number) => number
  readonly onResponse: (response: BufferedResponse) => void
  readonly onError: (failure: SendFailure) => void
}

export interface Sent {
  /** Aborts the request, and the receiver hears no more of it. */
  readonly cancel: () => void
}

/** Sends a request whose body is no Stream, and calls the receiver once, unless it is canceled before. */
export type BufferedSend = (request: Request, receiver: Receiver) => Sent

/** A client that has this can bring a whole body in one step: no response object, stream or span stands between. */
const BufferedSend: unique symbol = Symbol.for("effect-nutrition-advisor/BufferedSend")

/** What a copy of the client takes along names the client that it was made for. */
interface Owned {
  readonly owner: HttpClient.HttpClient
  readonly execute: HttpClient.HttpClient["execute"]
  readonly sendBuffered: BufferedSend
}

export const withBufferedSend = (owner: HttpClient.HttpClient, sendBuffered: BufferedSend): HttpClient.HttpClient =>
  Object.assign(owner, { [BufferedSend]: { owner, execute: owner.execute, sendBuffered } satisfies Owned })

/** None for a client that was made from another one, or got an `execute` of its own later: a buffered send would go around it. */
export const bufferedSendOf = (client: HttpClient.HttpClient): BufferedSend | undefined => {
  if (!Predicate.hasProperty(client, BufferedSend)) return undefined
  const { execute, owner, sendBuffered } = client[BufferedSend] as Owned
  return owner === client && execute === client.execute ? sendBuffered : undefined
}
