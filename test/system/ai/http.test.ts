import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { simulated } from "../SimulatorOnPort.js"
import * as McpProcess from "./McpProcess.js"
import { finding, overHttp, served, url } from "./served.js"

/** The terms of searches that begin, and of those that are interrupted; none is answered. */
const hanging = () => {
  const seen = { begun: new Array<string>(), aborted: new Array<string>() }
  const advisor = NutritionAdvisorTest.layer({
    search: (term) =>
      Effect.sync(() => seen.begun.push(term)).pipe(
        Effect.zipRight(Effect.never),
        Effect.onInterrupt(() => Effect.sync(() => seen.aborted.push(term)))
      )
  })
  return { advisor, seen }
}

const oats = McpProcess.callOf(1, "oats")

const statusOf = (...request: Parameters<typeof McpProcess.post>) =>
  Effect.map(McpProcess.post(...request), ({ status }) => status)

/** What a server answers to bytes on a connection, until it closes it. */
const raw = (address: string, bytes: string) =>
  Effect.promise(async () => {
    const socket = connect(Number(new URL(address).port), "127.0.0.1")
    socket.on("error", () => {})
    socket.write(bytes)
    return await text(socket)
  })

describe("the stock client over HTTP", () => {
  simulated(
    "lists search_foods and gets foods from the configured service by the bin",
    function*({ settings, simulator }) {
      const server = yield* McpProcess.startHttp({ args: ["--no-shared-token"], env: settings })
      expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
      const client = yield* McpProcess.connectHttp(server.url)
      const { tools } = yield* Effect.promise(() => client.listTools())
      expect(tools).toMatchObject([{ name: "search_foods", annotations: { readOnlyHint: true, idempotentHint: true } }])
      const result = yield* Effect.promise(() => McpProcess.searchFoods(client, "greek yogurt"))
      expect(result.structuredContent).toHaveProperty("results.0.name", "Greek yogurt, plain")
      expect(yield* simulator.counters).toMatchObject({ exchanges: 1, searches: 1 })
      yield* simulator.provoke("search", "unavailable")
      const failed = yield* Effect.promise(() => McpProcess.searchFoods(client, "oats"))
      const { message } = new NutritionAdvisorError.ServerError({ operation: "search", status: 503 })
      expect(failed).toMatchObject({ isError: true, content: [{ text: message }] })
      server.child.kill("SIGTERM")
      expect(yield* Effect.promise(() => server.ended)).toBe(0)
      expect(server.output.lines).toEqual([])
    }
  )

  it.scopedLive("cancels a call by a message of its own, which aborts its search, not that of another client's same id", () => {
    const { advisor, seen } = hanging()
    return Effect.gen(function*() {
      const keeps = yield* McpProcess.connectHttp(yield* url)
      const cancels = yield* McpProcess.connectHttp(yield* url)
      const canceller = new AbortController()
      void McpProcess.searchFoods(keeps, "kept").catch(() => undefined)
      yield* McpProcess.until(() => seen.begun.length === 1)
      const cancelled = yield* Effect.fork(
        Effect.tryPromise(() => McpProcess.searchFoods(cancels, "cancelled", { signal: canceller.signal }))
      )
      yield* McpProcess.until(() => seen.begun.length === 2)
      canceller.abort()
      expect((yield* Fiber.await(cancelled))._tag).toBe("Failure")
      yield* McpProcess.until(() => seen.aborted.length === 1)
      yield* Effect.promise(() => cancels.ping())
      expect(seen.aborted).toEqual(["cancelled"])
    }).pipe(Effect.provide(served(advisor)))
  })
})

