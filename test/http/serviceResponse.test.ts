import { describe, expect, vi } from "@effect/vitest"
import { Effect, Redacted, TestClock } from "effect"
import * as ServiceResponse from "../../src/internal/http/serviceResponse.js"
import { test } from "../support/doubles/arranged.js"

const responseWith = (
  status: number,
  headers: ServiceResponse.ServiceResponse["headers"] = {},
  body = ""
): ServiceResponse.ServiceResponse => ({
  operation: "search",
  observeHeaders: [],
  status,
  headers,
  body: new TextEncoder().encode(body),
  isWhole: true
})

const errorOf = (...given: Parameters<typeof responseWith>) =>
  Effect.flip(ServiceResponse.statusError(responseWith(...given)))

describe("error of a response", () => {
  test.each<readonly [number, object]>([
    [599, { _tag: "ServerError" }],
    [600, { _tag: "UnexpectedResponse", reason: "Status" }],
    ...[0, 301, 302, 303, 307, 308].map((status) =>
      [status, { _tag: "UnexpectedResponse", reason: "Redirect" }] as const
    )
  ])("status %i has the error of its range", function*([status, expected]) {
    expect(yield* errorOf(status)).toMatchObject({ ...expected, operation: "search", status })
  })

  test.each<readonly [string, number | undefined]>([
    ["7", 7],
    ["0.5", 0.5],
    ["120, 30", 120],
    ["120 , 30", 120],
    ["999999999", 999_999_999],
    [String(Date.parse("2026-11-25T03:57:31Z") / 1000), 51],
    ["1000000000", 0],
    ["Wed, 25 Nov 2026 03:57:31 GMT", 51],
    ["Wednesday, 25-Nov-26 03:57:31 GMT", 51],
    ["Wed, 25 Nov 2026 03:57:31 UTC", 51],
    ["Wed, 25 Nov 2026 03:57:31 GMT ", 51],
    ["Wed Nov 25 03:57:31 2026", 51],
    ["Thu Jan  1 00:00:00 1970", 0],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
    ["-1", undefined],
    ["soon", undefined],
    ["2026-11-25T03:57:31Z", undefined],
    ["Wed, 99 Nov 2026 03:57:31 GMT", undefined],
    ["Wed, 25 Nov 2026 03:57:31 GMT+01:00", undefined],
    ["", undefined]
  ])("Retry-After %j in seconds: %s", function*([value, seconds]) {
    // A date without GMT must not be read as local time.
    vi.stubEnv("TZ", "Asia/Tokyo")
    yield* TestClock.setTime(Date.parse("2026-11-25T03:56:40Z"))
    for (const status of [429, 503]) {
      const error = yield* errorOf(status, { "retry-after": value })
      expect("retryAfter" in error ? error.retryAfter : undefined).toBe(seconds)
    }
  })

  test("the error keeps 4 KiB of the redacted body, without splitting a character", function*() {
    const body = `${"x".repeat(4095)}ü and more`
    expect(yield* errorOf(500, { "content-type": "text/plain; charset=utf-8" }, body))
      .toMatchObject({ body: Redacted.make("x".repeat(4095)) })
  })

  test.each<readonly [type: string, body: string, kept: boolean]>([
    ["application/json", "x", true],
    ["application/problem+json; charset=utf-8", "x", true],
    ["text/html", "x", true],
    ["application/xml; charset=UTF-8", "x", true],
    ["application/octet-stream", "x", false],
    ["application/octet-stream", "{}", true],
    ["", "{}", true],
    ["", "x", false],
    ["text/plain", "", false]
  ])("a body with the content type %s and the text %j is in the error: %s", function*([type, body, kept]) {
    expect("body" in (yield* errorOf(500, { "content-type": type }, body))).toBe(kept)
  })
})
