/** The boundary to HttpClient. No part of a request leaks through it, whatever error the client fails with. */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { BadRequest, type Operation, TransportError, UnexpectedResponse } from "../../NutritionAdvisorError.js"
import { badPort, decompressionCode, reasonOf } from "../errors/transportCodes.js"
import { closed, timedOut } from "../errors/transportErrors.js"
import {
  type Abort,
  type BufferedResponse,
  dispatchOf,
  isBuffered,
  isOk,
  type Receiver,
  type Request
} from "./dispatch.js"
import { dispatchThrough } from "./platform/dispatchThrough.js"
import { isWebResponse } from "./platform/nativeResponse.js"
import { recordOf } from "./platform/webFetch.js"
import { fieldsWithoutBody, type ServiceResponse } from "./serviceResponse.js"
import { Timed, type Timeouts } from "./timeouts.js"

type SendError = BadRequest | TransportError | UnexpectedResponse

/** How much of a response is read, and how much of it is shown. */
export interface ResponseLimits {
  /** The maximum size of the body of a 2xx response, in bytes. For any other response, the first 64 KiB are read. */
  readonly maxBytes: number
  /** The response headers that errors and spans may show. */
  readonly observeHeaders: ReadonlyArray<string>
}

/**
 * One call. Its caller cancels it through `pending`. The canceler of `Effect.async` would be lost if an interruption came right after the
 * start.
 */
export interface Call {
  readonly operation: Operation
  pending: { readonly cancel: Abort } | undefined
}

type Outcome = Effect.Effect<ServiceResponse, SendError>

/** Sends a request and reads the whole response in bounded memory. */
export type Send = (request: Request, call: Call) => Outcome

/** Errors keep only 4 KiB. More is read, because the connection can be reused only after the body has been read to its end. */
const maxErrorBytes = 64 * 1024

/** The format of the error codes of Node, undici and OpenSSL. Nothing else of a client's error is kept. */
const knownCode = /^[A-Z][A-Z\d_/]{1,79}$/

type ErrorFields = Readonly<Record<string, unknown>>

/** Returns what `find` finds first in the chain of causes, including the errors of an AggregateError. */
const findInCauses = <A>(error: unknown, find: (error: ErrorFields) => A | undefined, depth = 5): A | undefined => {
  if (!Predicate.isRecord(error) || depth === 0) return undefined
  const inside = Array.isArray(error.errors) ? error.errors : []
  return find(error) ??
    [...inside, error.cause].map((inner) => findInCauses(inner, find, depth - 1)).find(Predicate.isNotUndefined)
}

/**
 * Returns the code of an error. Three errors have no string as their code: a timeout, such as that of an AbortSignal.timeout in a custom
 * fetch or of an Effect.timeout in a wrapper, that of fetch for a blocked port, and that of undici 7 for invalid HTTP.
 */
const codeOf = ({ code, message, name }: ErrorFields) => {
  if (typeof code === "string" && (knownCode.test(code) || decompressionCode.test(code))) return code
  if (name === "TimeoutError" || name === "TimeoutException") return "ETIMEDOUT"
  if (name === "HTTPParserError") return /EOF/.test(`${message}`) ? "HPE_INVALID_EOF_STATE" : "HPE_INVALID"
  return message === "bad port" ? badPort : undefined
}

/** Returns a response without a body if the status is not 2xx. */
const refusal = (status: unknown, headers = {}): BufferedResponse | undefined =>
  typeof status === "number" && !isOk(status)
    ? { status, headers, body: new Uint8Array(0), isWhole: true }
    : undefined

/**
 * Whether an error of undici stands for a 407. The cause of fetch's error then has neither a message nor a code, and the message of a
 * ProxyAgent without a tunnel ends with "(407)".
 */
const is407 = ({ cause, message }: ErrorFields) =>
  message === "fetch failed"
    ? Predicate.isRecord(cause) && cause.message === "" && findInCauses(cause, codeOf) === undefined
    : typeof message === "string" && message.endsWith("(407)")

/**
 * Some clients throw an error instead of a response. Returns such a response, without its body. The errors of ky and axios have a
 * `response`, some wrappers of fetch throw the response itself, and the errors of undici's interceptors `retry` and `responseError` have a
 * `statusCode`.
 */
