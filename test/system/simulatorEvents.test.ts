import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { expect } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { testLive } from "../support/doubles/arranged.js"
import * as WatchedSimulator from "../support/doubles/WatchedSimulator.js"
import { eventually } from "../support/doubles/Wire.js"

const { searchPath, start, tokenPath } = WatchedSimulator

const demoKey = Redacted.value(Simulator.licenseKey)

const post = { method: "POST" } as const

testLive("simulator page: it is a single document that loads nothing and runs only its own script", function*() {
  const { send } = yield* start()
  const { headers, status, text } = (yield* send("/simulator/")) ?? { headers: {}, status: 0, text: "" }
  expect(status).toBe(200)
  expect(headers["content-type"]).toBe("text/html; charset=utf-8")
  const [script = "", ...others] = Array.from(
    text.matchAll(/<script type="module">([^]*?)<\/script>/g),
    ([, code]) => code
  )
  expect(others).toEqual([])
  const policy = String(headers["content-security-policy"]).split("; ")
  const hash = createHash("sha256").update(script).digest("base64")
  expect(policy).toEqual(
    expect.arrayContaining(["default-src 'none'", `script-src 'sha256-${hash}'`, "connect-src 'self'"])
  )
  expect(policy.join()).not.toMatch(/unsafe|\*|https?:/)
  expect(text).not.toMatch(/<link rel="stylesheet"|<script[^>]+src=|https?:\/\/(?!www\.w3\.org\/2000\/svg)/)
})

testLive("simulator page: it contains the current settings but no license key", function*() {
  const { send } = yield* start({ licenseKeys: ["key-of-the-test"], tokenLifetime: 30, customerId: "id-of-the-test" })
  yield* send("/simulator/latency/search?millis=20", post)
  const page = yield* send("/simulator/")
  const settings = JSON.parse(/id="settings">(.*?)<\/script>/.exec(page?.text ?? "")?.[1] ?? "{}")
  expect(settings).toEqual({
    faults: Simulator.faults,
    latency: { token: 0, search: 20, request: 0 },
    tokenLifetime: 30
  })
  expect(page?.text).not.toMatch(new RegExp(`key-of-the-test|id-of-the-test|${demoKey}`))
})

testLive("simulator page: it is served below pathPrefix, with a redirect to the trailing slash", function*() {
  const { send } = yield* start({ pathPrefix: "/advisor" })
  const moved = yield* send("/advisor/simulator")
  expect(moved?.status).toBe(308)
  expect(moved?.headers.location).toBe("simulator/")
  expect((yield* send("/advisor/simulator/"))?.status).toBe(200)
})

testLive("stream of events: it contains each call, token and revocation", function*() {
  const { exchange, eventsForNewViewer: seen, send, service } = yield* start({ tokenLifetime: 30.5 })
  const headers = yield* exchange
  yield* send(`${searchPath}?term=apple`, { headers })
  yield* service.revoke
  yield* send(`${searchPath}?term=apple`, { headers })
  yield* service.provoke("request", "unavailable", 1)
  yield* send("/v2/plan?day=1")
  const events = yield* seen
  const number = expect.any(Number)
  const call = { id: number, at: number, duration: number, fault: null, token: 1 }
  const search = { ...call, operation: "search", method: "GET", route: searchPath }
  expect(events).toEqual([
    { id: number, token: 1, receivedAt: number, expiresAt: number },
    { ...call, operation: "token", method: "POST", route: `${tokenPath}/{key}`, status: 200, token: null },
    { ...search, status: 200 },
    { id: number, at: number, revoked: [1] },
    { ...search, status: 403 },
    {
      ...call,
      operation: "request",
      method: "GET",
      route: "/v2/plan",
      status: 503,
      token: null,
      fault: "unavailable"
    }
  ])
  expect(Number(events[0]?.["expiresAt"]) - Number(events[0]?.["receivedAt"])).toBe(30_500)
  expect(Math.abs(Number(events[0]?.["receivedAt"]) - Date.now())).toBeLessThan(60_000)
  const ids = events.map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other))
})

testLive("stream of events: each event has its id as its SSE id, and nothing is cached", function*() {
  const { send, watch } = yield* start()
  yield* send("/v2/plan")
  const viewer = yield* watch()
  yield* eventually(() => viewer.events().length === 1)
  const frames = viewer.text().split("\n\n").filter((frame) => frame.includes("data:"))
  expect(frames.map((frame) => frame.split("\n")[0])).toEqual(viewer.events().map(({ id }) => `id: ${id}`))
  expect(viewer.response.headers).toMatchObject({ "content-type": "text/event-stream", "cache-control": "no-store" })
})

type Begin = (service: Simulator.Service) => Effect.Effect<void>

const endless = (["drop", "cut-short", "hang"] as const).map((fault): readonly [string, object, Begin] => [
  `with the fault ${fault}`,
  { status: fault, fault },
  ({ provoke }) => provoke("search", fault, 1)
])

