/** The calls of web fetch over an HttpClient. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BadRequest, ConfigurationError, type NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import { withoutBody } from "../http/platform.js"
import { hasFetch } from "../http/processFetch.js"
import { setCookiesOf, statusTextOf, urlOf } from "../http/source.js"
import * as Upload from "../http/upload.js"
import { type Chunks, chunksOf } from "../http/webBody.js"

/** The fetch of the process, which may have none. */
export const fetchLayer: Layer.Layer<HttpClient.HttpClient, ConfigurationError> = Layer.unwrapEffect(
  Effect.suspend(() =>
    hasFetch() ? Effect.succeed(FetchHttpClient.layer) : new ConfigurationError({
      field: "httpClient",
      rule: "is needed, since this process has no fetch: set it to UndiciClient.layer(), for example"
    })
  )
)

const notSent = (detail: string) => new BadRequest({ operation: "request", detail })

/** Headers of HTTP/2 hold method and path as well, under names that Headers does not take. */
const withoutPseudoHeaders = (headers: NonNullable<RequestInit["headers"]>) =>
  (Symbol.iterator in headers ? Array.from(headers) : Object.entries(headers))
    .flatMap(([name = "", value]): Array<[string, string]> => name.startsWith(":") ? [] : [[name, String(value)]])

/** Method and headers as a web Request has them. */
const headOf = ({ headers = {}, method = "GET" }: RequestInit) =>
  typeof Request === "undefined" || typeof Response === "undefined"
    ? notSent("this process has no Request and Response: use search or httpClient, or define both")
    : Effect.try({
      try: () =>
        new Request("http://localhost", { headers: withoutPseudoHeaders(headers), method: method.toUpperCase() }),
      catch: () => notSent("no web Request takes its method or its headers")
    })

/** What the source of a body throws, which is the caller's own: the promise rejects with it. */
interface Failure {
  thrown?: { readonly error: unknown }
}

const noting = (chunks: Chunks, failure: Failure) =>
  new ReadableStream<unknown>({
    pull: async (controller) => {
      const next = await chunks.next().catch((error: unknown) => {
        failure.thrown = { error }
        throw error
      })
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    cancel: chunks.cancel
  }, { highWaterMark: 0 })

/** The body as fetch would send it. One that has to be read is read by the client, within its timeout. */
const bodyOf = (content: unknown, contentType: string | undefined, failure: Failure) => {
  if (Upload.isBlob(content) || Upload.isForm(content)) return HttpBody.raw(content, { contentType })
  const chunks = chunksOf(content)
  if (chunks !== undefined) return HttpBody.raw(noting(chunks, failure), { contentType })
  const { bytes, contentType: usual } = Upload.inMemory(content) ?? Upload.fromString(String(content))
  return HttpBody.raw(bytes, { contentType: contentType ?? usual })
}

const requestOf = (path: string, init: RequestInit, failure: Failure) =>
  Effect.gen(function*() {
    const { headers, method } = yield* headOf(init)
    const { body } = init
    const isEmpty = body === undefined || body === null
    if (!isEmpty && (method === "GET" || method === "HEAD")) return yield* notSent(`${method} has no body`)
    return HttpClientRequest.make(method as HttpMethod)(path, {
      headers: [...headers],
      body: isEmpty ? HttpBody.empty : bodyOf(body, headers.get("content-type") ?? undefined, failure)
    })
  })

/** A Response that the process makes has no `url`, nor has its clone. */
const withUrl = (response: Response, url: string): Response =>
  Object.defineProperties(response, {
    url: { value: url },
    clone: { value: () => withUrl(Response.prototype.clone.call(response), url) }
  })

/** A whole response of the platform as fetch would give it. */
const responseOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.arrayBuffer, (body) => {
    const headers = new Headers(response.headers)
    headers.delete("set-cookie")
    for (const cookie of setCookiesOf(response)) headers.append("set-cookie", cookie)
    const init = { status: response.status, statusText: statusTextOf(response), headers }
    // Not every client drops the body that such a response may not have, and Response throws at one.
    const isEmpty = body.byteLength === 0 || withoutBody.has(response.status)
    return withUrl(new Response(isEmpty ? null : body, init), urlOf(response))
  })

/** What fetch does, below the base URL. */
export const fetchThrough = (
  { execute }: HttpClient.HttpClient.With<NutritionAdvisorError>,
  path: string,
  init: RequestInit = {}
) =>
  Effect.suspend(() => {
    const failure: Failure = {}
    return requestOf(path, init, failure).pipe(
      Effect.flatMap(execute),
      Effect.flatMap(responseOf),
      Effect.mapError((error) => failure.thrown === undefined ? error : failure.thrown.error)
    )
  })
