import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as InternalPart from "../internalPart.js"
import * as Ending from "./ending.js"
import { maxBytesOf, type SendOptions, type WholeRequest } from "./request.js"
import type { Received } from "./response.js"
import * as TimeoutQueue from "./timeoutQueue.js"

export interface Receiver {
  readonly maxBytesOf: (status: number) => number
  readonly onResponse: (response: Received) => void
  readonly onError: (failure: Ending.SendFailure) => void
}

export interface Sent {
  /** Aborts the request, and the receiver hears no more of it. */
  readonly cancel: () => void
}

/** Sends a request, and calls the receiver once, unless it is canceled before. */
export type BufferedSend = (request: WholeRequest, receiver: Receiver) => Sent

interface Part {
  readonly execute: HttpClient.HttpClient["execute"]
  readonly send: BufferedSend
}

const part = InternalPart.make<HttpClient.HttpClient, Part>("HttpClient/bufferedSend")

/** The client can bring a whole body in one step: no response object, stream or span stands between. */
export const withBufferedSend = (client: HttpClient.HttpClient, send: BufferedSend): HttpClient.HttpClient =>
  part.attach(client, { execute: client.execute, send })

/** None for a client that was made from another one, or got an `execute` of its own later: a buffered send would go around it. */
export const bufferedSendOf = (client: HttpClient.HttpClient): BufferedSend | undefined => {
  const found = part.of(client)
  return found?.execute === client.execute ? found.send : undefined
}

/** Is told of a request that has begun, and cancels it where it has not ended by itself. */
export interface Starter {
  readonly onStart: (request: Sent) => void
}

/** Whatever a dispatcher throws at that, nobody is left to hear it. */
const cancel = (sent: Sent | undefined) => {
  try {
    sent?.cancel()
  } catch {
    // The request has ended for its caller.
  }
}

/**
 * A request in flight. Once it has ended it refers to nothing of its own: whoever can cancel it keeps it in reach of the fiber's
 * dead objects, and those of them that have grown old would keep everything behind it until the next full collection
 * (docs/upstream.md).
 */
class BufferedRequest extends TimeoutQueue.TimedRequest implements Receiver {
  private resume: ((ending: Ending.Sending) => void) | undefined
  private sent: Sent | undefined

  constructor(private readonly options: SendOptions) {
    super()
  }

  begin(send: BufferedSend, request: WholeRequest, resume: (ending: Ending.Sending) => void) {
    this.resume = resume
    this.options.timeout?.add(this)
    if (this.resume === undefined) return
    const sent = send(request, this)
    if (this.resume !== undefined) this.sent = sent
  }

  abort(reason: TimeoutQueue.Reason) {
    const { sent } = this
    this.finish()?.(Ending.unanswered(this.options, reason))
    cancel(sent)
  }

  maxBytesOf(status: number) {
    return maxBytesOf(this.options, status)
  }

  onResponse(response: Received) {
    this.finish()?.(Ending.received(response, this.options))
  }

  onError(failure: Ending.SendFailure) {
    this.finish()?.(Ending.attempt(() => Ending.failed(failure, this.options), this.options))
  }

  cancel() {
    const { sent } = this
    this.finish()
    cancel(sent)
  }

  private finish() {
    const { resume } = this
    this.resume = this.sent = undefined
    this.options.timeout?.remove(this)
    return resume
  }
}

/**
 * Sends in one step, without a response object, a stream or a fiber of its own. Without a starter the request cancels itself where
 * its caller is interrupted; what `Effect.async` offers for that is lost to an interruption that comes just as it has begun.
 */
export const makeBuffered =
  (send: BufferedSend) => (request: WholeRequest, options: SendOptions, starter?: Starter): Ending.Sending => {
    const begin = (starter: Starter): Ending.Sending =>
      Effect.async((resume) => {
        const buffered = new BufferedRequest(options)
        starter.onStart(buffered)
        buffered.begin(send, request, resume)
      })
    if (starter !== undefined) return begin(starter)
    return Effect.uninterruptibleMask((restore) => {
      let sent: Sent | undefined
      const onStart = (request: Sent) => {
        sent = request
      }
      return Effect.onInterrupt(restore(begin({ onStart })), () => Effect.sync(() => sent?.cancel()))
    })
  }
