import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Operation, TransportError, UnexpectedResponse } from "../NutritionAdvisorError.js"
import { type Answer, isOk } from "./answer.js"
import * as Deadline from "./deadline.js"
import type { Region } from "./region.js"
import * as SendWhole from "./sendWhole.js"

/** Asked where a request waited for a connection: it is sent only while this holds. */
export interface Proviso<A> {
  readonly holds: () => boolean
  readonly otherwise: Effect.Effect<A>
}

/** What every request of one kind is sent on. */
export interface Conditions<A = never> {
  readonly operation: Operation
  readonly maxBytes: number
  /** Where there is none, whoever calls bounds the time. */
  readonly deadline?: Deadline.Deadline
  /** Not every client can ask it. */
  readonly proviso?: Proviso<A> | undefined
}

const maxErrorBytes = 64 * 1024

const abortedCodes = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_ABORTED", "UND_ERR_CLOSED"])

const timeoutCodes = new Set([
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT"
])

const tooLargeCode = "UND_ERR_RES_EXCEEDED_MAX_SIZE"

/** The first known error code on the way down the causes; nothing else of a foreign error is looked at. */
const codeOf = (error: unknown, depth = 5): string | undefined => {
  if (typeof error !== "object" || error === null || depth === 0) return undefined
  const { cause, code } = error as { readonly code?: unknown; readonly cause?: unknown }
  return typeof code === "string" && (code === tooLargeCode || abortedCodes.has(code) || timeoutCodes.has(code))
    ? code
    : codeOf(cause, depth - 1)
}

const tooLarge = (operation: Operation, status: number) =>
  new UnexpectedResponse({ operation, status, reason: "TooLarge" })

/** A client may have a limit of its own, below ours. */
const failureOf = (operation: Operation, { cause, status }: SendWhole.Broken) => {
  const code = codeOf(cause)
  return code === tooLargeCode && status !== undefined ? tooLarge(operation, status) : new TransportError({
    operation,
    reason: code === undefined
      ? status === undefined ? "Connection" : "Aborted"
      : timeoutCodes.has(code)
      ? "Timeout"
      : "Aborted"
  })
}

const concat = (chunks: ReadonlyArray<Uint8Array>, length: number) => {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

const collect = (stream: Stream.Stream<Uint8Array, HttpClientError.ResponseError>, maxBytes: number) =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let length = 0
    return Effect.map(
      Stream.runForEachWhile(stream, (chunk) =>
        Effect.sync(() => {
          length += chunk.length
          if (length <= maxBytes) chunks.push(chunk)
          return length <= maxBytes
        })),
      () => length <= maxBytes ? concat(chunks, length) : undefined
    )
  })

const hasNoBody = (error: HttpClientError.ResponseError) => error.reason === "EmptyBody"

const nothing = new Uint8Array()

/** Buffers at once where the headers prove the size; reads piece by piece and stops at the limit where they do not. */
const read = (
  response: HttpClientResponse.HttpClientResponse,
  maxBytes: number
): Effect.Effect<SendWhole.WholeAnswer, HttpClientError.ResponseError> => {
  const { headers, status } = response
  const { "content-encoding": encoding, "content-length": declared } = headers
  const isBounded = encoding === undefined && declared !== undefined && /^\d+$/.test(declared) &&
    Number(declared) <= maxBytes
  const whole = (body: Uint8Array | undefined): SendWhole.WholeAnswer => ({
    status,
    headers,
    body: body ?? nothing,
    isWhole: body !== undefined
  })
  return Effect.catchIf(
    isBounded
      ? Effect.map(response.arrayBuffer, (buffer) => whole(new Uint8Array(buffer)))
      : Effect.map(collect(response.stream, maxBytes), whole),
    hasNoBody,
    () => Effect.succeed(whole(nothing))
  )
}

/**
 * What is off for our requests, since it would carry a secret elsewhere: the platform's own spans (they record the whole URL),
 * trace headers to the service, redirects of the fetch layer, and the log line of a failed body stream's fiber.
 */
const hushed = Effect.updateFiberRefs((fiberId, refs) =>
  FiberRefs.updateManyAs(refs, {
    entries: [
      [HttpClient.currentTracerDisabledWhen, [[fiberId, constTrue]]],
      [HttpClient.currentTracerPropagation, [[fiberId, false]]],
      [FiberRef.unhandledErrorLogLevel, [[fiberId, Option.none()]]],
      [FiberRef.currentContext, [[
        fiberId,
        Context.add(
          FiberRefs.getOrDefault(refs, FiberRef.currentContext),
          FetchHttpClient.RequestInit,
          { redirect: "manual" }
        )
      ]]]
    ]
  })
)

export type Request = SendWhole.Request

type Outcome<A = never> = Effect.Effect<Answer | A, TransportError | UnexpectedResponse>

/** Sends a request and reads its whole answer, in bounded time and memory. */
export type Client = <A = never>(request: Request, conditions: Conditions<A>, region?: Region) => Outcome<A>

const unanswered = ({ operation }: Conditions<unknown>, reason: Deadline.Reason) =>
  Effect.fail(new TransportError({ operation, reason }))

const maxBytesOf = ({ maxBytes }: Conditions<unknown>, status: number) => isOk(status) ? maxBytes : maxErrorBytes

const acceptable = (
  answer: SendWhole.WholeAnswer,
  { operation }: Conditions<unknown>
): Effect.Effect<Answer, UnexpectedResponse> =>
  answer.isWhole || !isOk(answer.status)
    ? Effect.succeed(answer)
    : Effect.fail(tooLarge(operation, answer.status))

