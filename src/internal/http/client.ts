/** The one boundary to HttpClient: nothing of a request gets out of here, whatever the client fails with. */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { BadRequest, TransportError, UnexpectedResponse } from "../../NutritionAdvisorError.js"
import { closed } from "../closed.js"
import { badPort } from "../transportCodes.js"
import { type Answer, isOk, type Kind } from "./answer.js"
import {
  type Abort,
  type Dispatch,
  dispatchOf,
  isBuffered,
  type Received,
  type Receiver,
  type Request
} from "./dispatch.js"
import * as Platform from "./platform.js"
import { Timed, type Timeouts } from "./timeouts.js"

type SendError = BadRequest | TransportError | UnexpectedResponse

/** What has a call in flight, and cancels it where it is interrupted. */
export interface Owner {
  call: { readonly cancel: Abort } | undefined
}

/** Sends a request and reads its whole answer, in bounded memory. It cancels itself where it has no owner that does. */
export type Send = (request: Request, kind: Kind, owner?: Owner) => Effect.Effect<Answer, SendError>

/** More than an error shows: a body that is read to its end leaves the connection to the next request. */
const maxErrorBytes = 64 * 1024

const tooLarge = ({ operation }: Kind, status: number) =>
  new UnexpectedResponse({ operation, status, reason: "TooLarge" })

/** As Node, undici and OpenSSL write their codes: no other part of a foreign error is shown. */
const knownCode = /^[A-Z][A-Z\d_/]{1,79}$/

/** What fetch refuses by itself has a message alone. */
const ownCodeOf = ({ code, message }: { readonly code?: unknown; readonly message?: unknown }) => {
  if (typeof code === "string" && knownCode.test(code)) return code
  return message === "bad port" ? badPort : undefined
}

/** The first known code on the way down the causes, the errors inside an AggregateError included. */
const codeOf = (error: unknown, depth = 5): string | undefined => {
  if (!Predicate.isRecord(error) || depth === 0) return undefined
  const inside = Array.isArray(error.errors) ? error.errors.slice(0, 16) : []
  return ownCodeOf(error) ??
    [...inside, error.cause].map((inner) => codeOf(inner, depth - 1)).find(Predicate.isNotUndefined)
}

const reasonOf = (code: string, hasHead: boolean): TransportError["reason"] =>
  /TIMEOUT|TIMEDOUT/.test(code)
    ? "Timeout"
    : hasHead || /ABORTED|RESET|EPIPE|PREMATURE|CLOSED|DESTROYED|_SOCKET$/.test(code)
    ? "Aborted"
    : "Connection"

const sendErrorOf = (cause: unknown, status: number | undefined, kind: Kind): SendError => {
  const code = codeOf(cause)
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE" && status !== undefined) return tooLarge(kind, status)
  const reason = reasonOf(code ?? "", status !== undefined)
  return new TransportError({ operation: kind.operation, reason, ...code !== undefined && { code } })
}

type Ending = Effect.Effect<Answer, SendError>

/** A request in flight. Once it has ended it holds nothing of the request: old garbage of its fiber would keep it. */
class Call extends Timed implements Receiver {
  private resume: ((ending: Ending) => void) | undefined
  private abort: Abort | undefined

  constructor(private readonly kind: Kind, private readonly timeouts: Timeouts | undefined) {
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

  onAnswer({ body, headers, isWhole, status, statusText }: Received) {
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
    this.leave(Effect.fail(new BadRequest({ operation, detail: "the stream of its body failed" })))
  }

  onEnd(reason: "Timeout" | "Closed") {
    const { operation } = this.kind
    this.leave(Effect.fail(reason === "Closed" ? closed(operation) : new TransportError({ operation, reason })))
  }

  cancel() {
    return this.leave(Effect.interrupt)
  }

  /** Ends without an answer, and aborts the request. */
  private leave(ending: Ending): Effect.Effect<unknown> {
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

/** The canceler of `Effect.async` would be lost to an interruption that comes just as the call has begun: the owner cancels. */
const callOf =
  (kind: Kind, timeouts: Timeouts | undefined, owner: Owner) =>
  <Req extends Request>(dispatch: Dispatch<Req>, request: Req): Ending =>
    Effect.async((resume) => {
      const call = new Call(kind, timeouts)
      owner.call = call
      call.begin(dispatch, request, resume)
    })

/**
 * Owns one call itself: an interruption ends once the client has let go of the request, so that an exchange is never begun beside one
 * that still runs. A search has its own owner, since this would cost it two microseconds.
 */
const ownedHere = (send: (owner: Owner) => Ending): Ending =>
  Effect.suspend(() => {
    const owner: Owner = { call: undefined }
    return Effect.onInterrupt(send(owner), () => Effect.suspend(() => owner.call?.cancel() ?? Effect.void))
  })

/** Without timeouts, whoever calls bounds the time. */
export const make = (client: HttpClient.HttpClient, timeouts?: Timeouts): Send => {
  const dispatch = dispatchOf(client)
  const dispatchIn = Platform.dispatchThrough(client)
  const sendFor = (owner: Owner, request: Request, kind: Kind): Ending => {
    const call = callOf(kind, timeouts, owner)
    return dispatch !== undefined && isBuffered(request)
      ? call(dispatch, request)
      : Effect.flatMap(Effect.runtime(), (runtime) => call(dispatchIn(runtime), request))
  }
  return (request, kind, owner) =>
    owner === undefined ? ownedHere((own) => sendFor(own, request, kind)) : sendFor(owner, request, kind)
}