testLive.each<readonly [string, object, Begin]>([
  ...endless,
  [
    "whose client disconnects early",
    { status: "hang", fault: null },
    ({ setLatency }) => setLatency("search", "1 hour")
  ]
])("stream of events: for a call %s, the status says what happened: %j", function*([_, seen, begin]) {
  const { send, service, watch } = yield* start()
  yield* begin(service)
  const viewer = yield* watch()
  expect(yield* send(searchPath, { signal: AbortSignal.timeout(2_000) })).toBeUndefined()
  yield* eventually(() => viewer.events().length > 0)
  expect(viewer.events()).toEqual([expect.objectContaining(seen)])
})

testLive("stream of events: calls below /simulator/ and requests for icons are left out", function*() {
  const { eventsForNewViewer: seen, send, service } = yield* start()
  for (const path of ["/simulator/", "/simulator", "/simulator/icon.svg", "/simulator/counters", "/favicon.ico"]) {
    yield* send(path)
  }
  yield* send("/simulator/nothing", post)
  expect(yield* seen).toEqual([])
  expect(yield* service.requests).toEqual([])
})

testLive("stream of events: a viewer gets the last 1,000 events, or those after Last-Event-ID", function*() {
  const { eventsForNewViewer: seen, service, watch } = yield* start()
  yield* Effect.replicateEffect(service.revoke, 3_456, { discard: true })
  const events = yield* seen
  expect(events).toHaveLength(1_000)
  const next = yield* watch({ "last-event-id": String(events[989]?.id) })
  yield* eventually(() => next.events().length > 0)
  expect(next.events()).toEqual(events.slice(990))
  const unreadable = yield* watch({ "last-event-id": "soon" })
  yield* eventually(() => unreadable.events().length > 0)
  expect(unreadable.events()).toEqual(events)
})

testLive("stream of events: a late viewer gets the current token, even if many events followed it", function*() {
  const { exchange, eventsForNewViewer: seen, send, service, watch } = yield* start()
  yield* exchange
  yield* Effect.replicateEffect(service.revoke, 1_950, { discard: true })
  yield* exchange
  yield* Effect.replicateEffect(send("/v2/plan"), 1_060, { concurrency: 50 })
  const events = yield* seen
  const tokens = events.filter((event) => "expiresAt" in event)
  expect(events).toHaveLength(1_001)
  expect(tokens.map(({ token }) => token)).toEqual([2])
  expect(tokens[0]?.id).toBeLessThan(events[1]?.id ?? 0)
  const next = yield* watch({ "last-event-id": String(events[0]?.id) })
  yield* eventually(() => next.events().length > 0)
  expect(next.events()).toEqual(events.slice(1))
  yield* service.revoke
  expect((yield* seen).filter((event) => "expiresAt" in event)).toEqual([])
})

testLive("stream of events: ids are higher after a restart", function*() {
  const last = Effect.scoped(
    Effect.gen(function*() {
      const { eventsForNewViewer: seen, service } = yield* start()
      yield* Effect.replicateEffect(service.revoke, 500, { discard: true })
      return (yield* seen).at(-1)?.id ?? 0
    })
  )
  const ids = [yield* last, yield* last]
  expect(ids[1]).toBeGreaterThan(ids[0] ?? 0)
  expect(ids.every(Number.isSafeInteger)).toBe(true)
})

testLive("stream of events: at most 64 viewers can connect at a time", function*() {
  const { watch } = yield* start()
  const status = Effect.map(watch(), ({ response }) => response.statusCode)
  const [viewer] = yield* Effect.replicateEffect(watch(), 63)
  expect(yield* status).toBe(200)
  expect(yield* status).toBe(503)
  viewer?.response.destroy()
  expect(yield* Effect.repeat(status, { while: (code) => code === 503 })).toBe(200)
  expect(yield* status).toBe(503)
})

testLive("stream of events: a viewer that never reads is dropped without affecting others", function*() {
  const { send, server, service, watch } = yield* start()
  const connections = Effect.promise(() => promisify(server.getConnections.bind(server))())
  const stuck = yield* watch()
  stuck.response.pause()
  const reading = yield* watch()
  while ((yield* connections) > 1) {
    yield* Effect.replicateEffect(service.revoke, 2_000, { discard: true })
    yield* Effect.sleep("5 millis")
  }
  yield* send("/v2/the-last-one")
  yield* eventually(() => reading.text().includes("/v2/the-last-one"))
  const ids = reading.events().map(({ id }) => id)
  expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index))
  expect(ids.length).toBeGreaterThan(10_000)
})

testLive("stream of events: it ends with the simulator", function*() {
  const viewer = yield* Effect.scoped(Effect.flatMap(start(), ({ watch }) => watch()))
  yield* eventually(() => viewer.response.closed)
})
