import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import { NutritionAdvisor } from "../../NutritionAdvisor.js"
import { BadRequest } from "../../NutritionAdvisorError.js"
import { setCookiesOf } from "../http/setCookies.js"

/** The body is read first, so that it can be sent again. */
const requestOf = async (path: string, { body = null, headers = {}, method = "GET" }: RequestInit) => {
  const init = { body, headers, method: method.toUpperCase(), duplex: "half" } as const
  const request = new Request("http://localhost", init)
  const contentType = request.headers.get("content-type") ?? undefined
  const bytes = new Uint8Array(await request.arrayBuffer())
  return HttpClientRequest.make(request.method as HttpMethod)(path, {
    headers: [...request.headers],
    body: request.body === null ? HttpBody.empty : HttpBody.raw(bytes, { contentType })
  })
}

const refused = () =>
  new BadRequest({ operation: "request", detail: "no web Request takes its method, header or body" })

/** Sends what a web fetch would, and gives the whole response as a web Response. */
export const send = (path: string, init: RequestInit = {}) =>
  Effect.gen(function*() {
    const { httpClient } = yield* NutritionAdvisor
    const request = yield* Effect.tryPromise({ try: () => requestOf(path, init), catch: refused })
    const response = yield* httpClient.execute(request)
    const body = yield* response.arrayBuffer
    const headers = new Headers(response.headers)
    headers.delete("set-cookie")
    for (const cookie of setCookiesOf(response)) headers.append("set-cookie", cookie)
    return new Response(body.byteLength === 0 ? null : body, { status: response.status, headers })
  })
