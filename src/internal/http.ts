import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import {
  BadRequest,
  type Operation,
  ServerError,
  TooManyRequests,
  TransportError,
  UnexpectedResponse
} from "../NutritionAdvisorError.js"
import { scrub } from "./scrub.js"

/**
 * The client with everything off that would carry a secret elsewhere: the platform's own spans (they record the whole URL),
 * trace headers to the service, redirects of the fetch layer, and the log line of a failed body stream's fiber.
 */
export const quiet = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  client.pipe(
    HttpClient.withTracerDisabledWhen(constTrue),
    HttpClient.withTracerPropagation(false),
    HttpClient.transformResponse(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }))
  )

export interface Answer {
  readonly status: number
  readonly headers: Headers.Headers
  readonly body: Uint8Array
}

export interface Limits {
  readonly operation: Operation
  readonly timeout: Duration.Duration
  readonly maxBytes: number
}

const maxErrorBytes = 64 * 1024

const isOk = (status: number) => status >= 200 && status < 300

const abortedCodes = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_ABORTED", "UND_ERR_CLOSED"])

const timeoutCodes = new Set([
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT"
])

/** The first known error code on the way down the causes; nothing else of a foreign error is looked at. */
const codeOf = (error: unknown, depth = 5): string | undefined => {
  if (typeof error !== "object" || error === null || depth === 0) return undefined
  const { cause, code } = error as { readonly code?: unknown; readonly cause?: unknown }
  return typeof code === "string" && (abortedCodes.has(code) || timeoutCodes.has(code))
    ? code
    : codeOf(cause, depth - 1)
}

const transportError = (operation: Operation, error: HttpClientError.HttpClientError | undefined) => {
  const code = codeOf(error)
  return new TransportError({
    operation,
    reason: code === undefined
      ? error?._tag === "ResponseError" ? "Aborted" : "Connection"
      : timeoutCodes.has(code)
      ? "Timeout"
      : "Aborted"
  })
}

interface Collected {
  readonly bytes: Uint8Array
  readonly isWhole: boolean
}

const concat = (chunks: ReadonlyArray<Uint8Array>, length: number) => {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

const collect = (response: HttpClientResponse.HttpClientResponse, maxBytes: number) =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let length = 0
    return Effect.map(
      Stream.runForEachWhile(response.stream, (chunk) =>
        Effect.sync(() => {
          length += chunk.length
          if (length <= maxBytes) chunks.push(chunk)
          return length <= maxBytes
        })),
      (): Collected => ({
        bytes: length <= maxBytes ? concat(chunks, length) : new Uint8Array(),
        isWhole: length <= maxBytes
      })
    )
  })

const hasNoBody = (error: HttpClientError.ResponseError) => error.reason === "EmptyBody"

const emptyBody: Collected = { bytes: new Uint8Array(), isWhole: true }

/** Buffers at once where the headers prove the size; reads piece by piece and stops at the limit where they do not. */
const read = (response: HttpClientResponse.HttpClientResponse, maxBytes: number) => {
  const { "content-encoding": encoding, "content-length": declared } = response.headers
  const isBounded = encoding === undefined && declared !== undefined && /^\d+$/.test(declared) &&
    Number(declared) <= maxBytes
  return Effect.catchIf(
    isBounded
      ? Effect.map(response.arrayBuffer, (buffer): Collected => ({ bytes: new Uint8Array(buffer), isWhole: true }))
      : collect(response, maxBytes),
    hasNoBody,
    () => Effect.succeed(emptyBody)
  )
}

/**
 * Sends a request and reads its whole answer, in bounded time and memory. Whatever the client fails with, a defect included,
 * becomes a TransportError: its own errors hold the request, and so the secrets.
 */
export const send = (
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  { maxBytes, operation, timeout }: Limits
): Effect.Effect<Answer, TransportError | UnexpectedResponse> =>
  Effect.uninterruptibleMask((restore) =>
    restore(
      client.execute(request).pipe(
        Effect.flatMap((response) =>
          Effect.flatMap(read(response, isOk(response.status) ? maxBytes : maxErrorBytes), ({ bytes, isWhole }) =>
            isWhole || !isOk(response.status)
              ? Effect.succeed<Answer>({ status: response.status, headers: response.headers, body: bytes })
              : Effect.fail(new UnexpectedResponse({ operation, status: response.status, reason: "TooLarge" })))
        ),
        Effect.withUnhandledErrorLogLevel(Option.none())
      )
    ).pipe(
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause) ? Effect.interrupt : Effect.fail(
          Option.match(Cause.failureOption(cause), {
            onNone: () => transportError(operation, undefined),
            onSome: (error) =>
              error._tag === "UnexpectedResponse" ? error : transportError(operation, error)
          })
        )
      )
    )
  ).pipe(
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () => new TransportError({ operation, reason: "Timeout" })
    })
  )

const httpDate =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Seconds until the time of a Retry-After header, a number or a date (RFC 9110, section 10.2.3); a past date is zero. */
export const retryAfter = (headers: Headers.Headers, now: number): number | undefined => {
  const value = headers["retry-after"]?.trim() ?? ""
  const seconds = /^\d{1,15}(\.\d{1,9})?$/.test(value)
    ? Number(value)
    : httpDate.test(value)
    ? Math.max(0, (Date.parse(value) - now) / 1000)
    : Number.NaN
  return Number.isFinite(seconds) ? seconds : undefined
}

const redirects = new Set([0, 301, 302, 303, 307, 308])

const text = new TextDecoder()

const isText = (headers: Headers.Headers) =>
  /^(text\/|application\/([\w.-]+\+)?json)/i.test(headers["content-type"] ?? "")

/**
 * Passes a 2xx answer on and turns any other into the error that SERVICE.md section 7 and the error table give it. Where the
 * secrets are not known, nothing of the body is kept.
 */
export const expectOk = (
  answer: Answer,
  operation: Operation,
  secrets: Option.Option<ReadonlyArray<Redacted.Redacted<string>>>
): Effect.Effect<Answer, BadRequest | ServerError | TooManyRequests | UnexpectedResponse> => {
  const { body, headers, status } = answer
  if (isOk(status)) return Effect.succeed(answer)
  if (status === 400) {
    const detail = Option.isSome(secrets) && isText(headers) ? scrub(text.decode(body), secrets.value) : undefined
    return Effect.fail(new BadRequest({ operation, status, ...(detail === undefined ? {} : { detail }) }))
  }
  if (status === 429 || (status >= 500 && status < 600)) {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const seconds = retryAfter(headers, now)
      const timing = seconds === undefined ? {} : { retryAfter: seconds }
      return Effect.fail(
        status === 429
          ? new TooManyRequests({ operation, ...timing })
          : new ServerError({ operation, status, ...timing })
      )
    })
  }
  return Effect.fail(
    new UnexpectedResponse({ operation, status, reason: redirects.has(status) ? "Redirect" : "Status" })
  )
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The body as JSON; a byte order mark is passed over, as RFC 8259, section 8.1 allows. */
export const json = (
  { body, status }: Answer,
  operation: Operation
): Effect.Effect<unknown, UnexpectedResponse> =>
  Effect.try({
    try: (): unknown => JSON.parse(utf8.decode(body)),
    catch: () => new UnexpectedResponse({ operation, status, reason: "NotJson" })
  })
