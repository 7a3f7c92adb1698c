import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import type { Answer } from "./answer.js"
import { BodyBytes } from "./bodyBytes.js"
import type { Dispatch, Received, Request } from "./dispatch.js"
import { isHeaderField } from "./header.js"
import { processFetch } from "./processFetch.js"
import { fetchedOf, setCookiesOf } from "./source.js"

type ClientError = HttpClientError.HttpClientError

type PlatformResponse = HttpClientResponse.HttpClientResponse

/** A body that says when its stream fails: the client would say that the service can't be reached. */
const watched = (body: HttpBody.HttpBody, onFailure: () => void) => {
  if (body._tag !== "Stream") return body
  const failed = Effect.sync(onFailure)
  const stream = Stream.tapErrorCause(body.stream, (cause) => Cause.isInterruptedOnly(cause) ? Effect.void : failed)
  return HttpBody.stream(stream, body.contentType, body.contentLength)
}

/** The request as the platform has it. */
const requestOf = ({ body, headers, method, origin, path }: Request, onBodyFailure: () => void) => {
  const request = HttpClientRequest.make(method)(origin + path)
  const written = body._tag === "Empty" ? request : HttpClientRequest.setBody(request, watched(body, onBodyFailure))
  return HttpClientRequest.setHeaders(written, headers)
}

type Body = Pick<Received, "body" | "isWhole">

/** Reads piece by piece, and stops at the limit. */
const collect = (stream: PlatformResponse["stream"], maxBytes: number) =>
  Effect.suspend(() => {
    const bytes = new BodyBytes()
    let isWhole = true
    return Effect.map(
      Stream.runForEachWhile(stream, (chunk) => Effect.sync(() => isWhole = bytes.add(chunk, maxBytes))),
      (): Body => ({ body: bytes.whole, isWhole })
    )
  })

/** The same of fetch, whose own stream takes half the time. It stands in for `arrayBuffer`: where that is interrupted, the platform aborts. */
const collectFetched = (response: PlatformResponse, stream: ReadableStream<Uint8Array>, maxBytes: number) => {
  const bytes = new BodyBytes()
  const reader = stream.getReader()
  let isWhole = true
  const read = async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (!(isWhole = bytes.add(next.value, maxBytes))) return reader.cancel()
    }
  }
  Object.defineProperty(fetchedOf(response), "arrayBuffer", { value: read })
  const leave = Effect.sync(() => void reader.cancel().catch(constVoid))
  return Effect.map(Effect.onInterrupt(response.arrayBuffer, () => leave), (): Body => ({ body: bytes.whole, isWhole }))
}

/** A stream takes the other clients nearly twice the time: a body whose size the headers prove is read at once. */
const isBounded = ({ headers }: PlatformResponse, maxBytes: number) =>
  headers["content-encoding"] === undefined && /^\d+$/.test(headers["content-length"] ?? "") &&
  Number(headers["content-length"]) <= maxBytes

/** Of the runtimes only some undo zstd: a frame of it begins so (RFC 8878, section 3.1.1). */
const isZstd = (body: Uint8Array) => body[0] === 0x28 && body[1] === 0xb5

/** Those of the body as it is handed on: fetch leaves the coding that it has undone, and the length before. */
const headersOf = (response: PlatformResponse, body: Uint8Array): Answer["headers"] => {
  const { headers } = response
  const all: Answer["headers"] = headers["set-cookie"] === undefined
    ? headers
    : { ...headers, "set-cookie": setCookiesOf(response) }
  const isDecoded = body.length > 0 && /^(x-gzip|gzip|deflate|br|zstd)$/i.test(headers["content-encoding"] ?? "") &&
    !isZstd(body) && fetchedOf(response) !== undefined
  if (!isDecoded) return all
  const { "content-encoding": _coding, "content-length": _length, ...others } = all
  return others
}

const bodyOf = (response: PlatformResponse, maxBytes: number): Effect.Effect<Body, unknown> => {
  const stream = fetchedOf(response)?.body
  if (stream instanceof globalThis.ReadableStream) return collectFetched(response, stream, maxBytes)
  return isBounded(response, maxBytes)
    ? Effect.map(response.arrayBuffer, (buffer) => ({ body: new Uint8Array(buffer), isWhole: true }))
    : Effect.catchIf(
      collect(response.stream, maxBytes),
      (error) => error.reason === "EmptyBody",
      () => Effect.succeed({ body: new Uint8Array(), isWhole: true })
    )
}

/**
 * No span of the platform's (they record the whole URL), no trace headers to the service, and no log line of how a fiber of the
 * body's stream failed.
 */
const quiet = FiberRef.set(HttpClient.currentTracerDisabledWhen, () => true).pipe(
  Effect.zipRight(FiberRef.set(HttpClient.currentTracerPropagation, false)),
  Effect.zipRight(FiberRef.set(FiberRef.unhandledErrorLogLevel, Option.none()))
)

/** Of the fetch layer. What it is given stays: it is seen only from within the client, just before the request is sent. */
const fetchSettings = FiberRef.update(FiberRef.currentContext, (context) => {
  const given = Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit))
  return context.pipe(
    Context.add(FetchHttpClient.RequestInit, { ...given, redirect: "manual" as const }),
    Context.add(
      FetchHttpClient.Fetch,
      Option.getOrElse(Context.getOption(context, FetchHttpClient.Fetch), processFetch)
    )
  )
})

/** A client that takes some statuses for errors, as one with `filterStatusOk`, has the answer all the same. */
const isAnswer = (error: ClientError): error is HttpClientError.ResponseError =>
  error._tag === "ResponseError" && error.reason === "StatusCode"

/**
 * Sends through any HttpClient, in a fiber of its own: what is switched off is off for the request alone, and the request is left where
 * it can't be interrupted.
 */
export const dispatchThrough = (given: HttpClient.HttpClient) => {
  const client = HttpClient.mapRequestEffect(given, (request) => Effect.as(fetchSettings, request))
  return (runtime: Runtime.Runtime<never>): Dispatch => (request, receiver) => {
    let statusOfHead: number | undefined
    const answer = Effect.flatMap(quiet, () => client.execute(requestOf(request, () => receiver.onBodyFailure()))).pipe(
      Effect.catchIf(isAnswer, ({ response }) => Effect.succeed(response)),
      Effect.flatMap((response) => {
        const { status } = response
        statusOfHead = status
        return Effect.map(
          bodyOf(response, receiver.maxBytesOf(status)),
          (body): Received => ({ status, headers: headersOf(response, body.body), ...body })
        )
      }),
      Effect.interruptible
    )
    const fiber = Runtime.runFork(runtime, answer)
    fiber.addObserver((exit) => {
      if (Exit.isSuccess(exit)) return receiver.onAnswer(exit.value)
      // A client that died or interrupted itself did not say why: what it died of may hold the request.
      receiver.onFailure(Option.getOrUndefined(Cause.failureOption(exit.cause)), statusOfHead)
    })
    return () => {
      fiber.unsafeInterruptAsFork(FiberId.none)
      return Fiber.await(fiber)
    }
  }
}

const withoutBody = new Set([204, 205])

/** The answer as the platform has it. */
export const responseOf = (
  request: HttpClientRequest.HttpClientRequest,
  { body, headers, status }: Omit<Answer, "kind">
): PlatformResponse => {
  const fields = Object.entries(headers)
    .flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]))
    .filter(isHeaderField)
  const content = withoutBody.has(status) ? null : body as Uint8Array<ArrayBuffer>
  return HttpClientResponse.fromWeb(request, new globalThis.Response(content, { status, headers: fields }))
}
