import { Headers, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Fiber, Option, TestClock } from "effect"
import * as Deadline from "../../src/internal/deadline.js"
import * as Http from "../../src/internal/http.js"

const now = Date.UTC(2026, 0, 1, 12, 0, 0)

const retryAfter = (value: string) => Http.retryAfter(Headers.fromInput({ "retry-after": value }), now)

const request = HttpClientRequest.get("https://advisor.example/v2/x?term=secret")

const answering = (respond: () => Response) =>
  HttpClient.make((request) => Effect.sync(() => HttpClientResponse.fromWeb(request, respond())))

const send = (client: HttpClient.HttpClient) =>
  Effect.scoped(
    Effect.flatMap(Deadline.make(30_000), (deadline) =>
      Http.quiet(client)(request, { operation: "search", maxBytes: 10, deadline }))
  )

const streamOf = (...chunks: ReadonlyArray<Uint8Array<ArrayBuffer>>) => {
  const seen = { pulled: 0, cancelled: false }
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      const chunk = chunks[seen.pulled]
      seen.pulled += 1
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
    cancel: () => {
      seen.cancelled = true
    }
  }, { highWaterMark: 0 })
  return { seen, stream }
}

describe("retryAfter", () => {
  it.each([
    ["120", 120],
    ["0", 0],
    [" 7 ", 7],
    ["1.5", 1.5],
    ["999999999999999", 999_999_999_999_999],
    ["Thu, 01 Jan 2026 12:00:30 GMT", 30]
  ])("reads %j as %d seconds", (value, seconds) => {
    expect(retryAfter(value)).toBe(seconds)
  })

  it("reads a past date as no wait at all", () => {
    expect(retryAfter("Thu, 01 Jan 2026 11:00:00 GMT")).toBe(0)
  })

  it.each([
    "",
    " ",
    "-1",
    "soon",
    "1e3",
    "0x10",
    "Infinity",
    "NaN",
    "12 seconds",
    "1,2",
    "2026-01-01",
    "Thu, 99 Jan 2026 99:99:99 GMT",
    "9".repeat(400)
  ])("passes over %j", (value) => {
    expect(retryAfter(value)).toBeUndefined()
  })

  it("is undefined where there is no such header", () => {
    expect(Http.retryAfter(Headers.empty, now)).toBeUndefined()
  })

  it.prop("is undefined, or finite and not below zero", [FastCheck.string()], ([value]) => {
    const seconds = retryAfter(value) ?? 0
    expect(Number.isFinite(seconds) && seconds >= 0).toBe(true)
  })
})

describe("send", () => {
  it.effect("gives a body of exactly the limit", () =>
    Effect.gen(function*() {
      const { body } = yield* send(answering(() => new Response("0123456789")))
      expect(new TextDecoder().decode(body)).toBe("0123456789")
    }))

  it.effect("refuses a body of one byte more", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(send(answering(() => new Response("0123456789a"))))
      expect(error).toMatchObject({ _tag: "UnexpectedResponse", operation: "search", status: 200, reason: "TooLarge" })
    }))

  it.effect("stops to read where the limit is passed", () =>
    Effect.gen(function*() {
      const { seen, stream } = streamOf(...Array.from({ length: 1_000 }, () => new Uint8Array(6)))
      yield* Effect.flip(send(answering(() => new Response(stream))))
      expect(seen.pulled).toBeLessThan(50)
    }))

  it.effect("cancels a body that it does not read to its end", () =>
    Effect.gen(function*() {
      const { seen, stream } = streamOf(...Array.from({ length: 1_000 }, () => new Uint8Array(6)))
      yield* Effect.flip(send(answering(() => new Response(stream))))
      expect(seen.cancelled).toBe(true)
    }))

  it.effect("does not read a body whose declared length is above the limit to its end", () =>
    Effect.gen(function*() {
      const { seen, stream } = streamOf(...Array.from({ length: 1_000 }, () => new Uint8Array(6)))
      yield* Effect.flip(send(answering(() => new Response(stream, { headers: { "content-length": "6000" } }))))
      expect(seen.pulled).toBeLessThan(50)
    }))

  it.effect("refuses a body above the limit behind a content-encoding and a small content-length", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        send(
          answering(() =>
            new Response("x".repeat(1_000), { headers: { "content-encoding": "gzip", "content-length": "5" } })
          )
        )
      )
      expect(error).toMatchObject({ reason: "TooLarge" })
    }))

  it.effect("keeps the status of an error whose body is above every limit", () =>
    Effect.gen(function*() {
      const answer = yield* send(answering(() => new Response("x".repeat(100_000), { status: 500 })))
      expect([answer.status, answer.body.length]).toEqual([500, 0])
    }))

  it.effect("gives an answer without a body as no bytes", () =>
    Effect.gen(function*() {
      const answer = yield* send(answering(() => new Response(null, { status: 204 })))
      expect(answer.body.length).toBe(0)
    }))

  it.effect("ends as Timeout where the body never ends", () =>
    Effect.gen(function*() {
      const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
        start: (controller) => controller.enqueue(new Uint8Array(1))
      })
      const fiber = yield* Effect.fork(Effect.flip(send(answering(() => new Response(stream)))))
      yield* TestClock.adjust("30 seconds")
      expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
    }))

  it.effect("ends as Aborted where the body breaks off", () =>
    Effect.gen(function*() {
      const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull: (controller) => controller.error(new Error("secret"))
      })
      const error = yield* Effect.flip(send(answering(() => new Response(stream))))
      expect(error).toMatchObject({ _tag: "TransportError", reason: "Aborted" })
    }))

  it.effect("ends as Connection where the client dies", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(send(HttpClient.make(() => Effect.die(new Error("secret")))))
      expect(error).toMatchObject({ _tag: "TransportError", reason: "Connection" })
    }))

  it.effect.each([
    ["ECONNREFUSED", "Connection"],
    ["ENOTFOUND", "Connection"],
    ["ECONNRESET", "Aborted"],
    ["UND_ERR_SOCKET", "Aborted"],
    ["ETIMEDOUT", "Timeout"],
    ["UND_ERR_HEADERS_TIMEOUT", "Timeout"]
  ])("names what the code of a cause says (case %#)", ([code, reason]) =>
    Effect.gen(function*() {
      const cause = new TypeError("fetch failed", { cause: Object.assign(new Error("secret"), { code }) })
      const error = yield* Effect.flip(
        send(HttpClient.make((request) =>
          Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport", cause }))
        ))
      )
      expect(error).toMatchObject({ _tag: "TransportError", reason })
    }))

  it.effect("comes to an end where causes run in a circle", () =>
    Effect.gen(function*() {
      const cause: { cause?: unknown } = {}
      cause.cause = cause
      const error = yield* Effect.flip(
        send(HttpClient.make((request) =>
          Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport", cause }))
        ))
      )
      expect(error).toMatchObject({ reason: "Connection" })
    }))

  it.effect("passes an interruption on", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(send(HttpClient.make(() => Effect.never)))
      yield* Effect.yieldNow()
      const exit = yield* Fiber.interrupt(fiber)
      expect(exit._tag === "Failure" && exit.cause._tag !== "Fail").toBe(true)
    }))
})

