import * as Effect from "effect/Effect"
import type { BufferedResponse, BufferedSend, Receiver, Request, SendFailure, Sent } from "./bufferedSend.js"
import * as Outcome from "./outcome.js"
import * as TimeoutQueue from "./timeoutQueue.js"

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
class BufferedRequest<A> extends TimeoutQueue.Entry implements Receiver {
  private resume: ((outcome: Outcome.Outcome<A>) => void) | undefined
  private sent: Sent | undefined

  constructor(private readonly options: Outcome.SendOptions<A>) {
    super()
  }

  begin(send: BufferedSend, request: Request, resume: (outcome: Outcome.Outcome<A>) => void) {
    this.resume = resume
    this.options.timeout?.add(this)
    if (this.resume === undefined) return
    const sent = send(request, this)
    if (this.resume !== undefined) this.sent = sent
  }

  abort(reason: TimeoutQueue.Reason) {
    const { sent } = this
    this.finish()?.(Outcome.unanswered(this.options, reason))
    cancel(sent)
  }

  beforeSend() {
    const { guard } = this.options
    if (guard === undefined || guard.holds()) return true
    this.finish()?.(guard.otherwise)
    return false
  }

  maxBytesOf(status: number) {
    return Outcome.maxBytesOf(this.options, status)
  }

  onResponse(response: BufferedResponse) {
    this.finish()?.(Outcome.received(response, this.options))
  }

  onError(failure: SendFailure) {
    this.finish()?.(Outcome.attempt(() => Outcome.failed(failure, this.options), this.options))
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
  (send: BufferedSend) =>
  <A>(request: Request, options: Outcome.SendOptions<A>, starter?: Starter): Outcome.Outcome<A> => {
    const begin = (starter: Starter): Outcome.Outcome<A> =>
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
