import { Headers } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Option } from "effect"
import * as Answer from "../../src/internal/answer.js"

const now = Date.UTC(2026, 0, 1, 12, 0, 0)

const retryAfter = (value: string) => Answer.retryAfter(Headers.fromInput({ "retry-after": value }), now)

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
    expect(Answer.retryAfter(Headers.empty, now)).toBeUndefined()
  })

  it.prop("is undefined, or finite and not below zero", [FastCheck.string()], ([value]) => {
    const seconds = retryAfter(value) ?? 0
    expect(Number.isFinite(seconds) && seconds >= 0).toBe(true)
  })
})

describe("refusal", () => {
  const answer = (status: number, body = "", headers: Record<string, string> = {}): Answer.Answer => ({
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
      const error = yield* Effect.flip(Answer.refusal(answer(Number(status)), "search", Option.some([])))
      expect([error._tag, error._tag === "UnexpectedResponse" ? error.reason : undefined]).toEqual([tag, reason])
    }))

  it.effect.each(["application/json", "text/plain", "application/problem+json; charset=utf-8", "TEXT/HTML"])(
    "keeps the text of a 400 (%s)",
    (type) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(
          Answer.refusal(answer(400, "no term", { "content-type": type }), "search", Option.some([]))
        )
        expect(error).toMatchObject({ detail: "no term" })
      })
  )

  it.effect("keeps nothing of a 400 that is not text", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        Answer.refusal(
          answer(400, "\u0001\u0002", { "content-type": "application/octet-stream" }),
          "search",
          Option.some([])
        )
      )
      expect(error).not.toHaveProperty("detail")
    }))
})

describe("json", () => {
  const decoded = (bytes: Uint8Array) => Answer.json({ status: 200, headers: Headers.empty, body: bytes }, "search")

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