describe("a request over HTTP", () => {
  it.scopedLive("whose connection closes aborts its search", () => {
    const { advisor, seen } = hanging()
    return Effect.gen(function*() {
      const canceller = new AbortController()
      const address = yield* url
      const fiber = yield* Effect.fork(
        Effect.tryPromise(() => fetch(address, { method: "POST", body: oats, signal: canceller.signal }))
      )
      yield* McpProcess.until(() => seen.begun.length === 1)
      canceller.abort()
      yield* McpProcess.until(() => seen.aborted.length === 1)
      expect((yield* Fiber.await(fiber))._tag).toBe("Failure")
    }).pipe(Effect.provide(served(advisor)))
  })

  const foreign = [
    "https://app.example",
    "null",
    "http://localhost.example",
    "http://127.0.0.1.example",
    "http://user@localhost",
    "http://localhost/path",
    "file://localhost",
    "http://192.168.0.7",
    ""
  ]

  overHttp.each(foreign)("from the foreign origin %j gets 403, whatever its method", function*(origin, address) {
    expect(yield* statusOf(address, oats, { origin })).toBe(403)
    const preflight = yield* Effect.promise(() => fetch(address, { method: "OPTIONS", headers: { origin } }))
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([403, null])
  })

  overHttp.each(["http://localhost:6274", "https://127.0.0.1", "http://[::1]:80", "http://127.9.8.7:1"])(
    "from the page of this machine %s is answered, and the page may read it",
    function*(origin, address) {
      const response = yield* McpProcess.post(address, oats, { origin })
      expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([200, origin])
    }
  )

  overHttp("from a named origin is answered, from another one not, and `null` can't be named", function*(address) {
    expect(yield* statusOf(address, oats, { origin: "https://app.example" })).toBe(200)
    expect(yield* statusOf(address, oats, { origin: "https://app.example:8443" })).toBe(403)
    expect(yield* statusOf(address, oats, { origin: "null" })).toBe(403)
    expect(yield* statusOf(address, oats)).toBe(200)
  }, served(finding, { allowedOrigins: ["https://App.example/", "null"] }))

  overHttp("without the token that is asked for, or with another one, gets 401", function*(address) {
    expect(yield* statusOf(address, oats)).toBe(401)
    expect(yield* statusOf(address, oats, { authorization: "Bearer other" })).toBe(401)
    expect(yield* statusOf(address, oats, { authorization: "Bearer the token" })).toBe(200)
  }, served(finding, { token: Redacted.make("the token") }))

  overHttp("at another path gets 404, with another method 405, and with a body above 64 KiB 413", function*(address) {
    const at = (path: string, init?: RequestInit) =>
      Effect.map(Effect.promise(() => fetch(new URL(path, address), init)), ({ status }) => status)
    expect(yield* at("/mcp", { method: "POST", body: oats })).toBe(404)
    expect(yield* at("/agents?x=1", { method: "POST", body: oats })).toBe(200)
    expect(yield* at("/agents")).toBe(405)
    expect(yield* at("/agents", { method: "DELETE" })).toBe(405)
    expect(yield* at("/agents", { method: "POST", body: McpProcess.callOf(1, "x".repeat(66_000)) })).toBe(413)
  }, served(finding, { path: "/agents" }))

  const targets: ReadonlyArray<readonly [string, number]> = [
    ["//", 400],
    ["http://", 400],
    ["http://[", 400],
    ["*", 404],
    ["/%", 404],
    ["http://other.example/mcp", 405],
    ["/mcp?x=%", 405]
  ]

  overHttp.each(targets)("to the target %s gets %d", function*([target, status], address) {
    expect(yield* raw(address, `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`))
      .toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  overHttp.each([70_000, 1_000_000, 10_000_000])(
    "with a chunked body of %d bytes gets 413, and its connection can be used again",
    function*(bytes, address) {
      const chunk = "x".repeat(10_000)
      const body = `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(bytes / chunk.length)
      const head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\n"
      const answers = yield* raw(
        address,
        `${head}transfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n${head}connection: close\r\ncontent-length: 2\r\n\r\n{}`
      )
      expect(answers.match(/HTTP\/1.1 \d{3}/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"])
    }
  )

  overHttp("that is a batch is answered as one, and a notification with 202", function*(address) {
    const pings = `[${McpProcess.message("a", "ping", {})},${McpProcess.message(0, "ping", {})}]`
    const batch = yield* McpProcess.post(address, pings)
    expect(yield* Effect.promise(() => batch.json())).toEqual([
      { jsonrpc: "2.0", id: "a", result: {} },
      { jsonrpc: "2.0", id: 0, result: {} }
    ])
    const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })
    const notification = yield* McpProcess.post(address, initialized)
    expect([notification.status, yield* Effect.promise(() => notification.text())]).toEqual([202, ""])
  })

  overHttp("carries structured content where its protocol version has it", function*(address) {
    const structured = (headers: Record<string, string>) =>
      Effect.flatMap(
        McpProcess.post(address, oats, headers),
        (response) => Effect.promise(async () => (await response.text()).includes("structuredContent"))
      )
    expect(yield* structured({ "mcp-protocol-version": "2025-06-18" })).toBe(true)
    expect(yield* structured({ "mcp-protocol-version": "2025-03-26" })).toBe(false)
    expect(yield* structured({})).toBe(false)
  })
})
