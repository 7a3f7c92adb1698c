import { HttpClientRequest } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { statusTextOf } from "../../src/internal/http/platform/nativeResponse.js"
import { toPlatform } from "../../src/internal/http/platform/wholeResponse.js"

it("platform response: a reason phrase that isn't Latin-1 is dropped, because a web Response would throw", () => {
  const response = toPlatform(
    HttpClientRequest.get("/"),
    { origin: "https://advisor.example", path: "/" },
    { status: 200, statusText: "Готово", headers: {}, body: new Uint8Array(), isWhole: true }
  )
  expect(statusTextOf(response)).toBe("")
})

it("platform response: headers that HTTP does not allow are dropped, because a web Response would throw", () => {
  const { headers } = toPlatform(
    HttpClientRequest.get("/"),
    { origin: "https://advisor.example", path: "/" },
    {
      status: 200,
      headers: { "x-one": "1", "x bad": "1", "x-bad": "a\nb" },
      body: new Uint8Array(),
      isWhole: true
    }
  )
  expect({ ...headers }).toEqual({ "x-one": "1" })
})
