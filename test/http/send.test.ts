import { inspect } from "node:util"
import { HttpBody, HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { describe, expect, vi } from "@effect/vitest"
import { Cause, Effect, Either, Exit, Fiber, Stream, TestClock } from "effect"
import { TransportError } from "effect-nutrition-advisor/NutritionAdvisorError"
import { type Dispatch, withDispatch } from "../../src/internal/http/dispatch.js"
import type { BufferedRequest, OutgoingRequest } from "../../src/internal/http/messages.js"
import * as Send from "../../src/internal/http/send.js"
import * as Timeouts from "../../src/internal/http/timeouts.js"
import { test } from "../support/doubles/arranged.js"

const request: OutgoingRequest = {
  method: "GET",
  origin: "https://advisor.example",
  path: "/v2/x?term=secret",
  headers: { authorization: "Bearer secret" },
  body: HttpBody.empty
}

const limits: Send.ResponseLimits = { maxBytes: 10, observeHeaders: [] }

const responding = (respond: () => Response) =>
  HttpClient.make((request) => Effect.sync(() => HttpClientResponse.fromWeb(request, respond())))

/** A client that does not use web Responses. */
const respondingWithoutSource = (respond: () => Response) =>
  HttpClient.transformResponse(
    responding(respond),
    Effect.map((response) =>
      new Proxy(response, { get: (target, name) => name === "source" ? undefined : Reflect.get(target, name) })
    )
  )

const send = (client: HttpClient.HttpClient) =>
  Effect.flatMap(
    Timeouts.make(30_000),
    (timeouts) => Send.interruptible(Send.make(client, limits, timeouts), "search")(request)
  )

/** A stream of six-byte chunks that never ends, and what was done with it. */
const endless = () => {
  const seen = { pulled: 0, canceled: false }
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      seen.pulled += 1
      controller.enqueue(new Uint8Array(6))
    },
    cancel: () => {
      seen.canceled = true
    }
  }, { highWaterMark: 0 })
  return { seen, stream }
}

describe("sent request with a response", () => {
  test.each<readonly [string, typeof responding, Record<string, string>]>([
    ["a body", responding, {}],
    [
      "a compressed body whose content-length is smaller",
      respondingWithoutSource,
      { "content-encoding": "gzip", "content-length": "5" }
    ]
  ])("%s is canceled at the size limit", function*([, respondingWith, headers]) {
    const { seen, stream } = endless()
    yield* Effect.flip(send(respondingWith(() => new Response(stream, { headers }))))
    expect(seen.pulled).toBeLessThan(50)
    expect(seen.canceled).toBe(true)
  })

  test("an error response keeps its status and the first 64 KiB of its body", function*() {
    const { body, status } = yield* send(responding(() => new Response("x".repeat(100_000), { status: 500 })))
    expect(status).toBe(500)
    expect(body.length).toBe(65_536)
  })

  test("if the client fails on an error status, its response is still used", function*() {
    const { status } = yield* send(HttpClient.filterStatusOk(responding(() => new Response("no", { status: 403 }))))
    expect(status).toBe(403)
  })

  test("a request that has its response no longer times out", function*() {
    const { add } = yield* Timeouts.make(30_000)
    const onEnd = vi.fn()
    const timeouts: Timeouts.Timeouts = { add: (timed) => add(Object.assign(timed, { onEnd })) }
    yield* Send.interruptible(Send.make(responding(() => new Response()), limits, timeouts), "search")(request)
    yield* TestClock.adjust("30 seconds")
    expect(onEnd).not.toHaveBeenCalled()
  })
})

