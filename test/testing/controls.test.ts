import { HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Option, Redacted, TestClock } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"

const tokenRoute = `/v2/token-cache/unified/oauth/token/${Redacted.value(Simulator.licenseKey)}`

const ask = (method: "GET" | "POST", path: string) =>
  HttpClientRequest.make(method)(Simulator.baseUrl + path).pipe(
    HttpClient.execute,
    Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, text })))
  )

const statusOf = (method: "GET" | "POST", path: string) => Effect.map(ask(method, path), ({ status }) => status)

const test = arranged(Effect.void, Simulator.layerHttpClient({ controls: true }))

const none = { exchanges: 0, exchangesAtOnce: 0, rejections: 0, requests: 0, searches: 0, tokensIssued: 0 }

describe("control over HTTP", () => {
  test("control over HTTP: each call responds with the counters as JSON", function*() {
    yield* statusOf("POST", tokenRoute)
    const answers = yield* Effect.all([
      ask("GET", "/simulator/counters"),
      ask("POST", "/simulator/revoke"),
      ask("POST", "/simulator/recover"),
      ask("POST", "/simulator/provoke/search/hang?times=2"),
      ask("POST", "/simulator/token-lifetime?seconds=30"),
      ask("POST", "/simulator/latency/search?millis=0")
    ])
    const counters = { ...none, exchanges: 1, exchangesAtOnce: 1, tokensIssued: 1 }
    expect(answers.map(({ status, text }) => [status, JSON.parse(text)])).toEqual(answers.map(() => [200, counters]))
  })

  test("control over HTTP: state lists the tokens in use and the faults that are on", function*() {
    const { provoke, respondAlways, respondNext } = yield* Simulator.Simulator
    yield* statusOf("POST", tokenRoute)
    yield* ask("POST", "/simulator/revoke")
    yield* statusOf("POST", tokenRoute)
    yield* respondNext("search", { status: 418 })
    yield* provoke("search", "hang", 2)
    yield* provoke("token", "unavailable")
    yield* respondAlways("request", { status: 418 })
    const { text } = yield* ask("GET", "/simulator/state")
    expect(JSON.parse(text)).toEqual({
      tokens: [{ token: 2, receivedAt: 0, expiresAt: 86_155_482 }],
      faults: [
        { operation: "token", fault: "unavailable", times: null },
        { operation: "search", fault: null, times: 1 },
        { operation: "search", fault: "hang", times: 2 },
        { operation: "request", fault: null, times: null }
      ]
    })
  })

  test("control over HTTP: state is empty after an expiry and a recovery", function*() {
    yield* statusOf("POST", tokenRoute)
    yield* ask("POST", "/simulator/provoke/search/hang")
    yield* ask("POST", "/simulator/recover")
    yield* TestClock.adjust("1 day")
    expect(JSON.parse((yield* ask("GET", "/simulator/state")).text)).toEqual({ tokens: [], faults: [] })
  })

  test("control over HTTP: control calls are neither counted nor recorded", function*() {
    yield* ask("POST", "/simulator/revoke")
    yield* ask("GET", "/simulator/nothing")
    const { counters, requests } = yield* Simulator.Simulator
    expect([yield* counters, yield* requests]).toEqual([none, []])
  })

  test("control over HTTP: revoke revokes every token", function*() {
    const { text } = yield* ask("POST", tokenRoute)
    const { access_token, customer_id } = JSON.parse(text)
    yield* ask("POST", "/simulator/revoke")
    const { status } = yield* HttpClient.get(`${Simulator.baseUrl}/v2/products/napi/food/search/semantic?term=egg`, {
      headers: { authorization: `Bearer ${access_token}`, "service-id": customer_id }
    })
    expect(status).toBe(403)
  })

  test("control over HTTP: token-lifetime sets the lifetime of new tokens", function*() {
    yield* ask("POST", "/simulator/token-lifetime?seconds=30.5")
    const { text } = yield* ask("POST", tokenRoute)
    expect(JSON.parse(text).expires_in).toBe(30.5)
  })

  test("control over HTTP: latency delays the calls of one operation", function*() {
    yield* ask("POST", "/simulator/latency/token?millis=200")
    const waiting = yield* Effect.fork(statusOf("POST", tokenRoute))
    yield* TestClock.adjust("199 millis")
    expect(yield* Fiber.poll(waiting)).toEqual(Option.none())
    yield* TestClock.adjust("1 millis")
    expect(yield* Fiber.join(waiting)).toBe(200)
    expect(yield* statusOf("POST", "/v2/plan")).toBe(401)
  })

  test.each([
    "/simulator/token-lifetime",
    "/simulator/token-lifetime?seconds=0",
    "/simulator/token-lifetime?seconds=-1",
    "/simulator/token-lifetime?seconds=1e9",
    "/simulator/latency/search",
    "/simulator/latency/search?millis=soon",
    "/simulator/latency/search?millis=-1",
    "/simulator/latency/search?millis=99999999"
  ])("control over HTTP: %s gets 400 and a sentence", function*(path) {
    const { status, text } = yield* ask("POST", path)
    expect([status, JSON.parse(text).error]).toEqual([400, expect.stringMatching(/^(seconds|millis) must be a /)])
  })

  test("control over HTTP: provoke lasts until recover", function*() {
    yield* ask("POST", "/simulator/provoke/token/server-error")
    const before = yield* Effect.replicateEffect(statusOf("POST", tokenRoute), 2)
    yield* ask("POST", "/simulator/recover")
    expect([...before, yield* statusOf("POST", tokenRoute)]).toEqual([500, 500, 200])
  })

  test("control over HTTP: provoke with times affects only the next calls", function*() {
    yield* ask("POST", "/simulator/provoke/token/unavailable?times=2")
    expect(yield* Effect.replicateEffect(statusOf("POST", tokenRoute), 3)).toEqual([503, 503, 200])
  })

  test.each(["0", "-1", "1.5", "many", "", "10000"])(
    "control over HTTP: times=%j gets 400 and changes nothing",
    function*(times) {
      expect(yield* statusOf("POST", `/simulator/provoke/token/unavailable?times=${times}`)).toBe(400)
      expect(yield* statusOf("POST", tokenRoute)).toBe(200)
    }
  )

  test("control over HTTP: an unknown fault gets 404 and the list of faults", function*() {
    const { status, text } = yield* ask("POST", "/simulator/provoke/search/blank-token")
    expect(status).toBe(404)
    expect(JSON.parse(text).error).toBe(`the faults of search are ${Simulator.faults.search.join(", ")}`)
  })

  test.each(
    [
      ["GET", "/simulator/revoke"],
      ["POST", "/simulator/counters"],
      ["GET", "/simulator/provoke/token/hang"],
      ["POST", "/simulator/provoke/exchange/hang"],
      ["POST", "/simulator/provoke/constructor/hang"],
      ["GET", "/simulator/token-lifetime?seconds=30"],
      ["POST", "/simulator/latency/exchange?millis=1"],
      ["POST", "/simulator/latency/search/hang?millis=1"],
      ["POST", "/simulator/"]
    ] as const
  )("control over HTTP: %s %s gets 404 and the list of calls", function*([method, path]) {
    const { status, text } = yield* ask(method, path)
    expect({ status, error: JSON.parse(text).error }).toEqual({
      status: 404,
      error: expect.stringContaining("POST revoke")
    })
  })

  it.effect("control over HTTP: it is off by default", () =>
    Effect.gen(function*() {
      expect(yield* statusOf("POST", "/simulator/revoke")).toBe(401)
    }).pipe(Effect.provide(Simulator.layerHttpClient())))
})
