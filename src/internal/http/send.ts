/** The boundary to HttpClient. Whatever error the client fails with, the errors that leave this file contain no part of the request. */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import { BadRequest, type Operation, TransportError, UnexpectedResponse } from "../../NutritionAdvisorError.js"
import { reasonOf } from "../errors/transportCodes.js"
import { closedError, timeoutError } from "../errors/transportErrors.js"
import { type Abort, dispatchOf, type Receiver } from "./dispatch.js"
import {
  type BufferedBody,
  type BufferedResponse,
  emptyBody,
  isBuffered,
  type OutgoingRequest,
  type ResponseHead
} from "./messages.js"
import { codeIn, responseIn } from "./platform/clientError.js"
import { dispatchThrough } from "./platform/dispatchThrough.js"
import { fieldsWithoutBody, type ServiceResponse } from "./serviceResponse.js"
import { isOk, statusesWithoutBody } from "./status.js"
import { Timed, type Timeouts } from "./timeouts.js"

type SendError = BadRequest | TransportError | UnexpectedResponse

/** Limits on what is read from a response, and on which of its headers are shown. */
export interface ResponseLimits {
  /** The maximum size of the body of a 2xx response, in bytes. For any other response, the first 64 KiB are read. */
  readonly maxBytes: number
  /** The response headers that errors and spans may show. */
  readonly observeHeaders: ReadonlyArray<string>
}

/** What a caller shares with `send` during one call. */
export interface SendContext {
  readonly operation: Operation
  /**
   * Set by `send`, so that its caller can cancel the request. The canceler of `Effect.async` would be lost if an interruption came right
   * after the start.
   */
  pending: { readonly cancel: Abort } | undefined
}

/** The response or the error of a request, as an Effect. */
type SendResult = Effect.Effect<ServiceResponse, SendError>

/** Sends a request and reads the whole response in bounded memory. */
export type Send = (request: OutgoingRequest, context: SendContext) => SendResult

/** Errors keep only 4 KiB. More is read, because the connection can be reused only after the body has been read to its end. */
const maxErrorBytes = 64 * 1024

const sendErrorOf = (cause: unknown, status: number | undefined, operation: Operation): SendError => {
  const code = codeIn(cause)
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE" && status !== undefined) {
    return new UnexpectedResponse({ operation, status, reason: "TooLarge" })
  }
  const reason = reasonOf(code ?? "", status !== undefined)
  return new TransportError({ operation, reason, ...code !== undefined && { code } })
}

/** A request that has no result yet. Once it has one, it drops its callbacks, because they would keep the request in memory. */
class PendingRequest extends Timed implements Receiver {
  private resume: ((result: SendResult) => void) | undefined
  private abort: Abort | undefined
  private head: ResponseHead | undefined

  constructor(
    private readonly operation: Operation,
    private readonly limits: ResponseLimits,
    private readonly timeouts: Timeouts | undefined
  ) {
    super()
  }

  /** Sends the request, unless the scope is closed. Returns whether it was sent. */
  begin(dispatch: (receiver: Receiver) => Abort, resume: (result: SendResult) => void): boolean {
    this.resume = resume
    this.timeouts?.add(this)
    // `add` ends the request at once if the client is closed, and `dispatch` may end it before it returns.
    if (this.resume === undefined) return false
    const abort = dispatch(this)
    if (this.resume !== undefined) this.abort = abort
    return true
  }

  onHead(head: ResponseHead) {
    this.head = head
    return isOk(head.status) ? this.limits.maxBytes : maxErrorBytes
  }

  onBody() {
    this.head = undefined
  }

  onResponse(response: BufferedResponse) {
    this.settle(this.resultOf(response, response))
  }

  onFailure(cause: unknown) {
    const response = responseIn(cause)
    if (response !== undefined) return this.onResponse(response)
    this.settle(this.resultWithoutBody ?? sendErrorOf(cause, this.head?.status, this.operation))
  }

  onBodyFailure() {
    const { operation } = this
    void this.abandon(new BadRequest({ operation, detail: "the stream of its body failed" }))
  }

  onEnd(reason: "Timeout" | "Closed") {
    const { operation } = this
    void this.abandon(reason === "Closed" ? closedError(operation) : this.resultWithoutBody ?? timeoutError(operation))
  }

  cancel() {
    return this.abandon(Effect.interrupt)
  }

  private resultOf({ headers, status, statusText }: ResponseHead, { body, isWhole }: BufferedBody): SendResult {
    const { limits: { observeHeaders }, operation } = this
    const response = { operation, observeHeaders, status, statusText, headers, body, isWhole }
    const isUsable = isWhole || !isOk(status)
    return isUsable
      ? Effect.succeed(response)
      : new UnexpectedResponse({ ...fieldsWithoutBody(response), reason: "TooLarge" })
  }

  /**
   * The result if the body fails or never ends: an error's status matters more than its body. A 304 may have the content-length of the body
   * that it leaves out (RFC 9110, section 8.6).
   */
  private get resultWithoutBody(): SendResult | undefined {
    const { head } = this
    if (head === undefined) return undefined
    const isUsable = head.status >= 300 || statusesWithoutBody.has(head.status)
    return isUsable ? this.resultOf(head, emptyBody) : undefined
  }

  /** Ends with this result, and aborts the request. */
  private abandon(result: SendResult): Effect.Effect<unknown> {
    const { abort } = this
    this.settle(result)
    return abort === undefined ? Effect.void : abort()
  }

  private settle(result: SendResult) {
    const { resume } = this
    this.resume = this.abort = this.head = undefined
    this.leave()
    resume?.(result)
  }
}

/** Creates the function that sends requests. Without `timeouts`, the caller must apply a timeout. */
export const make = (client: HttpClient.HttpClient, limits: ResponseLimits, timeouts?: Timeouts): Send => {
  const direct = dispatchOf(client)
  return (request, context) => {
    const begin = (dispatch: (receiver: Receiver) => Abort): SendResult =>
      Effect.async((resume) => {
        const pending = new PendingRequest(context.operation, limits, timeouts)
        if (pending.begin(dispatch, resume)) context.pending = pending
      })
    return direct !== undefined && isBuffered(request)
      ? begin((receiver) => direct(request, receiver))
      : Effect.flatMap(
        Effect.runtime(),
        (runtime) => begin((receiver) => dispatchThrough(client, runtime)(request, receiver))
      )
  }
}

/**
 * Cancels a request on interruption, and waits until the client has released it, so that no exchange overlaps the next one. A search cancels
 * its request itself, which takes less time.
 */
export const interruptible = (send: Send, operation: Operation) => (request: OutgoingRequest): SendResult =>
  Effect.suspend(() => {
    const context: SendContext = { operation, pending: undefined }
    return Effect.onInterrupt(send(request, context), () => context.pending?.cancel() ?? Effect.void)
  })