const replacedResponse = (error: ErrorFields): BufferedResponse | undefined => {
  const { code, headers, message, response, statusCode } = error
  const thrown = message === undefined ? error : response
  if (isWebResponse(thrown)) return refusal(thrown.status, recordOf(thrown.headers))
  const isOfInterceptor = code === "UND_ERR_REQ_RETRY" || code === "UND_ERR_RESPONSE"
  if (isOfInterceptor) return refusal(statusCode, { ...headers as BufferedResponse["headers"] })
  return is407(error) ? refusal(407) : undefined
}

const sendErrorOf = (cause: unknown, status: number | undefined, operation: Operation): SendError => {
  const code = findInCauses(cause, codeOf)
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE" && status !== undefined) {
    return new UnexpectedResponse({ operation, status, reason: "TooLarge" })
  }
  const reason = reasonOf(code ?? "", status !== undefined)
  return new TransportError({ operation, reason, ...code !== undefined && { code } })
}

/**
 * A request that has no result yet. When it gets one, it drops all references to the request, so that its fiber doesn't keep them in
 * memory.
 */
class PendingRequest extends Timed implements Receiver {
  private resume: ((outcome: Outcome) => void) | undefined
  private abort: Abort | undefined

  constructor(
    private readonly operation: Operation,
    private readonly limits: ResponseLimits,
    private readonly timeouts: Timeouts | undefined
  ) {
    super()
  }

  begin(dispatch: (receiver: Receiver) => Abort, resume: (outcome: Outcome) => void) {
    this.resume = resume
    this.timeouts?.add(this)
    if (this.resume === undefined) return
    const abort = dispatch(this)
    if (this.resume !== undefined) this.abort = abort
  }

  maxBytesOf(status: number) {
    return isOk(status) ? this.limits.maxBytes : maxErrorBytes
  }

  onResponse({ body, headers, isWhole, status, statusText }: BufferedResponse) {
    const { limits: { observeHeaders }, operation } = this
    const response = { operation, observeHeaders, status, statusText, headers, body, isWhole }
    const isUsable = isWhole || !isOk(status)
    this.settle(
      isUsable
        ? Effect.succeed(response)
        : new UnexpectedResponse({ ...fieldsWithoutBody(response), reason: "TooLarge" })
    )
  }

  onFailure(cause: unknown, status?: number) {
    const response = findInCauses(cause, replacedResponse)
    if (response !== undefined) return this.onResponse(response)
    this.settle(Effect.fail(sendErrorOf(cause, status, this.operation)))
  }

  onBodyFailure() {
    const { operation } = this
    this.abandon(Effect.fail(new BadRequest({ operation, detail: "the stream of its body failed" })))
  }

  onExpire(reason: "Timeout" | "Closed") {
    const { operation } = this
    this.abandon(Effect.fail(reason === "Closed" ? closed(operation) : timedOut(operation)))
  }

  cancel() {
    return this.abandon(Effect.interrupt)
  }

  /** Ends without a response, and aborts the request. */
  private abandon(outcome: Outcome): Effect.Effect<unknown> {
    const { abort } = this
    this.settle(outcome)
    return abort === undefined ? Effect.void : abort()
  }

  private settle(outcome: Outcome) {
    const { resume } = this
    this.resume = this.abort = undefined
    this.leave()
    resume?.(outcome)
  }
}

/** Creates the function that sends requests. Without `timeouts`, the caller must apply a timeout. */
export const make = (client: HttpClient.HttpClient, limits: ResponseLimits, timeouts?: Timeouts): Send => {
  const direct = dispatchOf(client)
  const through = dispatchThrough(client)
  return (request, call) => {
    const begin = (dispatch: (receiver: Receiver) => Abort): Outcome =>
      Effect.async((resume) => {
        const pending = new PendingRequest(call.operation, limits, timeouts)
        call.pending = pending
        pending.begin(dispatch, resume)
      })
    return direct !== undefined && isBuffered(request)
      ? begin((receiver) => direct(request, receiver))
      : Effect.flatMap(Effect.runtime(), (runtime) => begin((receiver) => through(runtime)(request, receiver)))
  }
}

/**
 * Cancels requests on interruption, and waits until the client has released them, so that no exchange starts while another one is still
 * running. A search cancels its request itself, because this would add two microseconds.
 */
export const interruptible = (send: Send, operation: Operation) => (request: Request): Outcome =>
  Effect.suspend(() => {
    const call: Call = { operation, pending: undefined }
    return Effect.onInterrupt(send(request, call), () => Effect.suspend(() => call.pending?.cancel() ?? Effect.void))
  })
