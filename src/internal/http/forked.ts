import type * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
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

/** A request in a fiber of its own. Once it has ended, it refers to nothing. */
class ForkedRequest extends TimeoutQueue.Entry {
  private resume: ((outcome: Outcome.Outcome) => void) | undefined

  constructor(private readonly options: Outcome.SendOptions<unknown>, private child: Child | undefined) {
    super()
  }

  run(resume: (outcome: Outcome.Outcome) => void) {
    this.resume = resume
    this.options.timeout?.add(this)
    this.child?.addObserver((exit) => {
      const { options, resume } = this
      options.timeout?.remove(this)
      this.child = this.resume = undefined
      resume?.(Outcome.attempt(() => outcomeOf(exit, options), options))
    })
  }

  abort(reason: TimeoutQueue.Reason) {
    const ended = this.child === undefined ? Effect.void : Fiber.interruptFork(this.child)
    this.resume?.(Effect.zipRight(ended, Outcome.unanswered(this.options, reason)))
  }

  /** Waits for the end of the client's request, as long as the timeout allows. */
  interrupt() {
    return Effect.withFiberRuntime((fiber) =>
      Effect.async<unknown>((resume) => {
        const end = () => resume(Effect.void)
        this.resume = end
        if (this.child === undefined) end()
        else this.child.unsafeInterruptAsFork(fiber.id())
      })
    )
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
        Effect.flatMap((child) => {
          const forked = new ForkedRequest(options, child)
          return Effect.onInterrupt(
            restore(Effect.async<ResponseData, TransportError | UnexpectedResponse>((resume) => forked.run(resume))),
            () => forked.interrupt()
          )
        })
      )
    )

  return (request: Request, options: Outcome.SendOptions<unknown>): Outcome.Outcome =>
    Effect.suspend(() =>
      options.timeout?.isClosed() === true ? Outcome.unanswered(options, "Aborted") : sendForked(request, options)
    )
}
