import type * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type { TransportError, UnexpectedResponse } from "../../NutritionAdvisorError.js"
import * as Fork from "../fork.js"
import * as Ending from "./ending.js"
import * as Platform from "./platform.js"
import { maxBytesOf, type Request, type SendOptions } from "./request.js"
import type { Received, Response } from "./response.js"
import * as TimeoutQueue from "./timeoutQueue.js"

type Outcome = Exit.Exit<Received, Platform.ClientError>

/** What a request ended in. It is kept beside its fiber, which ends in nothing: whoever finds that fiber can ask it for its exit. */
interface Kept {
  outcome: Outcome
}

/**
 * The platform's errors hold the request, and so the secrets: of a failure or defect, only what kind it was is kept. A request
 * that interrupts itself, by its body or its client, has failed too: a caller that is interrupted no longer waits for it.
 */
const endingOf = (outcome: Outcome, options: SendOptions): Ending.Sending =>
  Exit.match(outcome, {
    onSuccess: (response) => Ending.received(response, options),
    onFailure: (cause) =>
      Ending.failed(
        Option.match(Cause.failureOption(cause), {
          onNone: () => ({ cause: undefined }),
          onSome: Platform.failureIn
        }),
        options
      )
  })

/** A request in a fiber of its own. It has an ending, whether or not somebody waits for it by then. */
class ForkedRequest extends TimeoutQueue.TimedRequest {
  readonly ending = Deferred.unsafeMake<Response, TransportError | UnexpectedResponse>(FiberId.none)

  constructor(private readonly options: SendOptions, private readonly child: Fiber.RuntimeFiber<void>, kept: Kept) {
    super()
    options.timeout?.add(this)
    child.addObserver(() => {
      options.timeout?.remove(this)
      Deferred.unsafeDone(this.ending, Ending.attempt(() => endingOf(kept.outcome, options), options))
    })
  }

  abort(reason: TimeoutQueue.Reason) {
    Deferred.unsafeDone(this.ending, Effect.zipRight(this.interrupt(), Ending.unanswered(this.options, reason)))
  }

  /** Does not wait: a client may take its time to end, and some of effect's own never do (docs/upstream.md). */
  interrupt() {
    this.options.timeout?.remove(this)
    return Fiber.interruptAsFork(this.child, FiberId.none)
  }
}

/**
 * Sends through any HttpClient. The request runs in a fiber of its own: what is switched off is off for the request alone, and
 * the timeout can end it without waiting for it.
 */
export const makeForked = (client: HttpClient.HttpClient) => {
  const execute = Platform.executeOf(client)

  const sendForked = (request: Request, options: SendOptions): Ending.Sending =>
    Effect.uninterruptibleMask((restore) => {
      const kept: Kept = { outcome: Exit.die(undefined) }
      return execute(request, (status) => maxBytesOf(options, status)).pipe(
        Effect.interruptible,
        Effect.exit,
        Effect.map((outcome) => {
          kept.outcome = outcome
        }),
        Effect.forkDaemon,
        Fork.unsupervised,
        Effect.map((child) => new ForkedRequest(options, child, kept)),
        Effect.flatMap((forked) => Effect.onInterrupt(restore(Deferred.await(forked.ending)), () => forked.interrupt()))
      )
    })

  return (request: Request, options: SendOptions): Ending.Sending =>
    Effect.suspend(() =>
      options.timeout?.isClosed() === true ? Ending.unanswered(options, "Aborted") : sendForked(request, options)
    )
}
