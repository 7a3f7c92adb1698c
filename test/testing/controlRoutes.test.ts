import { HttpClient, HttpClientRequest } from "@effect/platform"
import { expect } from "@effect/vitest"
import { Effect, Fiber, Option, Redacted, TestClock } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"

const exchangePath = `/v2/token-cache/unified/oauth/token/${Redacted.value(Simulator.licenseKey)}`

const send = (method: "GET" | "POST", path: string) =>
  HttpClientRequest.make(method)(Simulator.baseUrl + path).pipe(
    HttpClient.execute,
    Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, text })))
  )

const statusOf = (method: "GET" | "POST", path: string) => Effect.map(send(method, path), ({ status }) => status)

const exchange = statusOf("POST", exchangePath)

const test = arranged(Simulator.Simulator, Simulator.layerHttpClient({ controls: true }))

const none = { exchanges: 0, exchangesAtOnce: 0, rejections: 0, requests: 0, searches: 0, tokensIssued: 0 }

test("simulator controls: each call returns the counters as JSON", function*() {
  yield* exchange
  const responses = yield* Effect.all([
    send("GET", "/simulator/counters"),
    send("POST", "/simulator/revoke"),
    send("POST", "/simulator/recover"),
    send("POST", "/simulator/provoke/search/hang?times=2"),
    send("POST", "/simulator/token-lifetime?seconds=30"),
    send("POST", "/simulator/latency/search?millis=0")
  ])
  const counters = { ...none, exchanges: 1, exchangesAtOnce: 1, tokensIssued: 1 }
  expect(responses.map(({ status, text }) => [status, JSON.parse(text)])).toEqual(responses.map(() => [200, counters]))
})

test(
  "simulator controls: state lists the valid tokens and the active faults",
  function*({ provoke, respondAlways, respondNext }) {
    yield* exchange
    yield* send("POST", "/simulator/revoke")
    yield* exchange
    yield* respondNext("search", { status: 418 })
    yield* provoke("search", "hang", 2)
    yield* provoke("token", "unavailable")
    yield* respondAlways("request", { status: 418 })
    const { text } = yield* send("GET", "/simulator/state")
    expect(JSON.parse(text)).toEqual({
      tokens: [{ token: 2, receivedAt: 0, expiresAt: 86_155_482 }],
      faults: [
        { operation: "token", fault: "unavailable", times: null },
        { operation: "search", fault: null, times: 1 },
        { operation: "search", fault: "hang", times: 2 },
        { operation: "request", fault: null, times: null }
      ]
    })
  }
)

test("simulator controls: `state` is empty once the tokens have expired and `recover` has been called", function*() {
  yield* exchange
  yield* send("POST", "/simulator/provoke/search/hang")
  yield* send("POST", "/simulator/recover")
  yield* TestClock.adjust("1 day")
  expect(JSON.parse((yield* send("GET", "/simulator/state")).text)).toEqual({ tokens: [], faults: [] })
})

test("simulator controls: token-lifetime sets the lifetime of new tokens", function*() {
  yield* send("POST", "/simulator/token-lifetime?seconds=30.5")
  const { text } = yield* send("POST", exchangePath)
  expect(JSON.parse(text).expires_in).toBe(30.5)
})

test("simulator controls: latency delays the calls of one operation, and planned responses, too", function*(simulator) {
  yield* simulator.respondNext("token", { status: 503 })
  yield* send("POST", "/simulator/latency/token?millis=200")
  const waiting = yield* Effect.fork(exchange)
  yield* TestClock.adjust("199 millis")
  expect(yield* Fiber.poll(waiting)).toEqual(Option.none())
  yield* TestClock.adjust("1 millis")
  expect(yield* Fiber.join(waiting)).toBe(503)
  expect(yield* statusOf("POST", "/v2/plan")).toBe(401)
})

test.each([
  "/simulator/token-lifetime",
  "/simulator/token-lifetime?seconds=0",
  "/simulator/token-lifetime?seconds=1e9",
  "/simulator/latency/search?millis=soon",
  "/simulator/latency/search?millis=99999999"
])("simulator controls: %s gets 400 with a message", function*(path) {
  const { status, text } = yield* send("POST", path)
  expect(status).toBe(400)
  expect(JSON.parse(text).error).toMatch(/^(seconds|millis) must be a /)
})

test("simulator controls: `provoke` with `times` affects only that many calls", function*() {
  yield* send("POST", "/simulator/provoke/token/unavailable?times=2")
  expect(yield* Effect.replicateEffect(exchange, 3)).toEqual([503, 503, 200])
})

test.each(["0", "-1", "1.5", "many", "", "10000"])(
  "simulator controls: provoke with times=%j gets 400 and changes nothing",
  function*(times) {
    expect(yield* statusOf("POST", `/simulator/provoke/token/unavailable?times=${times}`)).toBe(400)
    expect(yield* exchange).toBe(200)
  }
)

test("simulator controls: an unknown fault gets 404 with the list of faults", function*() {
  const { status, text } = yield* send("POST", "/simulator/provoke/search/blank-token")
  const error = `the faults of search are ${Simulator.faults.search.join(", ")}`
  expect(status).toBe(404)
  expect(JSON.parse(text).error).toBe(error)
})

test.each(
  [
    ["GET", "/simulator/revoke"],
    ["GET", "/simulator/provoke/token/hang"],
    ["POST", "/simulator/provoke/exchange/hang"],
    ["POST", "/simulator/provoke/constructor/hang"],
    ["POST", "/simulator/latency/search/hang?millis=1"],
    ["POST", "/simulator"]
  ] as const
)("simulator controls: %s %s gets 404 with the list of calls", function*([method, path]) {
  const { status, text } = yield* send(method, path)
  expect(status).toBe(404)
  expect(JSON.parse(text).error).toContain("POST /simulator/revoke")
})

test("simulator controls: they are off by default", function*() {
  expect(yield* statusOf("POST", "/simulator/revoke")).toBe(401)
}, Simulator.layerHttpClient())
