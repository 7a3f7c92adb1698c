import * as Cookies from "@effect/platform/Cookies"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { BodyBytes } from "./bodyBytes.js"
import type { SendFailure } from "./ending.js"
import { isSendable } from "./header.js"
import type { Request } from "./request.js"
import type { Received, Response } from "./response.js"

export type ClientError = HttpClientError.HttpClientError

/** The request as the platform has it. */
const requestOf = ({ body, headers, method, origin, path }: Request): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.make(method)(origin + path)
  const written = body._tag === "Empty" ? request : HttpClientRequest.setBody(request, body)
  return HttpClientRequest.setHeaders(written, headers)
}

const collect = (stream: Stream.Stream<Uint8Array, HttpClientError.ResponseError>, maxBytes: number) =>
  Effect.suspend(() => {
    const bytes = new BodyBytes()
    let isWhole = true
    return Effect.map(
      Stream.runForEachWhile(stream, (chunk) => Effect.sync(() => isWhole = bytes.add(chunk, maxBytes))),
      () => ({ body: bytes.whole, isWhole })
    )
  })

const hasNoBody = (error: HttpClientError.ResponseError) => error.reason === "EmptyBody"

/** A body that dies is cut off as one that fails is. */
const cutOff = (response: HttpClientResponse.HttpClientResponse, cause: unknown) =>
  new HttpClientError.ResponseError({ request: response.request, response, reason: "Decode", cause })

/** Buffers at once where the headers prove the size; reads piece by piece and stops at the limit where they do not. */
const read = (
  response: HttpClientResponse.HttpClientResponse,
  maxBytes: number
): Effect.Effect<Received, HttpClientError.ResponseError> => {
  const { headers, status } = response
  const { "content-encoding": encoding, "content-length": declared } = headers
  const isBounded = encoding === undefined && declared !== undefined && /^\d+$/.test(declared) &&
    Number(declared) <= maxBytes
  const withBody = ({ body, isWhole }: Pick<Received, "body" | "isWhole">): Received => ({
    status,
    headers,
    cookies: headers["set-cookie"] === undefined ? undefined : response.cookies,
    body,
    isWhole
  })
  const body = isBounded
    ? Effect.map(response.arrayBuffer, (buffer) => ({ body: new Uint8Array(buffer), isWhole: true }))
    : collect(response.stream, maxBytes)
  return body.pipe(
    Effect.catchIf(hasNoBody, () => Effect.succeed({ body: new Uint8Array(), isWhole: true })),
    Effect.catchAllDefect((cause) => cutOff(response, cause)),
    Effect.map(withBody)
  )
}

export const failureIn = (error: HttpClientError.HttpClientError): SendFailure =>
  error._tag === "ResponseError" ? { cause: error, status: error.response.status } : { cause: error }

/** Redirects of the fetch layer; its other settings stay. */
const withoutRedirects = Effect.updateFiberRefs((fiberId, refs) => {
  const context = FiberRefs.getOrDefault(refs, FiberRef.currentContext)
  const given = Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit))
  const value = Context.add(context, FetchHttpClient.RequestInit, { ...given, redirect: "manual" })
  return FiberRefs.updateAs(refs, { fiberId, fiberRef: FiberRef.currentContext, value })
})

/** The platform's own spans (they record the whole URL), trace headers to the service, and the log line of a failed body stream's fiber. */
const withoutTraces = Effect.updateFiberRefs((fiberId, refs) =>
  FiberRefs.updateManyAs(refs, {
    entries: [
      [HttpClient.currentTracerDisabledWhen, [[fiberId, constTrue]]],
      [HttpClient.currentTracerPropagation, [[fiberId, false]]],
      [FiberRef.unhandledErrorLogLevel, [[fiberId, Option.none()]]]
    ]
  })
)

const { execute: ownExecute } = HttpClient.makeWith<never, never, never, never>(
  Effect.zipRight(Effect.never),
  Effect.succeed
)

/** Not one with an `execute` of the user's, which would be gone around. */
const isMadeByPlatform = ({ execute }: HttpClient.HttpClient) => String(execute) === String(ownExecute)

/** A client that takes some statuses for errors, as one with `filterStatusOk`, has the answer all the same. */
const isAnswer = (error: ClientError): error is HttpClientError.ResponseError =>
  error._tag === "ResponseError" && error.reason === "StatusCode"

/**
 * Sends a request in the fiber that runs this, which has to be one of its own: for good, nothing in it carries a secret elsewhere.
 * The settings of a fetch client's own layer are seen only from within it, just before the request is sent.
 */
export const executeOf = (given: HttpClient.HttpClient) => {
  const isMade = isMadeByPlatform(given)
  const client = isMade
    ? HttpClient.mapRequestEffect(given, (request) => Effect.as(withoutRedirects, request))
    : given
  return (request: Request, maxBytesOf: (status: number) => number): Effect.Effect<Received, ClientError> =>
    (isMade ? withoutTraces : Effect.zipRight(withoutTraces, withoutRedirects)).pipe(
      Effect.flatMap(() => client.execute(requestOf(request))),
      Effect.catchIf(isAnswer, ({ response }) => Effect.succeed(response)),
      Effect.flatMap((response) => read(response, maxBytesOf(response.status)))
    )
}

const withoutBody = new Set([204, 205])

/** The response as the platform has it, with headers and cookies as the client shows them: a web Response would merge or drop fields that came more than once. */
export const responseOf = (
  request: HttpClientRequest.HttpClientRequest,
  { body, cookies, headers, status }: Response
): HttpClientResponse.HttpClientResponse => {
  const shown = Headers.fromInput(Object.entries(Headers.fromInput(headers)).filter(isSendable))
  const response = new globalThis.Response(withoutBody.has(status) ? null : body as Uint8Array<ArrayBuffer>, {
    status,
    headers: shown
  })
  return Object.defineProperties(HttpClientResponse.fromWeb(request, response), {
    headers: { value: shown },
    cookies: { value: cookies ?? Cookies.fromSetCookie(headers["set-cookie"] ?? []) }
  })
}
