import { describe, expect } from "@effect/vitest"
import { Effect, Redacted, TestClock } from "effect"
import * as ServiceResponse from "../../src/internal/http/serviceResponse.js"
import { test } from "../support/doubles/arranged.js"

const answer = (
  status: number,
  headers: ServiceResponse.ServiceResponse["headers"] = {},
  body = ""
): ServiceResponse.ServiceResponse => ({
  kind: { operation: "search", maxBytes: 1_000, observeHeaders: [] },
  status,
  headers,
  body: new TextEncoder().encode(body)
})

const errorOf = (...given: Parameters<typeof answer>) => Effect.flip(ServiceResponse.statusError(answer(...given)))

describe("response body", () => {
  test.each<readonly [number, object]>([
    [599, { _tag: "ServerError" }],
    [600, { _tag: "UnexpectedResponse", reason: "Status" }],
    [307, { _tag: "UnexpectedResponse", reason: "Redirect" }],
    [0, { _tag: "UnexpectedResponse", reason: "Redirect" }]
  ])("of status %i, at the edge of its kind, has its error", function*([status, expected]) {
    expect(yield* errorOf(status)).toMatchObject({ ...expected, operation: "search", status })
  })

  test.each<readonly [string, number | undefined]>([
    ["7", 7],
    ["0.5", 0.5],
    ["Wed, 25 Nov 2026 03:57:31 GMT", 51],
    ["Wednesday, 25-Nov-26 03:57:31 GMT", 51],
    ["Wed Nov 25 03:57:31 2026", 51],
    ["Thu Jan  1 00:00:00 1970", 0],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
    ["-1", undefined],
    ["soon", undefined],
    ["2026-11-25T03:57:31Z", undefined],
    ["Wed, 99 Nov 2026 03:57:31 GMT", undefined],
    ["Wed, 25 Nov 2026 03:57:31 GMT+01:00", undefined],
    ["", undefined]
  ])("with the Retry-After %j says to wait %s seconds", function*([value, seconds]) {
    yield* TestClock.setTime(Date.parse("2026-11-25T03:56:40Z"))
    for (const status of [429, 503]) {
      const error = yield* errorOf(status, { "retry-after": value })
      expect("retryAfter" in error ? error.retryAfter : undefined).toBe(seconds)
    }
  })

  test("4 KiB of a string are kept, redacted, and no half of a character", function*() {
    const { body } = yield* Effect.map(
      errorOf(500, { "content-type": "text/plain; charset=utf-8" }, `${"x".repeat(4095)}ü and more`),
      (error) => ({ body: "body" in error ? error.body : undefined })
    )
    expect(body === undefined ? "" : Redacted.value(body)).toBe("x".repeat(4095))
  })

  test.each(["application/json", "application/problem+json; charset=utf-8", "text/html"])(
    "a body of type %s is kept",
    function*(type) {
      expect(yield* errorOf(500, { "content-type": type }, "x")).toHaveProperty("body")
    }
  )

  test.each([["application/octet-stream", "x"], ["text/plain", ""]])(
    "a response of type %s and body %j keeps no body",
    function*([type, body]) {
      expect(yield* errorOf(500, { "content-type": type }, body)).not.toHaveProperty("body")
    }
  )

  test("JSON is parsed even after a byte order mark", function*() {
    expect(yield* ServiceResponse.json(answer(200, {}, "\ufeff{\"a\":1}"))).toEqual({ a: 1 })
  })

  test("bytes that are not UTF-8 fail with NotJson", function*() {
    const bytes = { ...answer(200), body: new Uint8Array([34, 255, 34]) }
    expect(yield* Effect.flip(ServiceResponse.json(bytes))).toMatchObject({ reason: "NotJson" })
  })
})
