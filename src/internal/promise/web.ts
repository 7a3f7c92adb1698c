import * as Cookies from "@effect/platform/Cookies"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import { BadRequest, TransportError } from "../../NutritionAdvisorError.js"

const notSent = (detail: string) => new BadRequest({ operation: "request", detail })

/** The body is read first, so that it can be sent again. What a web Request throws may repeat a header. */
export const requestOf = (path: string, init: RequestInit = {}) =>
  Effect.gen(function*() {
    const { body = null, headers, method = "GET", redirect = "manual" } = init
    if (redirect !== "manual") return yield* notSent("redirects are never followed: redirect can only be \"manual\"")
    const written = yield* Effect.tryPromise({
      try: async () => {
        const request = new Request("http://localhost", {
          body,
          headers: headers ?? {},
          method: method.toUpperCase(),
          duplex: "half"
        })
        const bytes = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
        const contentType = request.headers.get("content-type") ?? undefined
        return { method: request.method, headers: [...request.headers], contentType, bytes, url: String(path) }
      },
      catch: () => notSent("it has a method, a header or a body that a web Request does not take")
    })
    return HttpClientRequest.make(written.method as HttpMethod)(written.url, {
      headers: written.headers,
      body: written.bytes === undefined
        ? HttpBody.empty
        : HttpBody.raw(written.bytes, { contentType: written.contentType })
    })
  })

const withoutBody = new Set([204, 205, 304])

/** The whole response, of a client that may be a double. */
export const responseOf = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<Response, TransportError> =>
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
