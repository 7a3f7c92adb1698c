/** What a caller passes on: headers of its own caller, some of which belong to another connection. */
import { HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { test } from "./doubles/arranged.js"

/** A service that notes the headers of data requests, and the layer over it. */
const noting = () => {
  const seen: Array<Readonly<Record<string, string>>> = []
  const client = HttpClient.make((request, url) =>
    Effect.sync(() => {
      const isExchange = url.pathname.includes("/oauth/")
      if (!isExchange) seen.push({ ...request.headers })
      const body = isExchange ? { access_token: "token", customer_id: "customer", expires_in: 60 } : {}
      return HttpClientResponse.fromWeb(request, Response.json(body))
    })
  )
  const { baseUrl, licenseKey } = Simulator
  const Advisor = Layer.provide(
    NutritionAdvisor.layer({ baseUrl, licenseKey }),
    Layer.succeed(HttpClient.HttpClient, client)
  )
  return { seen, Advisor }
}

const ofConnection = {
  connection: "keep-alive",
  "keep-alive": "timeout=5",
  "proxy-connection": "keep-alive",
  "transfer-encoding": "chunked",
  te: "trailers",
  trailer: "expires",
  upgrade: "h2c",
  expect: "100-continue",
  host: "elsewhere.example",
  "content-length": "17"
}

describe.each(Object.entries(ofConnection))("the header %s: %s of a caller", (name, value) => {
  const headers = { [name.toUpperCase()]: value, "x-request-id": "1" }

  test("is left out of a search and of a request, and others go through", function*() {
    const { Advisor, seen } = noting()
    yield* Effect.gen(function*() {
      const { httpClient, search } = yield* NutritionAdvisor.NutritionAdvisor
      yield* search("oats", { headers })
      yield* httpClient.get("/v2/x", { headers })
    }).pipe(Effect.provide(Advisor))
    expect(seen.map((headers) => [headers[name], headers["x-request-id"]])).toEqual([[undefined, "1"], [
      undefined,
      "1"
    ]])
  })
})

describe("content-length", () => {
  const lengthOf = (body: HttpBody.HttpBody) =>
    Effect.gen(function*() {
      const { Advisor, seen } = noting()
      const post = HttpClientRequest.post("/v2/x").pipe(
        HttpClientRequest.setBody(body),
        HttpClientRequest.setHeader("content-length", "17")
      )
      yield* Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.execute(post)).pipe(
        Effect.provide(Advisor)
      )
      return seen[0]?.["content-length"]
    })

  test("is that of the body where the body decides it, and the caller's for a stream of unknown length", function*() {
    expect(yield* lengthOf(HttpBody.text("oats"))).toBe("4")
    expect(yield* lengthOf(HttpBody.stream(Stream.make(new Uint8Array(17))))).toBe("17")
  })
})
