import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import { BadRequest } from "../../NutritionAdvisorError.js"
import { setCookiesOf } from "../http/source.js"

/** What fetch would send, as the platform has it. The body is read first, so that it can be sent again. */
export const requestOf = (path: string, { body = null, headers = {}, method = "GET" }: RequestInit = {}) =>
  Effect.gen(function*() {
    const init = { body, headers, method: method.toUpperCase(), duplex: "half" } as const
    const request = yield* Effect.try({
      try: () => new Request("http://localhost", init),
      catch: () => new BadRequest({ operation: "request", detail: "no web Request takes its method, header or body" })
    })
    const contentType = request.headers.get("content-type") ?? undefined
    return HttpClientRequest.make(request.method as HttpMethod)(path, {
      headers: [...request.headers],
      body: request.body === null
        ? HttpBody.empty
        : HttpBody.raw(new Uint8Array(yield* Effect.promise(() => request.arrayBuffer())), { contentType })
    })
  })

/** A whole response of the platform as fetch would give it. */
export const responseOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.arrayBuffer, (body) => {
    const headers = new Headers(response.headers)
    headers.delete("set-cookie")
    for (const cookie of setCookiesOf(response)) headers.append("set-cookie", cookie)
    return new Response(body.byteLength === 0 ? null : body, { status: response.status, headers })
  })
