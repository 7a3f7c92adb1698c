import * as Cookies from "@effect/platform/Cookies"
import * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { BadRequest, type NutritionAdvisorError, TransportError } from "../../NutritionAdvisorError.js"

const notSent = (detail: string) => new BadRequest({ operation: "request", detail })

const notTaken = () => notSent("it has a method, a header or a body that a web Request does not take")

/** The web Request as it is at the call. What it throws may repeat a header. */
const webRequestOf = ({ body = null, headers, method = "GET", redirect = "manual" }: RequestInit) =>
  redirect === "manual"
    ? Either.try({
      try: () => {
        const init = { body, headers: headers ?? {}, method: method.toUpperCase(), duplex: "half" } as const
        return {
          request: new Request("http://localhost", init),
          isStream: Predicate.hasProperty(body, Symbol.asyncIterator)
        }
      },
      catch: notTaken
    })
    : Either.left(notSent("redirects are never followed: redirect can only be \"manual\""))

/** A stream may never end: it is canceled where the caller leaves. */
const bytesOf = async (request: Request, isStream: boolean, signal: AbortSignal) => {
  const source = isStream && request.body !== null
    ? new Response(request.body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal }))
    : request
  return new Uint8Array(await source.arrayBuffer())
}

/** The body is read first, so that it can be sent again. */
const requestOf = (path: string, { isStream, request }: { readonly request: Request; readonly isStream: boolean }) =>
  Effect.tryPromise({
    try: async (signal) => {
      const contentType = request.headers.get("content-type") ?? undefined
      return HttpClientRequest.make(request.method as HttpMethod)(String(path), {
        headers: [...request.headers],
        body: request.body === null
          ? HttpBody.empty
          : HttpBody.raw(await bytesOf(request, isStream, signal), { contentType })
      })
    },
    catch: notTaken
  })

const withoutBody = new Set([204, 205, 304])

/** The whole response, of a client that may be a double. */
const responseOf = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<Response, TransportError> =>
  Effect.map(
    Effect.mapError(response.arrayBuffer, () => new TransportError({ operation: "request", reason: "Connection" })),
    (body) => {
      const { cookies, headers, status } = response
      const shown = new Headers(headers)
      shown.delete("set-cookie")
      for (const cookie of Cookies.toSetCookieHeaders(cookies)) shown.append("set-cookie", cookie)
      return new Response(withoutBody.has(status) ? null : body, { status, headers: shown })
    }
  )

/** Reads what a web Request would hold now, and sends it later. Gives the whole response as a web Response. */
export const read = (path: string, init: RequestInit | null | undefined) => {
  const made = webRequestOf(init ?? {})
  return ({ httpClient }: { readonly httpClient: HttpClient.HttpClient.With<NutritionAdvisorError> }) =>
    Either.match(made, { onLeft: Effect.fail, onRight: (made) => requestOf(path, made) }).pipe(
      Effect.flatMap(httpClient.execute),
      Effect.flatMap(responseOf)
    )
}
