import { Headers } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Redacted } from "effect"
import * as Response from "../../../src/internal/http/response.js"
import { test } from "../../doubles/arranged.js"
import { otherRefusals } from "../../doubles/statuses.js"

const now = Date.UTC(2026, 0, 1, 12, 0, 0)

const retryAfter = (value: string) => Response.retryAfter(Headers.fromInput({ "retry-after": value }), now)

describe("retryAfter", () => {
  it.each([
    ["120", 120],
    ["0", 0],
    [" 7 ", 7],
    ["1.5", 1.5],
    ["1.123456789", 1.123456789],
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
    "on Thu, 01 Jan 2026 12:00:30 GMT",
    "Thu, 01 Jan 2026 12:00:30 GMT+01:00",
    "9".repeat(400)
  ])("passes over %j", (value) => {
    expect(retryAfter(value)).toBeUndefined()
  })

  it("is undefined where there is no such header", () => {
    expect(Response.retryAfter(Headers.empty, now)).toBeUndefined()
  })

  it.prop("is undefined, or finite and not below zero", [FastCheck.string()], ([value]) => {
    const seconds = retryAfter(value) ?? 0
    expect(Number.isFinite(seconds) && seconds >= 0).toBe(true)
  })
})

describe("isOk", () => {
  it.each<[status: number, isOk: boolean]>([[199, false], [200, true], [299, true], [300, false]])(
    "of %d is %j",
    (status, isOk) => {
      expect(Response.isOk(status)).toBe(isOk)
    }
  )
})

describe("statusError", () => {
  const answer = (status: number, body = "", headers: Record<string, string> = {}): Response.Response => ({
    status,
    headers: Headers.fromInput(headers),
    body: new TextEncoder().encode(body)
  })

  test.each([
    ...otherRefusals.map(([status, tag]) => [status, tag, tag === "UnexpectedResponse" ? "Status" : undefined]),
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
  ])("turns any other status into its error (case %#)", function*([status, tag, reason]) {
    const error = yield* Effect.flip(Response.statusError(answer(Number(status)), "search"))
    expect([error._tag, error._tag === "UnexpectedResponse" ? error.reason : undefined]).toEqual([tag, reason])
  })

  const refused = (status: number, body: Uint8Array, type: string) =>
    Response.statusError({ status, headers: Headers.fromInput({ "content-type": type }), body }, "search").pipe(
      Effect.flip,
      Effect.map((error) => error.body === undefined ? undefined : Redacted.value(error.body))
    )

  const bytes = (text: string) => new TextEncoder().encode(text)

  test.each(["application/json", "text/plain", "application/problem+json; charset=utf-8", "TEXT/HTML"])(
    "keeps what the service said in text or JSON (%s)",
    function*(type) {
      expect(yield* refused(400, bytes("no term"), type)).toBe("no term")
    }
  )

  test.each([...otherRefusals, [600, ""] as const])("keeps what the service said of a %d", function*([status]) {
    expect(yield* refused(status, bytes("{\"error\":\"why\"}"), "application/json")).toBe("{\"error\":\"why\"}")
  })

  test.each([
    ["is neither text nor JSON", 400, "application/octet-stream", "why"],
    ["has no content type", 422, "", "why"],
    ["has a content type with another one in it", 400, "image/text/plain", "why"],
    ["is empty", 400, "text/plain", ""],
    ["is a redirect", 302, "text/plain", "why"]
  ])("keeps nothing of an answer that %s", function*([_, status, type, body]) {
    const error = yield* Effect.flip(
      Response.statusError(answer(Number(status), String(body), { "content-type": String(type) }), "search")
    )
    expect(error).not.toHaveProperty("body")
  })

  it.prop("keeps the first 4 KiB, cut between two characters", [
    FastCheck.string({ unit: "grapheme", maxLength: 4_000, size: "max" })
  ], ([text]) => {
    FastCheck.pre(text !== "" && !text.startsWith("\ufeff"))
    const kept = Effect.runSync(refused(422, bytes(text), "text/plain")) ?? ""
    expect(text.startsWith(kept)).toBe(true)
    const next = Array.from(text.slice(kept.length))[0] ?? ""
    expect(bytes(kept).length).toBeLessThanOrEqual(4096)
    expect(next === "" || bytes(kept + next).length > 4096).toBe(true)
  })

  test.each([[4_095, ""], [4_094, ""], [4_093, ""], [4_092, "🥑"]])(
    "leaves out a character that is cut at 4096 bytes, behind %d others",
    function*([length, last]) {
      const before = "x".repeat(Number(length))
      expect(yield* refused(400, bytes(`${before}🥑x`), "text/plain")).toBe(`${before}${last}`)
    }
  )

  test("keeps of a body that ends within a character what it is, up to the limit", function*() {
    const cut = bytes("x".repeat(4_093) + "🥑").subarray(0, 4_096)
    expect(yield* refused(400, cut, "text/plain")).toBe(`${"x".repeat(4_093)}\ufffd`)
  })

  test("has the headers that errors may show", function*() {
    const observed = { "x-request-id": "1" }
    const errors = yield* Effect.forEach(
      [400, 302],
      (status) => Effect.flip(Response.statusError({ ...answer(status), observed }, "search"))
    )
    expect(errors.map(({ headers }) => headers)).toEqual([observed, observed])
    expect(yield* Effect.flip(Response.statusError(answer(302), "search"))).not.toHaveProperty("headers")
  })

  test.each([429, 503])("of %d has no retryAfter where the service names no time", function*(status) {
    expect(yield* Effect.flip(Response.statusError(answer(status), "search"))).not.toHaveProperty("retryAfter")
  })

  test.each([["30", 30], ["60", undefined]] as const)(
    "has a retryAfter only where it is no secret: %s",
    function*([value, expected]) {
      const response = { ...answer(429), headers: Headers.fromInput({ "retry-after": value }) }
      const error = yield* Effect.flip(Response.statusError(response, "search", [Redacted.make("60")]))
      expect(error).toMatchObject({ _tag: "TooManyRequests" })
      expect("retryAfter" in error ? error.retryAfter : undefined).toBe(expected)
    }
  )
})

describe("json", () => {
  const decoded = (bytes: Uint8Array) => Response.json({ status: 200, headers: Headers.empty, body: bytes }, "search")

  it.prop("reads what JSON can write", [FastCheck.jsonValue()], ([value]) => {
    const text = JSON.stringify(value)
    expect(Effect.runSync(decoded(new TextEncoder().encode(text)))).toEqual(JSON.parse(text))
  })

  test("passes over a byte order mark", function*() {
    expect(yield* decoded(new TextEncoder().encode("\ufeff{\"a\":1}"))).toEqual({ a: 1 })
  })

  test.each([
    new Uint8Array(),
    new TextEncoder().encode("<html>"),
    new TextEncoder().encode("{\"a\":"),
    new Uint8Array([0x22, 0xff, 0x22]),
    new Uint8Array([0x22, 0xc3, 0x22]),
    new Uint8Array([0xff, 0xfe, 0x7b, 0x00])
  ])("calls anything else NotJson (case %#)", function*(bytes) {
    expect(yield* Effect.flip(decoded(bytes))).toMatchObject({
      _tag: "UnexpectedResponse",
      status: 200,
      reason: "NotJson"
    })
  })
})
