import * as Cookies from "@effect/platform/Cookies"
import * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import { BadRequest, type NutritionAdvisorError, TransportError } from "../../NutritionAdvisorError.js"

const notSent = (detail: string) => new BadRequest({ operation: "request", detail })

/** The body is read first, so that it can be sent again. What a web Request throws may repeat a header. */
const requestOf = (path: string, init: RequestInit = {}) =>
  Effect.gen(function*() {
    const { body = null, headers, method = "GET", redirect = "manual" } = init
    if (redirect !== "manual") return yield* notSent("redirects are never followed: redirect can only be \"manual\"")
    return yield* Effect.tryPromise({
      try: async () => {
        const request = new Request("http://localhost", {
          body,
          headers: headers ?? {},
          method: method.toUpperCase(),
          duplex: "half"
        })
        const bytes = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
        const contentType = request.headers.get("content-type") ?? undefined
        return HttpClientRequest.make(request.method as HttpMethod)(String(path), {
          headers: [...request.headers],
          body: bytes === undefined ? HttpBody.empty : HttpBody.raw(bytes, { contentType })
        })
      },
      catch: () => notSent("it has a method, a header or a body that a web Request does not take")
    })
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

/** Sends what a web Request holds, and gives the whole response as a web Response. */
export const send = (client: HttpClient.HttpClient.With<NutritionAdvisorError>, path: string, init?: RequestInit) =>
  requestOf(path, init).pipe(Effect.flatMap(client.execute), Effect.flatMap(responseOf))
