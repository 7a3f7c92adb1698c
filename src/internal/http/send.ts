/** The only boundary to HttpClient. No part of a request leaks through it, whatever error the client fails with. */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { BadRequest, TransportError, UnexpectedResponse } from "../../NutritionAdvisorError.js"
import { closed } from "../errors/closed.js"
import { badPort, reasonOf } from "../errors/transportCodes.js"
import {
  type Abort,
  type Dispatch,
  dispatchOf,
  isBuffered,
  isOk,
  type Received,
  type Receiver,
  type Request
} from "./dispatch.js"
import * as Platform from "./platform/dispatchThrough.js"
import type { RequestKind, ServiceResponse } from "./serviceResponse.js"
import { Timed, type Timeouts } from "./timeouts.js"

type SendError = BadRequest | TransportError | UnexpectedResponse

/** Where a caller keeps its in-flight call, so that it can cancel it. */
export interface CallSlot {
  call: { readonly cancel: Abort } | undefined
}

/** Sends a request and reads the whole response in bounded memory. Without a `slot`, it cancels itself on interruption. */
export type Send = (request: Request, kind: RequestKind, slot?: CallSlot) => Effect.Effect<ServiceResponse, SendError>

/** Errors keep only 4 KiB. More is read, because the connection can be reused only after the body has been read to its end. */
const maxErrorBytes = 64 * 1024

const tooLarge = ({ operation }: RequestKind, status: number) =>
  new UnexpectedResponse({ operation, status, reason: "TooLarge" })

/** The format of the error codes of Node, undici and OpenSSL. Nothing else of a client's error is kept. */
const knownCode = /^[A-Z][A-Z\d_/]{1,79}$/

/** Returns the code of an error. If fetch rejects a request because of its port, the error has a message and no code. */
const ownCodeOf = ({ code, message }: { readonly code?: unknown; readonly message?: unknown }) => {
  if (typeof code === "string" && knownCode.test(code)) return code
  return message === "bad port" ? badPort : undefined
}

/** Returns the first known code in the chain of causes, including the errors of an AggregateError. */
const codeOf = (error: unknown, depth = 5): string | undefined => {
  if (!Predicate.isRecord(error) || depth === 0) return undefined
  const inside = Array.isArray(error.errors) ? error.errors : []
  return ownCodeOf(error) ??
    [...inside, error.cause].map((inner) => codeOf(inner, depth - 1)).find(Predicate.isNotUndefined)
}

const sendErrorOf = (cause: unknown, status: number | undefined, kind: RequestKind): SendError => {
  const code = codeOf(cause)
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE" && status !== undefined) return tooLarge(kind, status)
  const reason = reasonOf(code ?? "", status !== undefined)
  return new TransportError({ operation: kind.operation, reason, ...code !== undefined && { code } })
}

type Ending = Effect.Effect<ServiceResponse, SendError>

/** An in-flight request. When it ends, it drops all references to the request, so that its fiber doesn't keep them in memory. */
class Call extends Timed implements Receiver {
  private resume: ((ending: Ending) => void) | undefined
  private abort: Abort | undefined

  constructor(private readonly kind: RequestKind, private readonly timeouts: Timeouts | undefined) {
    super()
  }

  begin<Req extends Request>(dispatch: Dispatch<Req>, request: Req, resume: (ending: Ending) => void) {
    this.resume = resume
    this.timeouts?.add(this)
    if (this.resume === undefined) return
    const abort = dispatch(request, this)
    if (this.resume !== undefined) this.abort = abort
  }

  maxBytesOf(status: number) {
    return isOk(status) ? this.kind.maxBytes : maxErrorBytes
  }

  onResponse({ body, headers, isWhole, status, statusText }: Received) {
    const { kind } = this
    const isUsable = isWhole || !isOk(status)
    this.settle(
      isUsable ? Effect.succeed({ kind, status, statusText, headers, body }) : Effect.fail(tooLarge(kind, status))
    )
  }

  onFailure(cause: unknown, status?: number) {
    this.settle(Effect.fail(sendErrorOf(cause, status, this.kind)))
  }

  onBodyFailure() {
    const { operation } = this.kind
    this.abandon(Effect.fail(new BadRequest({ operation, detail: "the stream of its body failed" })))
  }

  onEnd(reason: "Timeout" | "Closed") {
    const { operation } = this.kind
    this.abandon(Effect.fail(reason === "Closed" ? closed(operation) : new TransportError({ operation, reason })))
  }

  cancel() {
    return this.abandon(Effect.interrupt)
  }

  /** Ends the call without a response, and aborts the request. */
  private abandon(ending: Ending): Effect.Effect<unknown> {
    const { abort } = this
    this.settle(ending)
    return abort === undefined ? Effect.void : abort()
  }

  private settle(ending: Ending) {
    const { resume } = this
    this.resume = this.abort = undefined
    this.timeouts?.remove(this)
    resume?.(ending)
  }
}

/**
 * The caller cancels the call through the slot. The canceler of `Effect.async` would be lost if an interruption came right after the start.
 */
const callOf =
  (kind: RequestKind, timeouts: Timeouts | undefined, slot: CallSlot) =>
  <Req extends Request>(dispatch: Dispatch<Req>, request: Req): Ending =>
    Effect.async((resume) => {
      const call = new Call(kind, timeouts)
      slot.call = call
      call.begin(dispatch, request, resume)
    })

/**
 * Sends a request with a new slot. An interruption waits until the client has released the request, so that no exchange starts while
 * another one is still running. A search passes its own slot, because this function would add two microseconds.
 */
const withOwnSlot = (send: (slot: CallSlot) => Ending): Ending =>
  Effect.suspend(() => {
    const slot: CallSlot = { call: undefined }
    return Effect.onInterrupt(send(slot), () => Effect.suspend(() => slot.call?.cancel() ?? Effect.void))
  })

/** Creates the function that sends requests. Without `timeouts`, the caller must apply a timeout. */
export const make = (client: HttpClient.HttpClient, timeouts?: Timeouts): Send => {
  const dispatch = dispatchOf(client)
  const dispatchIn = Platform.dispatchThrough(client)
  const sendFor = (slot: CallSlot, request: Request, kind: RequestKind): Ending => {
    const call = callOf(kind, timeouts, slot)
    return dispatch !== undefined && isBuffered(request)
      ? call(dispatch, request)
      : Effect.flatMap(Effect.runtime(), (runtime) => call(dispatchIn(runtime), request))
  }
  return (request, kind, slot) =>
    slot === undefined ? withOwnSlot((own) => sendFor(own, request, kind)) : sendFor(slot, request, kind)
}
