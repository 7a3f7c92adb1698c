import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { classOf } from "../../internal/http/chunks.js"
import { statusesWithoutBody } from "../../internal/http/status.js"
import type { Reply, SimulatedResponse } from "../Simulator.js"

/** A response that ends the call. */
export type FinalResponse = Exclude<SimulatedResponse, "hang">

const nothing = new Uint8Array()

/** In the jsdom environments of Jest and Vitest, the bytes of a TextEncoder aren't an instance of the global Uint8Array. */
const isBytes = (body: unknown): body is Uint8Array<ArrayBuffer> => classOf(body) === "Uint8Array"

const bytesOf = (body: unknown): Uint8Array<ArrayBuffer> => {
  if (body === undefined) return nothing
  if (isBytes(body)) return body
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body))
}

const headersOf = ({ body, headers }: Reply): Record<string, string> => {
  const isJson = body !== undefined && typeof body !== "string" && !isBytes(body)
  return { ...(isJson ? { "content-type": "application/json" } : {}), ...headers }
}

/** One byte of JSON, "{", and then a broken connection. */
const cutShort = Stream.concat(Stream.make(new Uint8Array([123])), Stream.fail("the connection is dropped"))

const collected = (content: ConstructorParameters<typeof Response>[0]) =>
  Effect.promise(async () => new Uint8Array(await new Response(content).arrayBuffer()))

/** The bytes that an HttpClient in memory sends. */
export const sentBytes = (body: HttpBody.HttpBody): Effect.Effect<Uint8Array> => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed(nothing)
    case "Uint8Array":
      return Effect.succeed(body.body)
    case "FormData":
      return collected(body.formData)
    case "Stream":
      return collected(Stream.toReadableStream(body.stream))
    case "Raw":
      return collected(body.body as ConstructorParameters<typeof Response>[0])
  }
}

export const receivedBytes = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Uint8Array> =>
  request.method === "GET" || request.method === "HEAD"
    ? Effect.succeed(nothing)
    : Effect.map(Effect.orDie(request.arrayBuffer), (buffer) => new Uint8Array(buffer))

/** The response, as an HttpClient returns it. */
export const clientResponse = (
  request: HttpClientRequest.HttpClientRequest,
  response: FinalResponse
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.RequestError> => {
  if (response === "drop") return Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport" }))
  if (response === "cut-short") {
    return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(Stream.toReadableStream(cutShort))))
  }
  const body = statusesWithoutBody.has(response.status) ? null : bytesOf(response.body)
  const length = body === null ? {} : { "content-length": String(body.length) }
  const headers = { ...length, ...headersOf(response) }
  return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(body, { status: response.status, headers })))
}

/** The response, as an HttpServer sends it. */
export const serverResponse = (response: FinalResponse): HttpServerResponse.HttpServerResponse => {
  if (response === "drop" || response === "cut-short") {
    return HttpServerResponse.stream(cutShort, { headers: { connection: "close", "content-length": "2" } })
  }
  const { status } = response
  const headers = headersOf(response)
  if (statusesWithoutBody.has(response.status)) return HttpServerResponse.empty({ status, headers })
  return HttpServerResponse.uint8Array(bytesOf(response.body), {
    status,
    headers,
    contentType: headers["content-type"]
  })
}
