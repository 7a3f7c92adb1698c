import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Answer, Reply } from "./simulatorModel.js"

/** "hang" is no answer. */
export type Given = Exclude<Answer, "hang">

const encoder = new TextEncoder()

const nothing = new Uint8Array()

const bytesOf = (body: unknown): Uint8Array =>
  body === undefined
    ? nothing
    : body instanceof Uint8Array
    ? body
    : encoder.encode(typeof body === "string" ? body : JSON.stringify(body))

const headersOf = ({ body, headers }: Reply): Record<string, string> => {
  const isJson = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array)
  return { ...(isJson ? { "content-type": "application/json" } : {}), ...headers }
}

const bodiless = new Set([204, 205, 304])

const firstByte = new Uint8Array([123])

const brokenBody = () => {
  let pulls = 0
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      pulls += 1
      if (pulls === 1) controller.enqueue(firstByte)
      else controller.error(new Error("the connection is dropped"))
    }
  })
}

const cutShort = Stream.concat(Stream.make(firstByte), Stream.fail("the connection is dropped"))

/** The bytes that an HttpClient in memory sends. */
export const sentBytes = (body: HttpBody.HttpBody): Effect.Effect<Uint8Array> => {
  switch (body._tag) {
    case "Uint8Array":
      return Effect.succeed(body.body)
    case "Raw":
    case "FormData":
      return Effect.promise(async () => {
        const sent = new Response(
          (body._tag === "Raw" ? body.body : body.formData) as ConstructorParameters<typeof Response>[0]
        )
        return new Uint8Array(await sent.arrayBuffer())
      })
    case "Stream":
      return Effect.map(
        Effect.orDie(Stream.runCollect(body.stream)),
        (chunks) => Uint8Array.from([...chunks].flatMap((chunk) => [...chunk]))
      )
    default:
      return Effect.succeed(nothing)
  }
}

/** The bytes that a server was sent. */
export const receivedBytes = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Uint8Array> =>
  request.method === "GET" || request.method === "HEAD"
    ? Effect.succeed(nothing)
    : Effect.map(Effect.orDie(request.arrayBuffer), (buffer) => new Uint8Array(buffer))

/** An answer as an HttpClient gives it. */
export const clientResponse = (
  request: HttpClientRequest.HttpClientRequest,
  answer: Given
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.RequestError> => {
  if (answer === "drop") return Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport" }))
  if (answer === "cut-short") return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(brokenBody())))
  const body = bodiless.has(answer.status) ? null : bytesOf(answer.body) as Uint8Array<ArrayBuffer>
  const length = body === null ? {} : { "content-length": String(body.length) }
  return Effect.succeed(
    HttpClientResponse.fromWeb(
      request,
      new Response(body, { status: answer.status, headers: { ...length, ...headersOf(answer) } })
    )
  )
}

/** An answer as an HttpServer sends it. */
export const serverResponse = (answer: Given): HttpServerResponse.HttpServerResponse => {
  if (answer === "drop" || answer === "cut-short") {
    return HttpServerResponse.stream(cutShort, { headers: { connection: "close", "content-length": "2" } })
  }
  const headers = headersOf(answer)
  return bodiless.has(answer.status)
    ? HttpServerResponse.empty({ status: answer.status, headers })
    : HttpServerResponse.uint8Array(bytesOf(answer.body), {
      status: answer.status,
      headers: { "content-type": "application/octet-stream", ...headers },
      contentType: headers["content-type"] ?? "text/plain"
    })
}
