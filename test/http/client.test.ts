import { inspect } from "node:util"
import { HttpBody, HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Stream } from "effect"
import * as Background from "../../src/internal/background.js"
import * as Http from "../../src/internal/http/client.js"
import type { Request } from "../../src/internal/http/dispatch.js"
import { type BufferedRequest, type Dispatch, withDispatch } from "../../src/internal/http/dispatch.js"
import * as Timeouts from "../../src/internal/http/timeouts.js"
import { test } from "../support/doubles/arranged.js"
import * as Time from "../support/doubles/Time.js"

const request: Request = {
  method: "GET",
  origin: "https://advisor.example",
  path: "/v2/x?term=secret",
  headers: { authorization: "Bearer secret" },
  body: HttpBody.empty
}

const kind = { operation: "search", maxBytes: 10, observeHeaders: [] } as const

const responding = (respond: () => Response) =>
  HttpClient.make((request) => Effect.sync(() => HttpClientResponse.fromWeb(request, respond())))

/** A client that does not use web Responses. */
const respondingWithoutSource = (respond: () => Response) =>
  HttpClient.make((request) =>
    Effect.sync(() => {
      const response = HttpClientResponse.fromWeb(request, respond())
      return new Proxy(response, { get: (target, name) => name === "source" ? undefined : Reflect.get(target, name) })
    })
  )

const send = (client: HttpClient.HttpClient) =>
  Effect.flatMap(
    Effect.flatMap(Background.make, (run) => Timeouts.make(30_000, run)),
    (timeouts) => Http.make(client, timeouts)(request, kind)
  )

const streamOf = (...chunks: ReadonlyArray<Uint8Array<ArrayBuffer>>) => {
  const seen = { pulled: 0, canceled: false }
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      const chunk = chunks[seen.pulled]
      seen.pulled += 1
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
    cancel: () => {
      seen.canceled = true
    }
  }, { highWaterMark: 0 })
  return { seen, stream }
}

describe("HTTP response", () => {
  test("a body exactly at the limit is accepted", function*() {
    const { body } = yield* send(responding(() => new Response("0123456789")))
    expect(new TextDecoder().decode(body)).toBe("0123456789")
  })

  test("a body with one byte more than the limit is rejected", function*() {
    expect(yield* Effect.flip(send(responding(() => new Response("0123456789a")))))
      .toMatchObject({ _tag: "UnexpectedResponse", status: 200, reason: "TooLarge" })
  })

  const endless = () => streamOf(...Array.from({ length: 1_000 }, () => new Uint8Array(6)))

  test("a body is canceled at the limit", function*() {
    const { seen, stream } = endless()
    yield* Effect.flip(send(responding(() => new Response(stream))))
    expect(seen.pulled).toBeLessThan(50)
    expect(seen.canceled).toBe(true)
  })

  test("a compressed body is canceled at the limit, even if its content-length is smaller", function*() {
    const { seen, stream } = endless()
    const headers = { "content-encoding": "gzip", "content-length": "5" }
    const client = respondingWithoutSource(() => new Response(stream, { headers }))
    yield* Effect.exit(send(client))
    expect(seen.pulled).toBeLessThan(50)
  })

  test("an error response keeps its status and the first 64 KiB of its body", function*() {
    const { body, status } = yield* send(responding(() => new Response("x".repeat(100_000), { status: 500 })))
    expect([status, body.length]).toEqual([500, 65_536])
  })

  test("if the client fails on an error status, its response is still used", function*() {
    const { status } = yield* send(HttpClient.filterStatusOk(responding(() => new Response("no", { status: 403 }))))
    expect(status).toBe(403)
  })

  test("no timer is left after a response", function*() {
    const timeouts = new Timeouts.Timeouts(30_000, () => 0, () => {})
    yield* Http.make(responding(() => new Response()), timeouts)(request, kind)
    expect(timeouts.due()).toBeUndefined()
  })

  test("all set-cookie headers are kept, even with the same cookie name", function*() {
    const cookies = ["a=1; Path=/", "a=2; Path=/x", "a=3"]
    const { headers } = yield* send(
      responding(() => new Response("{}", { headers: cookies.map((cookie) => ["set-cookie", cookie]) }))
    )
    expect(headers["set-cookie"]).toEqual(cookies)
  })
})

