import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import { BodyBytes } from "../bodyBytes.js"
import { encoder, readInterruptibly } from "../chunks.js"
import {
  type BufferedBody,
  type BufferedResponse,
  type Dispatch,
  isOk,
  type Request,
  statusesWithoutBody
} from "../dispatch.js"
import { isDecoded } from "./contentCoding.js"
import { isWebResponse, keptOf, nativeOf, setCookiesOf, statusTextOf } from "./nativeResponse.js"
import { chunksOfResponse, FetchCall, processFetch } from "./webFetch.js"
import { WholeResponse } from "./wholeResponse.js"

type ClientError = HttpClientError.HttpClientError

type PlatformResponse = HttpClientResponse.HttpClientResponse

/** Reports a failure of the body's stream. Otherwise, it would look as if the service can't be reached. */
const watched = (body: HttpBody.HttpBody, onFailure: () => void) => {
  if (body._tag !== "Stream") return body
  const failed = Effect.sync(onFailure)
  const stream = Stream.tapErrorCause(body.stream, (cause) => Cause.isInterruptedOnly(cause) ? Effect.void : failed)
  return HttpBody.stream(stream, body.contentType, body.contentLength)
}

/**
 * For these methods, node:http adds neither a content-length nor a transfer-encoding on its own. The service would take the body for another
 * request.
 */
const methodsWithoutFraming: ReadonlySet<string> = new Set(["DELETE", "OPTIONS"])

/** Adds the length only if it is needed: a wrapper that replaces the body, for example by a compressed one, would have to correct it. */
const withLength = (body: HttpBody.HttpBody, method: string) =>
  body._tag === "Raw" && ArrayBuffer.isView(body.body) && methodsWithoutFraming.has(method)
    ? HttpBody.raw(body.body, { contentType: body.contentType, contentLength: body.body.byteLength })
    : body

const requestOf = ({ body, headers, method, origin, path }: Request, onBodyFailure: () => void) => {
  const request = HttpClientRequest.make(method)(origin + path)
  const sent = withLength(watched(body, onBodyFailure), method)
  return HttpClientRequest.setHeaders(HttpClientRequest.setBody(request, sent), headers)
}

/** Reads chunk by chunk, and stops at the limit. */
const readStream = (stream: PlatformResponse["stream"], maxBytes: number) =>
  Effect.suspend(() => {
    const bytes = new BodyBytes()
    let isWhole = true
    return Effect.map(
      Stream.runForEachWhile(stream, (chunk) => Effect.sync(() => isWhole = bytes.add(chunk, maxBytes))),
      (): BufferedBody => ({ body: bytes.whole, isWhole })
    )
  })

const bytesIn = (response: PlatformResponse): Effect.Effect<Uint8Array, unknown> =>
  Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))

const readWhole = (response: PlatformResponse): Effect.Effect<BufferedBody, unknown> =>
  Effect.map(bytesIn(response), (body) => ({ body, isWhole: true }))

/** Whether the headers show that the body fits. It is then read whole: most clients take almost twice as long to stream it. */
const fits = ({ headers }: PlatformResponse, maxBytes: number) =>
  headers["content-encoding"] === undefined && /^\d+$/.test(headers["content-length"] ?? "") &&
  Number(headers["content-length"]) <= maxBytes

/** Returns the headers without content-encoding and content-length if fetch has decoded the body, since they describe the encoded one. */
const headersOf = (response: PlatformResponse, method: string, body: Uint8Array): BufferedResponse["headers"] => {
  const { headers, status } = response
  const all: BufferedResponse["headers"] = headers["set-cookie"] === undefined
    ? headers
    : { ...headers, "set-cookie": setCookiesOf(response) }
  const coding = headers["content-encoding"]
  const isCoded = coding !== undefined && method !== "HEAD" && !statusesWithoutBody.has(status)
  if (!isCoded || !isWebResponse(nativeOf(response)) || !isDecoded(coding, body)) return all
  const { "content-encoding": _coding, "content-length": _length, ...others } = all
  return others
}

const noBody: BufferedBody = { body: new Uint8Array(), isWhole: true }

const readUnread = (
  response: PlatformResponse,
  native: unknown,
  maxBytes: number
): Effect.Effect<BufferedBody, unknown> => {
  if (isWebResponse(native)) return readInterruptibly(() => chunksOfResponse(native), maxBytes)
  return fits(response, maxBytes) ? readWhole(response) : readStream(response.stream, maxBytes)
}

const textBytes = (response: PlatformResponse) => Effect.map(response.text, (text) => encoder.encode(text))

/** Reads a body that a wrapper has read. If nothing is kept, it is empty or reading it fails, depending on the client. */
const readAgain = (
  response: PlatformResponse,
  native: unknown,
  maxBytes: number,
  kept: "TextOrBytes" | "Text" | "Nothing"
): Effect.Effect<BufferedBody, unknown> => {
  const cut = (body: Uint8Array) => ({ body: body.subarray(0, maxBytes), isWhole: body.length <= maxBytes })
  switch (kept) {
    case "Text":
      return Effect.map(textBytes(response), cut)
    case "TextOrBytes":
      return Effect.catchAll(textBytes(response), () => bytesIn(response)).pipe(
        Effect.map(cut),
        Effect.catchAll(() => readUnread(response, native, maxBytes))
      )
    case "Nothing":
      return readStream(response.stream, maxBytes)
  }
}

