/** The requests and responses that `send` and a client exchange. */
import type * as HttpBody from "@effect/platform/HttpBody"
import type { HttpMethod } from "@effect/platform/HttpMethod"

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
