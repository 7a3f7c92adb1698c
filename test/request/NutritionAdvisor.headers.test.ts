/** Headers that a caller forwards, some of which belong to its own connection. */
import { HttpBody, HttpClientRequest } from "@effect/platform"
import { expect } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import { advisor } from "../support/doubles/simulatedAdvisor.js"

const over = (options: Partial<NutritionAdvisor.Options> = {}) =>
  advisor(options, { routes: { "POST /v2/x": () => ({ status: 200, body: {} }) } })

const test = arranged(NutritionAdvisor.NutritionAdvisor, over())

const requests = Effect.flatMap(Simulator.Simulator, ({ requests }) => requests)

/** The headers of data requests. */
const sent = Effect.map(
  requests,
  (all) => all.filter(({ operation }) => operation !== "token").map(({ headers }) => headers)
)

/** A header of each request, exchanges included. */
const valuesOf = (name: string) =>
  Effect.map(requests, (all) => all.map(({ headers, operation }) => [operation, headers[name]]))

test.each([
  ["connection", "keep-alive"],
  ["keep-alive", "timeout=5"],
  ["proxy-connection", "keep-alive"],
  ["transfer-encoding", "chunked"],
  ["te", "trailers"],
  ["trailer", "expires"],
  ["upgrade", "h2c"],
  ["http2-settings", "AAMAAABkAAQCAAAAAAIAAAAA"],
  ["expect", "100-continue"],
  ["host", "elsewhere.example"],
  ["accept-encoding", "gzip, br, zstd"],
  ["content-length", "17"],
  [":method", "GET"],
  [":path", "/foods"],
  [":authority", "elsewhere.example"],
  [":scheme", "https"]
])("headers: no call forwards the caller's %s: %s", function*([name = "", value], { httpClient, search }) {
  const headers = { [name.toUpperCase()]: value, "x-request-id": "1" }
  yield* search("oats", { headers })
  yield* Effect.exit(httpClient.get("/v2/x", { headers }))
  expect((yield* sent).map((all) => [all[name], all["x-request-id"]])).toEqual(Array(2).fill([undefined, "1"]))
})

test.each<readonly [accept: string, headers: Readonly<Record<string, string>>]>([
  ["*/*", {}],
  ["application/json", { Accept: "application/json" }]
])(
  "Accept: a search and a request send %s if the caller's headers are %j, and an exchange sends */*",
  function*([accept, headers], { httpClient, search }) {
    yield* search("oats", { headers })
    yield* Effect.exit(httpClient.get("/v2/x", { headers }))
    expect(yield* valuesOf("accept")).toEqual([["token", "*/*"], ["search", accept], ["request", accept]])
  }
)

test.each([
  ["if-none-match", "W/\"2a\""],
  ["if-modified-since", "Sun, 29 Nov 2026 19:00:00 GMT"],
  ["if-match", "\"2a\""],
  ["if-unmodified-since", "Sun, 29 Nov 2026 19:00:00 GMT"],
  ["if-range", "\"2a\""],
  ["range", "bytes=0-99"]
])(
  "headers: a request forwards the caller's %s (%s), and a search doesn't",
  function*([name = "", value], { httpClient, search }) {
    const headers = { [name.toUpperCase()]: value, "x-request-id": "1" }
    yield* search("oats", { headers })
    yield* Effect.exit(httpClient.get("/v2/x", { headers }))
    const [ofSearch, ofRequest] = yield* sent
    expect(ofSearch).toMatchObject({ "x-request-id": "1" })
    expect(ofSearch).not.toHaveProperty(name)
    expect(ofRequest).toMatchObject({ "x-request-id": "1", [name]: value })
  }
)

test.each<readonly [string, HttpBody.HttpBody, string]>([
  ["the length of a string", HttpBody.text("oats"), "4"],
  ["the length given with a stream", HttpBody.stream(Stream.make(new Uint8Array(4)), undefined, 4), "4"],
  ["the caller's for a stream of unknown length", HttpBody.stream(Stream.make(new Uint8Array(17))), "17"]
])("headers: content-length is %s", function*([, body, length], { httpClient }) {
  const post = HttpClientRequest.post("/v2/x", { body }).pipe(HttpClientRequest.setHeader("content-length", "17"))
  yield* httpClient.execute(post)
  expect((yield* sent).map((headers) => headers["content-length"])).toEqual([length])
})

test("User-Agent: a header of the call overrides the setting", function*({ httpClient, search }) {
  yield* search("oats", { headers: { "User-Agent": "mine/1" } })
  yield* httpClient.post("/v2/x", { headers: { "User-Agent": "mine/2" } })
  expect(yield* valuesOf("user-agent")).toEqual([["token", "shop/2"], ["search", "mine/1"], ["request", "mine/2"]])
}, over({ userAgent: "shop/2" }))