const failing = (cause: unknown) =>
  HttpClient.make((request) => Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport", cause })))

const withCode = (code: string) => new TypeError("secret", { cause: Object.assign(new Error("secret"), { code }) })

const handshakeFailure = "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE"

const circular = new Error("secret")
circular.cause = circular

describe("HTTP request without a response", () => {
  test.each<readonly [HttpClient.HttpClient, object]>([
    [failing(withCode("ETIMEDOUT")), { reason: "Timeout", code: "ETIMEDOUT" }],
    [failing(withCode("UND_ERR_HEADERS_TIMEOUT")), { reason: "Timeout", code: "UND_ERR_HEADERS_TIMEOUT" }],
    [failing(withCode("ECONNRESET")), { reason: "Aborted", code: "ECONNRESET" }],
    [failing(new AggregateError([withCode("ENOTFOUND")])), { reason: "Connection", code: "ENOTFOUND" }],
    [failing(new TypeError("secret", { cause: { code: "EAI_AGAIN" } })), { reason: "Connection", code: "EAI_AGAIN" }],
    [failing(withCode("HPE_HEADER_OVERFLOW")), { reason: "Connection", code: "HPE_HEADER_OVERFLOW" }],
    [failing(withCode(handshakeFailure)), { reason: "Connection", code: handshakeFailure }],
    [failing(withCode("E".repeat(80))), { reason: "Connection", code: "E".repeat(80) }],
    [failing(new TypeError("secret", { cause: new Error("bad port") })), { reason: "Connection", code: "BAD_PORT" }],
    [failing(withCode("https://user:secret@host")), { reason: "Connection" }],
    [failing(undefined), { reason: "Connection" }],
    [failing(circular), { reason: "Connection" }],
    [HttpClient.make(() => Effect.die(new Error("secret"))), { reason: "Connection" }],
    [HttpClient.make(() => Effect.interrupt), { reason: "Connection" }]
  ])(
    "it fails with a TransportError that contains nothing of the request or the client's message (case %#)",
    function*(
      [client, expected]
    ) {
      const exit = yield* Effect.exit(send(client))
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({ _tag: "TransportError", ...expected })
      for (const shown of [inspect(exit, { depth: 9 }), JSON.stringify(exit), String(exit)]) {
        expect(shown).not.toMatch(/secret|advisor\.example/)
      }
    }
  )

  test("a code longer than 80 characters is left out of TransportError", function*() {
    expect(yield* Effect.flip(send(failing(withCode("E".repeat(81)))))).not.toHaveProperty("code")
  })

  test("a body that breaks off fails with Aborted", function*() {
    const breaking = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("secret")) })
    expect(yield* Effect.flip(send(responding(() => new Response(breaking))))).toMatchObject({ reason: "Aborted" })
  })

  test("a timeout interrupts the client", function*() {
    let isInterrupted = false
    const silent = HttpClient.make(() =>
      Effect.onInterrupt(Effect.never, () => Effect.sync(() => isInterrupted = true))
    )
    const fiber = yield* Effect.fork(Effect.flip(send(silent)))
    yield* Time.pass("30 seconds")
    expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
    expect(isInterrupted).toBe(true)
  })

  test("the timeout applies even if the client can't be interrupted", function*() {
    const stuck = HttpClient.make(() => Effect.uninterruptible(Effect.never))
    const fiber = yield* Effect.fork(Effect.flip(send(stuck)))
    yield* Time.pass("30 seconds")
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

  test("the client can respond synchronously, and later events are ignored", function*() {
    const client = over((_, receiver) => {
      receiver.onResponse({ status: 200, headers: {}, body: new Uint8Array(), isWhole: true })
      receiver.onFailure(new Error("too late"))
      return () => Effect.void
    })
    expect((yield* send(client)).status).toBe(200)
  })

  test("a response above the client's own limit fails with TooLarge", function*() {
    const tooLarge = Object.assign(new Error("secret"), { code: "UND_ERR_RES_EXCEEDED_MAX_SIZE" })
    const client = over((_, receiver) => {
      receiver.onFailure(tooLarge, 200)
      return () => Effect.void
    })
    expect(yield* Effect.flip(send(client)))
      .toMatchObject({ _tag: "UnexpectedResponse", status: 200, reason: "TooLarge" })
  })

  test("a streamed body is not sent in one step", function*() {
    const client = over(() => () => Effect.void)
    const streamed = { ...request, body: HttpBody.stream(Stream.make(new Uint8Array(1))) }
    const { body } = yield* Http.make(client)(streamed, { ...kind, maxBytes: 100 })
    expect(new TextDecoder().decode(body)).toBe("through a response")
  })
})
