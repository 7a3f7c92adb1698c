import { HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Platform from "../../src/internal/http/platform.js"

const responseOf = (status: number, headers: Record<string, string> = {}, body = "") =>
  Platform.responseOf(HttpClientRequest.get("/"), { origin: "https://advisor.example", path: "/" }, {
    status,
    headers,
    body: new TextEncoder().encode(body)
  })

describe("platform response", () => {
  it.effect("a platform response has the status, headers and body of the original", () =>
    Effect.gen(function*() {
      const response = responseOf(203, { "x-one": "1" }, "found")
      expect([response.status, { ...response.headers }, yield* response.text]).toEqual([203, { "x-one": "1" }, "found"])
    }))

  it("invalid headers are dropped, because a web Response would throw", () => {
    expect({ ...responseOf(200, { "x-one": "1", "x bad": "1", "x-bad": "a\nb" }).headers }).toEqual({ "x-one": "1" })
  })

  it.effect.each([204, 205])("a response with status %d has an empty body", (status) =>
    Effect.gen(function*() {
      expect(yield* responseOf(status).text).toBe("")
    }))
})
