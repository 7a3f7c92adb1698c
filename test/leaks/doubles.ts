import type { HttpClientRequest } from "@effect/platform"
import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { Effect, Stream } from "effect"
import type { End } from "./outcomes.js"
import * as Replies from "./replies.js"

export type Place = "token call" | "search"

/** A client of someone's own that fails with the whole request in its hands. */
export interface Double {
  readonly title: string
  /** A TransportError where nothing is said of it. */
  readonly end?: End
  readonly fails: (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<
    HttpClientResponse.HttpClientResponse,
    HttpClientError.HttpClientError
  >
  /** Whether it fails while `execute` is called, before there is an effect. */
  readonly isEager?: boolean
}

const defect = (request: HttpClientRequest.HttpClientRequest) =>
  Object.assign(new Error(`${request.method} ${request.url} ${JSON.stringify({ ...request.headers })}`), { request })

export const diesOnInterruption: Double = {
  title: "dies when its time is up",
  end: { _tag: "TransportError", reason: "Timeout" },
  fails: (request) => Effect.onInterrupt(Effect.never, () => Effect.die(defect(request)))
}

export const doubles: ReadonlyArray<Double> = [
  {
    title: "dies",
    fails: (request) => Effect.die(defect(request))
  },
  ...[false, true].map((isEager): Double => ({
    title: isEager ? "throws before there is an effect" : "throws",
    isEager,
    fails: (request) => {
      throw defect(request)
    }
  })),
  {
    title: "fails",
    fails: (request) =>
      Effect.fail(
        new HttpClientError.RequestError({
          request,
          reason: "Transport",
          cause: defect(request),
          description: request.url
        })
      )
  },
  {
    title: "fails and dies at once",
    fails: (request) =>
      Effect.ensuring(
        Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport" })),
        Effect.die(defect(request))
      )
  },
  {
    title: "interrupts itself and dies",
    fails: (request) => Effect.ensuring(Effect.interrupt, Effect.die(defect(request)))
  },
  diesOnInterruption,
  {
    title: "dies in the body",
    fails: (request) =>
      Effect.succeed(Object.assign(
        Object.create(HttpClientResponse.fromWeb(request, new Response("{}"))) as HttpClientResponse.HttpClientResponse,
        { stream: Stream.die(defect(request)), arrayBuffer: Effect.die(defect(request)) }
      ))
  },
  {
    title: "fails in the body",
    end: { _tag: "TransportError", reason: "Aborted" },
    fails: (request) =>
      Effect.succeed(HttpClientResponse.fromWeb(
        request,
        new Response(
          new ReadableStream({
            pull: (controller) => controller.error(defect(request))
          })
        )
      ))
  }
]

const issued = (request: HttpClientRequest.HttpClientRequest) =>
  HttpClientResponse.fromWeb(request, new Response(Replies.tokenBody()))

/** Fails at the token call, or at the data call after a token was issued. */
export const clientOf = ({ fails, isEager }: Double, at: Place): HttpClient.HttpClient => {
  const answer: Double["fails"] = (request) =>
    at === "search" && request.url.includes("/v2/token-cache/") ? Effect.succeed(issued(request)) : fails(request)
  return isEager === true
    ? HttpClient.mapRequestInput(HttpClient.make(answer), (request) => {
      answer(request)
      return request
    })
    : HttpClient.make(answer)
}