const readBody = (response: PlatformResponse, maxBytes: number): Effect.Effect<BufferedBody, unknown> => {
  const native = nativeOf(response)
  // A FetchCall has applied the limit. The platform is asked for the body, so that it knows that the response has been read.
  if (native instanceof WholeResponse) return readWhole(response)
  const kept = keptOf(native)
  if (kept === undefined) return readUnread(response, native, maxBytes)
  const again = readAgain(response, native, maxBytes, kept)
  if (isOk(response.status)) return again
  // Without its body, the status of an error is still useful. A stream that is only partly read may never end.
  return kept === "Nothing" ? Effect.succeed(noBody) : Effect.catchAllCause(again, () => Effect.succeed(noBody))
}

/** Responses with these statuses have no body, whatever the client says: undici misses the body of a 304 that has a content-length. */
const readAnyBody = (response: PlatformResponse, maxBytes: number) =>
  statusesWithoutBody.has(response.status)
    ? Effect.orElseSucceed(readBody(response, maxBytes), () => noBody)
    : readBody(response, maxBytes)

const readResponse = (
  response: PlatformResponse,
  method: string,
  maxBytes: number
): Effect.Effect<BufferedResponse, unknown> =>
  Effect.map(readAnyBody(response, maxBytes), (buffered) => ({
    status: response.status,
    statusText: statusTextOf(response),
    headers: headersOf(response, method, buffered.body),
    ...buffered
  }))

/** Turns off the log line that Effect writes if a fiber fails, including the fibers of wrappers: a client's error contains the request. */
const disableErrorLog = FiberRef.set(FiberRef.unhandledErrorLogLevel, Option.none())

/**
 * Turns off the platform's spans, because they record the whole URL, and the trace headers of requests. Like `fetchSettings`, it applies just
 * before sending: a wrapper such as `withTracerDisabledWhen` would overrule an earlier setting.
 */
const disableTracing = FiberRef.set(FiberRef.currentTracerEnabled, false)

/**
 * Forbids redirects, and wraps the fetch that the client is about to use. The fetch client reads RequestInit and Fetch from its context.
 * `outside` is the context in which the client was called, without the services of the client's own layer.
 */
const fetchSettings = (fetchCall: FetchCall, outside: Context.Context<never>) =>
  FiberRef.update(FiberRef.currentContext, (context) => {
    const callerInit = Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit))
    const withInit = Context.add(context, FetchHttpClient.RequestInit, { ...callerInit, redirect: "manual" as const })
    const callerFetch = Context.getOption(context, FetchHttpClient.Fetch)
    // Under `HttpClient.transform`, the client adds the services of its layer only later. A Fetch that is set now would replace the layer's.
    const mayGetFetchLater = context === outside
    if (Option.isNone(callerFetch) && mayGetFetchLater) return withInit
    return Context.add(withInit, FetchHttpClient.Fetch, fetchCall.through(Option.getOrElse(callerFetch, processFetch)))
  })

/** A client with `filterStatusOk` fails on some status codes. Its error contains the response. */
const isStatusError = (error: ClientError): error is HttpClientError.ResponseError =>
  error._tag === "ResponseError" && error.reason === "StatusCode"

/**
 * Sends through any HttpClient, in its own fiber: its FiberRefs apply only to this request, and it can be aborted even if the caller is
 * uninterruptible.
 */
export const dispatchThrough =
  (httpClient: HttpClient.HttpClient) => (runtime: Runtime.Runtime<never>): Dispatch => (request, receiver) => {
    const abort = () => {
      fiber.unsafeInterruptAsFork(FiberId.none)
      fetchCall.cancel()
    }
    const fetchCall = new FetchCall(receiver, abort)
    const clientIn = (outside: Context.Context<never>) =>
      HttpClient.tapRequest(httpClient, () => Effect.zipRight(fetchSettings(fetchCall, outside), disableTracing))
    const received = disableErrorLog.pipe(
      Effect.zipRight(Effect.context<never>()),
      Effect.flatMap((outside) => clientIn(outside).execute(requestOf(request, () => receiver.onBodyFailure()))),
      Effect.catchIf(isStatusError, ({ response }) => Effect.succeed(response)),
      Effect.flatMap((response) => {
        fetchCall.status = response.status
        return readResponse(response, request.method, receiver.maxBytesOf(response.status))
      }),
      Effect.interruptible
    )
    const fiber = Runtime.runFork(runtime, received)
    fiber.addObserver((exit) => {
      if (Exit.isSuccess(exit)) return receiver.onResponse(exit.value)
      fetchCall.cancel()
      // The defect of a client that died is not used, because it may contain the request.
      receiver.onFailure(Option.getOrUndefined(Cause.failureOption(exit.cause)), fetchCall.status)
    })
    return () => {
      abort()
      return Effect.zipRight(Fiber.await(fiber), Effect.promise(() => fetchCall.ended()))
    }
  }
