import type * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type { TransportError, UnexpectedResponse } from "../../NutritionAdvisorError.js"
import type { BufferedResponse, Request } from "./bufferedSend.js"
import * as Outcome from "./outcome.js"
import * as Platform from "./platform.js"
import type { ResponseData } from "./response.js"
import * as TimeoutQueue from "./timeoutQueue.js"

type Child = Fiber.RuntimeFiber<BufferedResponse, HttpClientError.HttpClientError>

/**
 * The platform's errors hold the request, and so the secrets: of a failure or defect, only what kind it was is kept. A request
 * that interrupts itself, by its body or its client, has failed too: a caller that is interrupted no longer waits for it.
 */
const outcomeOf = (
  exit: Exit.Exit<BufferedResponse, HttpClientError.HttpClientError>,
  options: Outcome.SendOptions<unknown>
): Outcome.Outcome =>
  Exit.match(exit, {
    onSuccess: (response) => Outcome.received(response, options),
    onFailure: (cause) =>
      Outcome.failed(
        Option.match(Cause.failureOption(cause), {
          onNone: () => ({ cause: undefined }),
          onSome: Platform.failureIn
        }),
        options
      )
  })

/** A request in a fiber of its own. It has an outcome in the end, whether or not somebody waits for it by then. */
class ForkedRequest extends TimeoutQueue.Entry {
  readonly outcome = Deferred.unsafeMake<ResponseData, TransportError | UnexpectedResponse>(FiberId.none)

  constructor(private readonly options: Outcome.SendOptions<unknown>, private readonly child: Child) {
    super()
    options.timeout?.add(this)
    child.addObserver((exit) => {
      options.timeout?.remove(this)
      Deferred.unsafeDone(this.outcome, Outcome.attempt(() => outcomeOf(exit, options), options))
    })
  }

  abort(reason: TimeoutQueue.Reason) {
    Deferred.unsafeDone(this.outcome, Effect.zipRight(this.interrupt, Outcome.unanswered(this.options, reason)))
  }

  /** Does not wait: a client may take its time to end, and some of effect's own never do (docs/upstream.md). */
  get interrupt() {
    this.options.timeout?.remove(this)
    return Fiber.interruptAsFork(this.child, FiberId.none)
  }
}

/** A client that takes some statuses for errors, as one with `filterStatusOk`, has the answer all the same. */
const isAnswer = (error: HttpClientError.HttpClientError): error is HttpClientError.ResponseError =>
  error._tag === "ResponseError" && error.reason === "StatusCode"

/**
 * Sends through any HttpClient. The request runs in a fiber of its own: what is switched off is off for the request alone, and
 * the timeout can end it without waiting for it.
 */
export const makeForked = (client: HttpClient.HttpClient) => {
  const requestInit = Platform.requestInitOf(client)

  /** A client may throw as soon as it is called. */
  const execute = (request: Request) => Effect.suspend(() => client.execute(Platform.requestOf(request)))

  const send = (request: Request, options: Outcome.SendOptions<unknown>) =>
    Effect.catchIf(
      execute(request),
      isAnswer,
      ({ response }) => Effect.succeed(response)
    ).pipe(
      Effect.flatMap((response) => Platform.read(response, Outcome.maxBytesOf(options, response.status)))
    )

  const sendForked = (request: Request, options: Outcome.SendOptions<unknown>): Outcome.Outcome =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(requestInit, Platform.withoutLeaks).pipe(
        Effect.zipRight(send(request, options)),
        Effect.interruptible,
        Effect.forkDaemon,
        Effect.map((child) => new ForkedRequest(options, child)),
        Effect.flatMap((forked) => Effect.onInterrupt(restore(Deferred.await(forked.outcome)), () => forked.interrupt))
      )
    )

  return (request: Request, options: Outcome.SendOptions<unknown>): Outcome.Outcome =>
    Effect.suspend(() =>
      options.timeout?.isClosed() === true ? Outcome.unanswered(options, "Aborted") : sendForked(request, options)
    )
}
