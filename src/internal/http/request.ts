import type * as HttpBody from "@effect/platform/HttpBody"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type { Operation } from "../../NutritionAdvisorError.js"
import { isOk } from "./response.js"
import type * as TimeoutQueue from "./timeoutQueue.js"

/** Its address in the two parts that a connection needs; the path begins with a slash and holds the query. */
export interface Request {
  readonly method: HttpMethod
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: HttpBody.HttpBody
  /** Asked when a connection takes up a request that waited for one: if not, it ends unsent. Other clients do not ask. */
  readonly mayStart?: (() => boolean) | undefined
}

/** One whose body is there as a whole. */
export interface WholeRequest extends Request {
  readonly body: Exclude<HttpBody.HttpBody, HttpBody.Stream>
}

export const isWhole = (request: Request): request is WholeRequest => request.body._tag !== "Stream"

/** What holds for every request of one kind. */
export interface SendOptions {
  readonly operation: Operation
  /** Of the body of a 2xx answer; that of another one is cut at 64 KiB. */
  readonly maxBytes: number
  /** Where there is none, whoever calls bounds the time. */
  readonly timeout?: TimeoutQueue.TimeoutQueue
}

const maxErrorBytes = 64 * 1024

export const maxBytesOf = ({ maxBytes }: SendOptions, status: number): number => isOk(status) ? maxBytes : maxErrorBytes