describe("refusal", () => {
  const answer = (status: number, body = "", headers: Record<string, string> = {}): Http.Answer => ({
    status,
    headers: Headers.fromInput(headers),
    body: new TextEncoder().encode(body)
  })

  it.effect.each([
    [400, "BadRequest", undefined],
    [402, "UnexpectedResponse", "Status"],
    [404, "UnexpectedResponse", "Status"],
    [422, "UnexpectedResponse", "Status"],
    [429, "TooManyRequests", undefined],
    [500, "ServerError", undefined],
    [503, "ServerError", undefined],
    [599, "ServerError", undefined],
    [600, "UnexpectedResponse", "Status"],
    [100, "UnexpectedResponse", "Status"],
    [304, "UnexpectedResponse", "Status"],
    [0, "UnexpectedResponse", "Redirect"],
    [301, "UnexpectedResponse", "Redirect"],
    [302, "UnexpectedResponse", "Redirect"],
    [303, "UnexpectedResponse", "Redirect"],
    [307, "UnexpectedResponse", "Redirect"],
    [308, "UnexpectedResponse", "Redirect"]
  ])("turns any other status into its error (case %#)", ([status, tag, reason]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Http.refusal(answer(Number(status)), "search", Option.some([])))
      expect([error._tag, error._tag === "UnexpectedResponse" ? error.reason : undefined]).toEqual([tag, reason])
    }))

  it.effect.each(["application/json", "text/plain", "application/problem+json; charset=utf-8", "TEXT/HTML"])(
    "keeps the text of a 400 (%s)",
    (type) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(
          Http.refusal(answer(400, "no term", { "content-type": type }), "search", Option.some([]))
        )
        expect(error).toMatchObject({ detail: "no term" })
      })
  )

  it.effect("keeps nothing of a 400 that is not text", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        Http.refusal(
          answer(400, "\u0001\u0002", { "content-type": "application/octet-stream" }),
          "search",
          Option.some([])
        )
      )
      expect(error).not.toHaveProperty("detail")
    }))
})

describe("json", () => {
  const decoded = (bytes: Uint8Array) => Http.json({ status: 200, headers: Headers.empty, body: bytes }, "search")

  it.prop("reads what JSON can write", [FastCheck.jsonValue()], ([value]) => {
    const text = JSON.stringify(value)
    expect(Effect.runSync(decoded(new TextEncoder().encode(text)))).toEqual(JSON.parse(text))
  })

  it.effect("passes over a byte order mark", () =>
    Effect.gen(function*() {
      expect(yield* decoded(new TextEncoder().encode("\ufeff{\"a\":1}"))).toEqual({ a: 1 })
    }))

  it.effect.each([
    new Uint8Array(),
    new TextEncoder().encode("<html>"),
    new TextEncoder().encode("{\"a\":"),
    new Uint8Array([0x22, 0xff, 0x22]),
    new Uint8Array([0x22, 0xc3, 0x22]),
    new Uint8Array([0xff, 0xfe, 0x7b, 0x00])
  ])("calls anything else NotJson (case %#)", (bytes) =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(decoded(bytes))).toMatchObject({
        _tag: "UnexpectedResponse",
        status: 200,
        reason: "NotJson"
      })
    }))
})
