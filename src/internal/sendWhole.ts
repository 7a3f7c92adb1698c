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

export interface WholeAnswer {
  readonly status: number
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  /** Empty where `isWhole` is false: the body was larger than the status allows, and the rest of it was not read. */
  readonly body: Uint8Array
  readonly isWhole: boolean
}

export interface Broken {
  readonly cause: unknown
  /** Of the answer, where its head was there. */
  readonly status?: number
}

export interface Receiver {
  /**
   * Asked when a connection takes the request up, where it costs the connection nothing: false leaves the request unsent, and the
   * receiver hears no more of it.
   */
  readonly departs: () => boolean
  readonly maxBytesOf: (status: number) => number
  readonly onAnswer: (answer: WholeAnswer) => void
  readonly onBroken: (broken: Broken) => void
}

export interface Sent {
  /** Aborts the request, and the receiver hears no more of it. */
  readonly abandon: () => void
}

/** Sends a request whose body is no Stream, and calls the receiver once, unless it is abandoned before. */
export type SendWhole = (request: Request, receiver: Receiver) => Sent

/** A client that has this can bring a whole body in one step: no response object, stream or span stands between. */
export const SendWhole: unique symbol = Symbol.for("effect-nutrition-advisor/SendWhole")

export const sendWholeOf = (client: HttpClient.HttpClient): SendWhole | undefined =>
  Predicate.hasProperty(client, SendWhole) ? client[SendWhole] as SendWhole : undefined
