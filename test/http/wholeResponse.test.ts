import { HttpClientRequest } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { BufferedResponse } from "../../src/internal/http/messages.js"
import { statusTextOf } from "../../src/internal/http/platform/nativeResponse.js"
import { toPlatform, WholeResponse } from "../../src/internal/http/platform/wholeResponse.js"

const empty: BufferedResponse = { status: 200, headers: {}, body: new Uint8Array(), isWhole: true }

const responseWith = (parts: Pick<BufferedResponse, "headers" | "statusText">) =>
  toPlatform(HttpClientRequest.get("/"), { origin: "https://advisor.example", path: "/" }, { ...empty, ...parts })

it("platform response: the stream of an empty body is empty", async () => {
  const { stream } = responseWith({ headers: {} })
  expect(await Effect.runPromise(Stream.runCount(stream))).toBe(0)
})

it("platform response: a reason phrase that isn't Latin-1 is dropped, because a web Response would throw", () => {
  expect(statusTextOf(responseWith({ statusText: "Готово", headers: {} }))).toBe("")
})

it("platform response: headers that HTTP does not allow are dropped, because a web Response would throw", () => {
  const { headers } = responseWith({ headers: { "x-one": "1", "x bad": "1", "x-bad": "a\nb" } })
  expect({ ...headers }).toEqual({ "x-one": "1" })
})

it("platform response: a missing header is null, as in a web Response", () => {
  expect(new WholeResponse(empty, "https://advisor.example/").headers.get("x-one")).toBeNull()
})