/** Its own errors hold the request, and so the secrets: of a failure or defect, only what kind it was is kept. */
const outcomeOf = (
  exit: Exit.Exit<SendWhole.WholeAnswer, HttpClientError.HttpClientError>,
  conditions: Conditions<unknown>
): Outcome =>
  Exit.matchEffect(exit, {
    onSuccess: (answer) => acceptable(answer, conditions),
    onFailure: (cause) =>
      Cause.isInterruptedOnly(cause) ? Effect.interrupt : Effect.fail(
        failureOf(
          conditions.operation,
          Option.match(Cause.failureOption(cause), {
            onNone: () => ({ cause: undefined }),
            onSome: (cause) => cause._tag === "ResponseError" ? { cause, status: cause.response.status } : { cause }
          })
        )
      )
  })

/** The same for the platform. */
export const requestOf = ({ body, headers, method, origin, path }: Request): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.make(method)(origin + path)
  const written = body._tag === "Empty" ? request : HttpClientRequest.setBody(request, body)
  return HttpClientRequest.setHeaders(written, headers)
}

type Child = Fiber.RuntimeFiber<SendWhole.WholeAnswer, HttpClientError.HttpClientError>

/** A request in a fiber of its own. As the other, it refers to nothing once it has ended. */
class ForkedRequest extends Deadline.Timed {
  private resume: ((outcome: Outcome) => void) | undefined

  constructor(private readonly conditions: Conditions<unknown>, private child: Child | undefined) {
    super()
  }

  run(resume: (outcome: Outcome) => void) {
    this.resume = resume
    this.conditions.deadline?.enter(this)
    this.child?.addObserver((exit) => {
      this.conditions.deadline?.leave(this)
      this.child = this.resume = undefined
      resume(outcomeOf(exit, this.conditions))
    })
  }

  cutOff(reason: Deadline.Reason) {
    const ended = this.child === undefined ? Effect.void : Fiber.interruptFork(this.child)
    this.resume?.(Effect.zipRight(ended, unanswered(this.conditions, reason)))
  }

  interrupt() {
    return this.child === undefined ? Effect.void : Fiber.interrupt(this.child)
  }
}

/** The fiber is for what is off, so that it is off for the request alone, and for the deadline, which ends it. */
const throughResponses = (client: HttpClient.HttpClient): Client => (request, conditions) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.forkDaemon(
        Effect.zipRight(
          hushed,
          Effect.interruptible(
            Effect.flatMap(client.execute(requestOf(request)), (response) =>
              read(response, maxBytesOf(conditions, response.status)))
          )
        )
      ),
      (child) => {
        const forked = new ForkedRequest(conditions, child)
        return Effect.onInterrupt(
          restore(Effect.async<Answer, TransportError | UnexpectedResponse>((resume) =>
            forked.run(resume)
          )),
          () => forked.interrupt()
        )
      }
    )
  )

/**
 * A request under way. Once it has landed it refers to nothing of its own: whoever can give it up keeps it in reach of the fiber's dead
 * objects, and those of them that have grown old would keep everything behind it until the next full collection (docs/upstream.md).
 */
class OneStepRequest<A> extends Deadline.Timed implements SendWhole.Receiver {
  private resume: ((outcome: Outcome<A>) => void) | undefined
  private sent: SendWhole.Sent | undefined

  constructor(private readonly conditions: Conditions<A>) {
    super()
  }

  begin(sendWhole: SendWhole.SendWhole, request: Request, resume: (outcome: Outcome<A>) => void) {
    this.resume = resume
    this.conditions.deadline?.enter(this)
    if (this.resume === undefined) return
    const sent = sendWhole(request, this)
    if (this.resume !== undefined) this.sent = sent
  }

  cutOff(reason: Deadline.Reason) {
    const { sent } = this
    this.land()?.(unanswered(this.conditions, reason))
    sent?.abandon()
  }

  departs() {
    const { proviso } = this.conditions
    if (proviso === undefined || proviso.holds()) return true
    this.land()?.(proviso.otherwise)
    return false
  }

  maxBytesOf(status: number) {
    return maxBytesOf(this.conditions, status)
  }

  onAnswer(answer: SendWhole.WholeAnswer) {
    this.land()?.(acceptable(answer, this.conditions))
  }

  onBroken(broken: SendWhole.Broken) {
    this.land()?.(Effect.fail(failureOf(this.conditions.operation, broken)))
  }

  giveUp() {
    const { sent } = this
    this.land()
    sent?.abandon()
  }

  private land() {
    const { resume } = this
    this.resume = this.sent = undefined
    this.conditions.deadline?.leave(this)
    return resume
  }
}

const inOneStep = (sendWhole: SendWhole.SendWhole): Client => (request, conditions, region) =>
  Effect.async((resume) => {
    const sent = new OneStepRequest(conditions)
    if (region !== undefined) region.underWay = sent
    sent.begin(sendWhole, request, resume)
    return region === undefined ? Effect.sync(() => sent.giveUp()) : undefined
  })

/** The client behind the boundary: it shows nothing of a request anywhere, whatever it fails with. */
export const quiet = (client: HttpClient.HttpClient): Client => {
  const sendWhole = SendWhole.sendWholeOf(client)
  const throughResponse = throughResponses(client)
  if (sendWhole === undefined) return throughResponse
  const atOnce = inOneStep(sendWhole)
  return (request, conditions, region) =>
    request.body._tag === "Stream" ? throughResponse(request, conditions) : atOnce(request, conditions, region)
}