const failing = (cause: unknown) =>
  HttpClient.make((request) => Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport", cause })))

const dying = (defect: unknown) => HttpClient.make(() => Effect.die(defect))

const failingWithTimeout = HttpClient.make(() => Effect.fail(new Cause.TimeoutException() as never))

const withCode = (code: string) => new TypeError("secret", { cause: Object.assign(new Error("secret"), { code }) })

const coded = (reason: TransportError["reason"], code: string) => [failing(withCode(code)), { reason, code }] as const

/** What fetch throws when an AbortSignal.timeout elapses. Its code is a number. */
const timeoutError = () => new DOMException("secret", "TimeoutError")

const ownTimeout = { reason: "Timeout", code: "ETIMEDOUT" } as const

const withMessage = (message: string, code?: string) => Object.assign(new Error(message), { code })

/** The error of the fetch adapter of axios, whose own code is the same for every cause. */
const networkError = (cause: Error) => Object.assign(withMessage("Network Error", "ERR_NETWORK"), { cause })

const notResumed = Object.assign(new Error("secret"), { code: "UND_ERR_REQ_RETRY", statusCode: 206 })

const orOtherwise = "has headers that are too large, or can't be decompressed"

const fetchFailed = (cause: object) => new TypeError("fetch failed", { cause })

const circular = new Error("secret")
circular.cause = circular

const withoutIterator = { status: 403, headers: { get: () => null } }

const noConnection = { reason: "Connection" } as const

const brokenPipe = { reason: "Aborted", code: "EPIPE" } as const

const invalidUrl = { reason: "Connection", code: "ERR_INVALID_URL" } as const

/** A client that fails with the error of the runtime's own fetch for a request that fetch refuses to send. */
const refusing = (init: RequestInit) =>
  failing(Either.getOrThrow(Either.flip(Either.try(() => new Request("https://secret", init)))))

const invalidCharacter = { ...noConnection, code: "ERR_INVALID_CHAR" } as const

const badMethod = { ...noConnection, code: "BAD_METHOD" } as const

/** A client whose response body breaks off with an error. */
const breakingOff = (error: unknown) =>
  responding(() => new Response(new ReadableStream({ pull: (controller) => controller.error(error) })))

describe("sent request without a response", () => {
  test.each<readonly [string, HttpClient.HttpClient, Pick<TransportError, "reason" | "code">]>([
    ["a timeout of Node", ...coded("Timeout", "ETIMEDOUT")],
    ["a timeout of undici", ...coded("Timeout", "UND_ERR_HEADERS_TIMEOUT")],
    ["a timeout of a custom fetch", failing(timeoutError()), { reason: "Timeout", code: "ETIMEDOUT" }],
    ["a timeout of Effect in a wrapper", failing(new Cause.TimeoutException()), {
      reason: "Timeout",
      code: "ETIMEDOUT"
    }],
    ["a timeout of Effect in a client in JavaScript", failingWithTimeout, { reason: "Timeout", code: "ETIMEDOUT" }],
    ["a timeout of axios", failing(withMessage("timeout of 500ms exceeded", "ECONNABORTED")), ownTimeout],
    ["a timeout of node-fetch 2", failing(withMessage("network timeout at: https://secret")), ownTimeout],
    ["a timeout of make-fetch-happen", failing(withMessage("network timeout at: secret", "FETCH_ERROR")), ownTimeout],
    ["a timeout of a handwritten fetch", failing(withMessage("Request timed out")), ownTimeout],
    ["a connection timeout of undici", failing(withMessage("Connect Timeout Error", "UND_ERR_CONNECT_TIMEOUT")), {
      reason: "Timeout",
      code: "UND_ERR_CONNECT_TIMEOUT"
    }],
    ["an error of the fetch adapter of axios", failing(networkError(withCode("CERT_HAS_EXPIRED"))), {
      reason: "Connection",
      code: "CERT_HAS_EXPIRED"
    }],
    ["an error about a URL with the word timeout", failing(withMessage("request to /timeout failed")), noConnection],
    ["a reset connection", ...coded("Aborted", "ECONNRESET")],
    ["a reset stream", ...coded("Aborted", "ERR_HTTP2_STREAM_ERROR")],
    ["a body that is cut off in axios", ...coded("Aborted", "ERR_BAD_RESPONSE")],
    ["a compressed body that is cut off in got", ...coded("Aborted", "Z_BUF_ERROR")],
    ["a canceled stream", ...coded("Aborted", "UND_ERR_INFO")],
    ["a GOAWAY", ...coded("Aborted", "ERR_HTTP2_SESSION_ERROR")],
    ["a code of 80 characters", ...coded("Connection", "E/".repeat(40))],
    ["a code of 81 characters", failing(withCode("E".repeat(81))), { reason: "Connection" }],
    ["a code that is a URL", failing(withCode("https://user:secret@host")), { reason: "Connection" }],
    ["an AggregateError", failing(new AggregateError([withCode("EPIPE")])), { reason: "Aborted", code: "EPIPE" }],
    ["a cause without a class", failing({ cause: { code: "EAI_AGAIN" } }), { reason: "Connection", code: "EAI_AGAIN" }],
    ["an error with only a code", failing(fetchFailed(Object.assign(new Error(), { code: "EPIPE" }))), brokenPipe],
    ["an AggregateError of fetch", failing(fetchFailed(new AggregateError([withCode("EPIPE")]))), brokenPipe],
    ["a response whose headers have no iterator", failing({ response: withoutIterator }), noConnection],
    ["an error with a status", failing(Object.assign(withCode("EPIPE"), { status: 403, headers: [] })), brokenPipe],
    ["an error that is caused by Response.error()", failing(fetchFailed(Response.error())), noConnection],
    ["unprintable values", failing(fetchFailed({ message: Symbol(), code: Object.create(null) })), noConnection],
    ["a circular cause", failing(circular), { reason: "Connection" }],
    ["a missing permission in Deno", failing({ name: "NotCapable" }), { ...noConnection, code: "ERR_ACCESS_DENIED" }],
    ["a GET with a body over fetch", refusing({ method: "GET", body: "secret" }), badMethod],
    ["a method that fetch forbids", refusing({ method: "TRACE" }), badMethod],
    ["a header value with a line break over fetch", refusing({ headers: { "x-a": "secret\n1" } }), invalidCharacter],
    ["a header value that isn't Latin-1 over fetch", refusing({ headers: { "x-a": "secret€" } }), invalidCharacter],
    ["a header name with a space over fetch", refusing({ headers: { "x a": "secret" } }), invalidCharacter],
    ["an invalid URL in Deno", failing(new TypeError("Invalid URL: 'https://secret'")), invalidUrl],
    ["a download that can't resume", failing(notResumed), { reason: "Connection", code: "UND_ERR_REQ_RETRY" }],
    ["a defect with a code, as over node:http", dying(withCode("ERR_INVALID_CHAR")), invalidCharacter],
    ["a defect", dying(new Error("secret")), { reason: "Connection" }]
  ])(
    "the TransportError contains nothing of the request or the client's message: %s",
    function*([, client, expected]) {
      const exit = yield* Effect.exit(send(client))
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause))
        .toStrictEqual(new TransportError({ operation: "search", ...expected }))
      for (const shown of [inspect(exit, { depth: 9 }), JSON.stringify(exit), String(exit)]) {
        expect(shown).not.toMatch(/secret|advisor\.example/)
      }
    }
  )

  test.each(["HPE_INVALID", "ERR_HTTP2_ERROR", "UND_ERR_HEADERS_OVERFLOW", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"])(
    "the code %s is reported as a response that is not valid HTTP",
    function*(code) {
      const { message } = yield* Effect.flip(send(failing(withCode(code))))
      expect(message).toContain(`got a response that is not valid HTTP, ${orOtherwise} (${code})`)
    }
  )

  test.each(["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "HPE_INVALID_EOF_STATE"])(
    "the code %s of a connection that the service closes in the middle of the body is reported as cut off",
    function*(code) {
      const error = yield* Effect.flip(send(breakingOff(withCode(code))))
      expect(error).toMatchObject({ reason: "Aborted", code, message: expect.stringContaining("was cut off") })
    }
  )

  test.each<readonly [code: string, mentioned: string]>([
    ["UND_ERR_INVALID_ARG", "the undici version of any dispatcher"],
    ["ERR_INVALID_URL", "globalThis.location"]
  ])("the message of %s mentions %s", function*([code, mentioned]) {
    expect((yield* Effect.flip(send(failing(withCode(code))))).message).toContain(mentioned)
  })

  test.each([
    "Z_DATA_ERROR",
    "ERR__ERROR_FORMAT_PADDING_2",
    "ZSTD_error_prefix_unknown",
    "ZlibError",
    "BrotliDecompressionError",
    "ZstdDecompressionError"
  ])("the code %s is reported as a body that can't be decompressed", function*(code) {
    const error = yield* Effect.flip(send(breakingOff(withCode(code))))
    expect(error).toMatchObject({ _tag: "TransportError", reason: "Aborted", code })
    expect(error.message).toContain(`${orOtherwise} (${code})`)
  })

  test.each([["Invalid header token", "HPE_INVALID"], ["Invalid EOF state", "HPE_INVALID_EOF_STATE"]])(
    "undici's error %j for invalid HTTP, which has no code, gets the code %s",
    function*([message, code]) {
      const error = Object.assign(new Error(message), { name: "HTTPParserError", code: undefined })
      expect(yield* Effect.flip(send(failing(error)))).toMatchObject({ code })
    }
  )

  test.each<readonly [what: string, error: Error, expected: object]>([
    ["with the timeout of a custom fetch, as Timeout", timeoutError(), { reason: "Timeout", code: "ETIMEDOUT" }],
    ["with any other error, as Aborted", new Error("secret"), { reason: "Aborted" }]
  ])("a body that breaks off is reported, %s", function*([, error, expected]) {
    expect(yield* Effect.flip(send(breakingOff(error)))).toMatchObject({ _tag: "TransportError", ...expected })
  })

  test("a timeout interrupts the client", function*() {
    let isInterrupted = false
    const silent = HttpClient.make(() =>
      Effect.onInterrupt(Effect.never, () => Effect.sync(() => isInterrupted = true))
    )
    const fiber = yield* Effect.fork(Effect.flip(send(silent)))
    yield* TestClock.adjust("30 seconds")
    expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
    expect(isInterrupted).toBe(true)
  })

  test("the timeout applies even if the client can't be interrupted", function*() {
    const stuck = HttpClient.make(() => Effect.uninterruptible(Effect.never))
    const fiber = yield* Effect.fork(Effect.flip(send(stuck)))
    yield* TestClock.adjust("30 seconds")
    expect(yield* Fiber.join(fiber)).toMatchObject({ reason: "Timeout" })
  })
})

describe("HTTP client that delivers a whole response in one step", () => {
  const over = (dispatch: Dispatch<BufferedRequest>) =>
    withDispatch(responding(() => new Response("through a response")), dispatch)

  test("an interrupted caller aborts the request", function*() {
    let aborted = 0
    const client = over(() => () => Effect.succeed(aborted += 1))
    const fiber = yield* Effect.fork(send(client))
    yield* Effect.yieldNow()
    expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
    expect(aborted).toBe(1)
  })

  test("the client can respond synchronously", function*() {
    const client = over((_, receiver) => {
      receiver.onResponse({ status: 200, headers: {}, body: new Uint8Array(), isWhole: true })
      return () => Effect.void
    })
    expect((yield* send(client)).status).toBe(200)
  })

  test("a response above the client's own limit fails with TooLarge", function*() {
    const tooLarge = Object.assign(new Error("secret"), { code: "UND_ERR_RES_EXCEEDED_MAX_SIZE" })
    const client = over((_, receiver) => {
      receiver.onHead({ status: 200, headers: {} })
      receiver.onFailure(tooLarge)
      return () => Effect.void
    })
    expect(yield* Effect.flip(send(client)))
      .toMatchObject({ _tag: "UnexpectedResponse", status: 200, reason: "TooLarge" })
  })

  test("a streamed body is not sent in one step", function*() {
    const client = over(() => () => Effect.void)
    const streamed = { ...request, body: HttpBody.stream(Stream.make(new Uint8Array(1))) }
    const { body } = yield* Send.interruptible(Send.make(client, { ...limits, maxBytes: 100 }), "search")(streamed)
    expect(new TextDecoder().decode(body)).toBe("through a response")
  })
})
