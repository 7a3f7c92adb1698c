import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as Undici from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import { type Dispatch, withDispatch } from "../http/dispatch.js"
import type { BufferedRequest } from "../http/messages.js"
import { toSendable } from "../http/upload.js"
import { BufferedHandler } from "./handler.js"

/** Turns off undici's redirect interceptor, which would send the headers to the new location. */
const withoutRedirects = { maxRedirections: 0 }

/** Restores the Agent's timeouts. On each request, the platform's client sets an hour for the headers, and no timeout for the body. */
const timeoutsOfDispatcher = { headersTimeout: null, bodyTimeout: null }

const contentOf = (body: BufferedRequest["body"]) => body._tag === "Empty" ? null : body.body as Uint8Array

/** Returns a copy, because interceptors may change the headers. The headers override the content type of the body. */
const headersOf = ({ body, headers }: BufferedRequest) =>
  body._tag === "Empty" || body.contentType === undefined
    ? { ...headers }
    : { "content-type": body.contentType, ...headers }

const dispatchOver = (dispatcher: Undici.Dispatcher): Dispatch<BufferedRequest> => (request, receiver) => {
  const handler = new BufferedHandler(receiver)
  try {
    const { body, method, origin, path } = request
    const headers = headersOf(request)
    // The spread comes last, because V8 creates the object much faster than if it came first.
    dispatcher.dispatch({ origin, path, method, headers, body: contentOf(body), ...withoutRedirects }, handler)
  } catch (cause) {
    handler.onResponseError(undefined, cause)
  }
  return () => {
    handler.cancel()
    return Effect.void
  }
}

const requestError = (request: HttpClientRequest.HttpClientRequest) => (cause: unknown) =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause })

let loading: Promise<typeof NodeHttpClient> | undefined

/** The platform's own client, for requests that can't use the fast path. It is loaded when the first such request is sent. */
const platformClientOf = (dispatcher: Undici.Dispatcher) => {
  const configured = dispatcher.compose((dispatch) => (options, handler) =>
    dispatch({ ...options, ...withoutRedirects, ...timeoutsOfDispatcher }, handler)
  )
  return (request: HttpClientRequest.HttpClientRequest) =>
    Effect.tryPromise({
      try: async () => {
        const { makeUndici } = await (loading ??= import("@effect/platform-node/NodeHttpClient"))
        return makeUndici(configured)
      },
      catch: requestError(request)
    })
}

/** Creates a client on a dispatcher. `http/send` passes buffered requests to `dispatchOver`. All others use the platform's client. */
export const make = (dispatcher: Undici.Dispatcher): HttpClient.HttpClient => {
  const loadPlatformClient = platformClientOf(dispatcher)
  const execute = (request: HttpClientRequest.HttpClientRequest) =>
    Effect.gen(function*() {
      const client = yield* loadPlatformClient(request)
      // undici doesn't recognize the global FormData, and doesn't encode URLSearchParams.
      const body = yield* toSendable(request.body, Effect.mapError(requestError(request)))
      // The request's headers override the headers of its body. They are a copy, because interceptors may change them.
      const copied = HttpClientRequest.setHeaders(HttpClientRequest.setBody(request, body), request.headers)
      return yield* client.execute(copied)
    })
  const client = HttpClient.makeWith<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap(execute),
    Effect.succeed
  )
  return withDispatch(client, dispatchOver(dispatcher))
}
