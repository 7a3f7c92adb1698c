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
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { BodyBytes } from "./bodyBytes.js"
import type { BufferedResponse, Request, SendFailure } from "./bufferedSend.js"
import { isSendable } from "./header.js"
import type { ResponseData } from "./response.js"

/** The request as the platform has it. */
export const requestOf = ({ body, headers, method, origin, path }: Request): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.make(method)(origin + path)
  const written = body._tag === "Empty" ? request : HttpClientRequest.setBody(request, body)
  return HttpClientRequest.setHeaders(written, headers)
}

const nothing = new Uint8Array()

const collect = (stream: Stream.Stream<Uint8Array, HttpClientError.ResponseError>, maxBytes: number) =>
  Effect.suspend(() => {
    let bytes: BodyBytes | undefined
    let isWhole = true
    return Effect.map(
      Stream.runForEachWhile(stream, (chunk) =>
        Effect.sync(() => {
          const room = maxBytes - (bytes?.length ?? 0)
          isWhole = chunk.length <= room
          const kept = isWhole ? chunk : chunk.subarray(0, room)
          if (bytes === undefined) bytes = new BodyBytes(kept)
          else bytes.add(kept)
          return isWhole
        })),
      () => ({ body: bytes?.whole ?? nothing, isWhole })
    )
  })

const hasNoBody = (error: HttpClientError.ResponseError) => error.reason === "EmptyBody"

/** A body that dies is cut off as one that fails is. */
const cutOff = (response: HttpClientResponse.HttpClientResponse, cause: unknown) =>
  new HttpClientError.ResponseError({ request: response.request, response, reason: "Decode", cause })

/** Buffers at once where the headers prove the size; reads piece by piece and stops at the limit where they do not. */
export const read = (
  response: HttpClientResponse.HttpClientResponse,
  maxBytes: number
): Effect.Effect<BufferedResponse, HttpClientError.ResponseError> => {
  const { headers, status } = response
  const { "content-encoding": encoding, "content-length": declared } = headers
  const isBounded = encoding === undefined && declared !== undefined && /^\d+$/.test(declared) &&
    Number(declared) <= maxBytes
  const withBody = ({ body, isWhole }: Pick<BufferedResponse, "body" | "isWhole">): BufferedResponse => ({
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
    Effect.catchIf(hasNoBody, () => Effect.succeed({ body: nothing, isWhole: true })),
    Effect.catchAllDefect((cause) => cutOff(response, cause)),
    Effect.map(withBody)
  )
}

export const failureIn = (error: HttpClientError.HttpClientError): SendFailure =>
  error._tag === "ResponseError" ? { cause: error, status: error.response.status } : { cause: error }

/** FetchHttpClient's settings in the context that its requests see: that of its layer's build, under that of the call. */
const requestInitIn = (context: Context.Context<never>): RequestInit =>
  Option.getOrElse(Context.getOption(context, FetchHttpClient.RequestInit), () => ({}))

/**
 * What is off for our requests, since it would carry a secret elsewhere: the platform's own spans (they record the whole URL),
 * trace headers to the service, redirects of the fetch layer, and the log line of a failed body stream's fiber.
 */
export const withoutLeaks = (requestInit: RequestInit) =>
  Effect.updateFiberRefs((fiberId, refs) =>
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
            { ...requestInit, redirect: "manual" }
          )
        ]]]
      ]
    })
  )

interface Processed {
  readonly postprocess: (request: Effect.Effect<never>) => Effect.Effect<unknown, unknown>
}

const isProcessed = (client: object): client is Processed =>
  Predicate.hasProperty(client, "postprocess") && typeof client.postprocess === "function"

/**
 * The fetch settings that a request of this client meets. Those of the client's own layer are seen only from inside it, and would be
 * hidden by ours: so a request that is interrupted before there is one looks at them, once.
 */
export const requestInitOf = (client: HttpClient.HttpClient): Effect.Effect<RequestInit> => {
  let ofLayer: RequestInit | undefined
  const seen = Effect.contextWithEffect((context: Context.Context<never>) => {
    ofLayer ??= requestInitIn(context)
    return Effect.interrupt
  })
  const look = isProcessed(client)
    ? Effect.exit(Effect.suspend(() => client.postprocess(seen)))
    : Effect.void
  const outside = Effect.locally(look, FiberRef.currentContext, Context.empty())
  return Effect.suspend(() =>
    Effect.zipWith(
      ofLayer === undefined ? outside : Effect.void,
      Effect.context<never>(),
      (_, context) => ({ ...(ofLayer ??= {}), ...requestInitIn(context) })
    )
  )
}

const withoutBody = new Set([204, 205])

/** The response as the platform has it, with headers and cookies as the client shows them: a web Response would merge or drop fields that came more than once. */
export const responseOf = (
  request: HttpClientRequest.HttpClientRequest,
  { body, cookies, headers, status }: ResponseData
): HttpClientResponse.HttpClientResponse => {
  const shown = Headers.fromInput(Object.entries(Headers.fromInput(headers)).filter(isSendable))
  const response = new Response(withoutBody.has(status) ? null : body as Uint8Array<ArrayBuffer>, {
    status,
    headers: shown
  })
  return Object.defineProperties(HttpClientResponse.fromWeb(request, response), {
    headers: { value: shown },
    cookies: { value: cookies ?? Cookies.fromSetCookie(headers["set-cookie"] ?? []) }
  })
}
