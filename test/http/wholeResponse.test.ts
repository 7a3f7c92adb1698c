import { HttpClientRequest } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { toPlatform } from "../../src/internal/http/platform/wholeResponse.js"

it("platform response: invalid headers are dropped, because a web Response would throw", () => {
  const { headers } = toPlatform(
    HttpClientRequest.get("/"),
    { origin: "https://advisor.example", path: "/" },
    { status: 200, headers: { "x-one": "1", "x bad": "1", "x-bad": "a\nb" }, body: new Uint8Array() }
  )
  expect({ ...headers }).toEqual({ "x-one": "1" })
})
