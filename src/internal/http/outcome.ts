import * as Effect from "effect/Effect"
import { type Operation, TransportError, UnexpectedResponse } from "../../NutritionAdvisorError.js"
import { codeOf, reasonOf } from "../transportError.js"
import type { BufferedResponse, SendFailure } from "./bufferedSend.js"
import { isOk, type ResponseData } from "./response.js"
import { responseIn } from "./responseInError.js"
import type * as TimeoutQueue from "./timeoutQueue.js"

/** Asked when a connection takes a waiting request from the queue: it is sent only while this holds. */
export interface SendGuard<A> {
  readonly holds: () => boolean
  readonly otherwise: Effect.Effect<A>
}

/** What holds for every request of one kind. */
export interface SendOptions<A = never> {
  readonly operation: Operation
  /** Of the body of a 2xx answer; that of another one is cut at 64 KiB. */
  readonly maxBytes: number
  /** Where there is none, whoever calls bounds the time. */
  readonly timeout?: TimeoutQueue.TimeoutQueue
  /** Not every client can ask it. */
  readonly guard?: SendGuard<A> | undefined
}

export type Outcome<A = never> = Effect.Effect<ResponseData | A, TransportError | UnexpectedResponse>

const maxErrorBytes = 64 * 1024

export const maxBytesOf = ({ maxBytes }: SendOptions<unknown>, status: number): number =>
  isOk(status) ? maxBytes : maxErrorBytes

export const unanswered = ({ operation }: SendOptions<unknown>, reason: TimeoutQueue.Reason): Outcome =>
  Effect.fail(new TransportError({ operation, reason }))

const tooLarge = ({ operation }: SendOptions<unknown>, status: number) =>
  new UnexpectedResponse({ operation, status, reason: "TooLarge" })

/** An answer came. One that is not 2xx may have been cut: an error keeps the beginning of it. */
export const received = (response: BufferedResponse, options: SendOptions<unknown>): Outcome =>
  response.isWhole || !isOk(response.status)
    ? Effect.succeed(response)
    : Effect.fail(tooLarge(options, response.status))

/** A foreign error may be a proxy or have getters that throw: then it tells nothing. */
export const attempt = <A>(outcome: () => Outcome<A>, { operation }: SendOptions<unknown>): Outcome<A> =>
  Effect.catchAllDefect(
    Effect.suspend(outcome),
    () => Effect.fail(new TransportError({ operation, reason: "Connection" }))
  )

/** The request ended in an error, which may hold an answer. A client may have a limit of its own, below ours. */
export const failed = (failure: SendFailure, options: SendOptions<unknown>): Outcome => {
  const { cause, status } = failure
  const response = responseIn(cause, (status) => maxBytesOf(options, status))
  if (response !== undefined) return received(response, options)
  const code = codeOf(cause)
  return Effect.fail(
    code === "UND_ERR_RES_EXCEEDED_MAX_SIZE" && status !== undefined
      ? tooLarge(options, status)
      : new TransportError({
        operation: options.operation,
        reason: reasonOf(code, status),
        ...(code === undefined ? {} : { code })
      })
  )
}
