import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
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
import type { Dispatch } from "../dispatch.js"
import type { OutgoingRequest } from "../messages.js"
import { readResponse } from "./readResponse.js"
import { FetchCall, processFetch } from "./webFetch.js"

type ClientError = HttpClientError.HttpClientError

/** Reports a failure of the body's stream. Otherwise, it would look as if the service can't be reached. */
const withFailureReport = (body: HttpBody.HttpBody, onFailure: () => void) => {
  if (body._tag !== "Stream") return body
  const failed = Effect.sync(onFailure)
  const stream = Stream.tapErrorCause(body.stream, (cause) => Cause.isInterruptedOnly(cause) ? Effect.void : failed)
  return HttpBody.stream(stream, body.contentType, body.contentLength)
}

/** With these methods, node:http doesn't frame a body on its own, and the service would take it for another request. */
const methodsWithoutFraming: ReadonlySet<string> = new Set(["DELETE", "OPTIONS"])

/** Adds the length only if it is needed: a wrapper that compresses the body would have to correct it. */
const withLength = (body: HttpBody.HttpBody, method: string) =>
  body._tag === "Raw" && ArrayBuffer.isView(body.body) && methodsWithoutFraming.has(method)
    ? HttpBody.raw(body.body, { contentType: body.contentType, contentLength: body.body.byteLength })
    : body

const requestOf = ({ body, headers, method, origin, path }: OutgoingRequest, onBodyFailure: () => void) => {
  const request = HttpClientRequest.make(method)(origin + path)
  const sent = withLength(withFailureReport(body, onBodyFailure), method)
  return HttpClientRequest.setHeaders(HttpClientRequest.setBody(request, sent), headers)
}

/** Turns off the log line for a fiber that fails, here or in a wrapper: a client's error contains the request. */
const disableErrorLog = FiberRef.set(FiberRef.unhandledErrorLogLevel, Option.none())

/**
 * Turns off the platform's spans, which record the whole URL, and its trace headers. Like `fetchSettings`, it applies just before sending: a
 * wrapper such as `withTracerDisabledWhen` would overrule an earlier setting.
 */
const disableTracing = FiberRef.set(FiberRef.currentTracerEnabled, false)

/**
 * Forbids redirects, and wraps the fetch that the client is about to use: the fetch client reads both from its context. `outside` is the
 * context in which the client was called, without the services of its own layer.
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
  (httpClient: HttpClient.HttpClient, runtime: Runtime.Runtime<never>): Dispatch => (request, receiver) => {
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
      Effect.flatMap((response) => readResponse(response, request.method, (head) => receiver.onHead(head))),
      Effect.interruptible
    )
    const fiber = Runtime.runFork(runtime, received)
    fiber.addObserver((exit) => {
      if (Exit.isSuccess(exit)) return receiver.onResponse(exit.value)
      fetchCall.cancel()
      // This may be a defect: the client of node:http dies if a header is invalid.
      receiver.onFailure(Cause.squash(exit.cause))
    })
    return () => {
      abort()
      return Effect.zipRight(Fiber.await(fiber), Effect.promise(() => fetchCall.ended()))
    }
  }
