import * as Effect from "effect/Effect"
import { TransportError, UnexpectedResponse } from "../../NutritionAdvisorError.js"
import { codeOf, reasonOf } from "../transportError.js"
import { maxBytesOf, type SendOptions } from "./request.js"
import { isOk, type Received, type Response } from "./response.js"
import { responseIn } from "./responseInError.js"
import type * as TimeoutQueue from "./timeoutQueue.js"

/** A request that is sent, or how it ended. */
export type Sending = Effect.Effect<Response, TransportError | UnexpectedResponse>

export interface SendFailure {
  readonly cause: unknown
  /** Of the answer, where its head was there. */
  readonly status?: number
}

export const unanswered = ({ operation }: SendOptions, reason: TimeoutQueue.Reason): Sending =>
  Effect.fail(new TransportError({ operation, reason }))

const tooLarge = ({ operation }: SendOptions, status: number) =>
  new UnexpectedResponse({ operation, status, reason: "TooLarge" })

/** An answer came. One that is not 2xx may have been cut: an error keeps the beginning of it. */
export const received = (response: Received, options: SendOptions): Sending =>
  response.isWhole || !isOk(response.status)
    ? Effect.succeed(response)
    : Effect.fail(tooLarge(options, response.status))

/** A foreign error may be a proxy or have getters that throw: then it tells nothing. */
export const attempt = (ending: () => Sending, { operation }: SendOptions): Sending =>
  Effect.catchAllDefect(
    Effect.suspend(ending),
    () => Effect.fail(new TransportError({ operation, reason: "Connection" }))
  )

/** The request ended in an error, which may hold an answer. A client may have a limit of its own, below ours. */
export const failed = ({ cause, status }: SendFailure, options: SendOptions): Sending => {
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
