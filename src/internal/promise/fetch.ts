/** The calls of web fetch, over the httpClient of a NutritionAdvisor. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { NutritionAdvisor } from "../../NutritionAdvisor.js"
import { BadRequest } from "../../NutritionAdvisorError.js"
import { type Chunks, chunksOf, isAsyncIterable, isStream } from "../http/chunks.js"
import { isDropped } from "../http/header.js"
import { setCookiesOf, statusTextOf, urlOf } from "../http/platform/nativeResponse.js"
import { statusesWithoutBody } from "../http/status.js"
import * as Upload from "../http/upload.js"
import { hasMethod } from "../runtime/hasMethod.js"

const badRequest = (detail: string) => new BadRequest({ operation: "request", detail })

/** Headers would reject a pseudo-header, and turn undefined into text. */
const headerPairs = (headers: NonNullable<RequestInit["headers"]>) =>
  (Symbol.iterator in headers ? Array.from(headers) : Object.entries(headers))
    .flatMap(([name = "", value]): Array<[string, string]> => isDropped([name, value]) ? [] : [[name, String(value)]])

/** The options of fetch that are used. They are read by their names, because a web Request has them as getters of its prototype. */
type Init = Pick<RequestInit, "body" | "headers" | "method">

/** Checks the path, and normalizes method and headers with a web Request. A caller in JavaScript may pass any path. */
const webRequestOf = (path: unknown, { headers = {}, method = "GET" }: Init): Either.Either<Request, BadRequest> => {
  if (typeof path !== "string" && !URL.canParse(String(path))) {
    return Either.left(badRequest("its path is not a string; pass a web Request as fetch(request.url, request)"))
  }
  if (typeof Request === "undefined" || typeof Response === "undefined") {
    return Either.left(badRequest("this process has no Request and Response: use search or httpClient, or define both"))
  }
  return Either.try({
    try: () => new Request("http://localhost", { headers: headerPairs(headers), method: method.toUpperCase() }),
    catch: () => badRequest("its method or a header is not valid")
  })
}

type OnError = (error: unknown) => void

/** Reports what the caller's own body stream throws, because the promise rejects with it. */
const streamReporting = (chunks: Chunks, onError: OnError) =>
  new ReadableStream<unknown>({
    pull: async (controller) => {
      const next = await chunks.next().catch((error: unknown) => {
        onError(error)
        throw error
      })
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    cancel: chunks.cancel
  }, { highWaterMark: 0 })

/** Converts a body as fetch does. The client reads streams itself, within its timeout. */
const bodyOf = (content: unknown, contentType: string | undefined, onError: OnError) => {
  if (Upload.isBlob(content) || Upload.isForm(content)) return HttpBody.raw(content, { contentType })
  if (isStream(content)) return HttpBody.raw(streamReporting(chunksOf(content), onError), { contentType })
  const { bytes, contentType: usual } = Upload.fromMemory(content) ?? Upload.fromString(String(content))
  return HttpBody.raw(bytes, { contentType: contentType ?? usual })
}

const requestOf = (path: string, { headers, method }: Request, content: unknown, onBodyError: OnError) =>
  Effect.suspend(() => {
    const isEmpty = content === undefined || content === null
    if (!isEmpty && (method === "GET" || method === "HEAD")) {
      return badRequest(`a ${method} request can't have a body`)
    }
    // An old-style Node stream, such as a form from the form-data package. fetch would send "[object FormData]".
    if (hasMethod(content, "pipe") && !isAsyncIterable(content)) {
      return badRequest("its body is a stream without an iterator; pass a FormData instead of a form from form-data")
    }
    return Effect.succeed(
      HttpClientRequest.make(method as HttpMethod)(path, {
        headers: [...headers],
        // An empty HttpBody would remove the content type, which native fetch sends even without a body.
        body: isEmpty ? undefined : bodyOf(content, headers.get("content-type") ?? undefined, onBodyError)
      })
    )
  })

/** The constructor of Response can't set `url`, so neither a new response nor its clone has one. */
const withUrl = (response: Response, url: string): Response =>
  Object.defineProperties(response, {
    url: { value: url },
    clone: { value: () => withUrl(Response.prototype.clone.call(response), url) }
  })

const responseOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.arrayBuffer, (body) => {
    const headers = new Headers(response.headers)
    headers.delete("set-cookie")
    for (const cookie of setCookiesOf(response)) headers.append("set-cookie", cookie)
    const init = { status: response.status, statusText: statusTextOf(response), headers }
    // Some clients keep a body that the status doesn't allow, and the constructor of Response would throw.
    const isEmpty = body.byteLength === 0 || statusesWithoutBody.has(response.status)
    return withUrl(new Response(isEmpty ? null : body, init), urlOf(response))
  })

/**
 * Like fetch, with a path relative to the base URL. It reads the options immediately, because the call may wait for the client or for a
 * token, and the caller may use the same objects for the next call.
 */
export const fetchPath = (path: string, init: Init) => {
  const checked = webRequestOf(path, init)
  const content = Upload.copyOfBody(init.body)
  let bodyError = Option.none<unknown>()
  const onBodyError = (error: unknown) => {
    bodyError = Option.some(error)
  }
  return Effect.flatMap(
    NutritionAdvisor,
    ({ httpClient }) =>
      Effect.flatMap(checked, (webRequest) => requestOf(path, webRequest, content, onBodyError)).pipe(
        Effect.flatMap(httpClient.execute),
        Effect.flatMap(responseOf),
        Effect.mapError((error) => Option.getOrElse(bodyError, () => error))
      )
  )
}
