import { createServer } from "node:http"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { type NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorMcp } from "effect-nutrition-advisor/ai"
import { NutritionAdvisorTest, Simulator } from "effect-nutrition-advisor/testing"
import * as McpProcess from "./McpProcess.js"

const OnPort = NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })

const url = HttpServer.addressFormattedWith((origin) => Effect.succeed(`${origin}/mcp`))

/** Counts searches that begin, and those that are interrupted; none is answered. */
const hanging = (seen: { begun: number; aborted: number }) =>
  NutritionAdvisorTest.layer({
    search: () =>
      Effect.sync(() => seen.begun += 1).pipe(
        Effect.zipRight(Effect.never),
        Effect.onInterrupt(() => Effect.sync(() => seen.aborted += 1))
      )
  })

const served = <E, R>(
  advisor: Layer.Layer<NutritionAdvisor.NutritionAdvisor, E, R>,
  options?: NutritionAdvisorMcp.HttpOptions
) => NutritionAdvisorMcp.layerHttp(options).pipe(Layer.provide(advisor), Layer.provideMerge(OnPort))

const finding = NutritionAdvisorTest.layer({ search: (term) => Effect.succeed({ results: [{ name: term }] }) })

const message = (method: string, params?: unknown, id: number | string = 1) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params })

const call = (term: string, id?: number | string) =>
  message("tools/call", { name: "search_foods", arguments: { term } }, id)

const post = (url: string, body: string, headers: Record<string, string> = {}, signal: AbortSignal | null = null) =>
  Effect.promise(() => fetch(url, { method: "POST", body, headers, signal }))

/** What a server answers to bytes on a connection, until it closes it. */
const raw = (port: number, bytes: string) =>
  Effect.promise(async () => {
    const socket = connect(port, "127.0.0.1")
    socket.on("error", () => {})
    socket.write(bytes)
    return await text(socket)
  })

const until = (condition: () => boolean) =>
  Effect.promise(() => expect.poll(condition, { timeout: 20_000, interval: 20 }).toBe(true))

describe("the stock client over HTTP", () => {
  it.scopedLive(
    "lists search_foods and gets foods from the configured service by the bin",
    () =>
      Effect.gen(function*() {
        const baseUrl = yield* HttpServer.addressFormattedWith(Effect.succeed)
        const server = yield* McpProcess.startHttp({
          args: ["--no-shared-token"],
          env: {
            NUTRITION_ADVISOR_BASE_URL: baseUrl,
            NUTRITION_ADVISOR_LICENSE_KEY: Redacted.value(Simulator.licenseKey)
          }
        })
        expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
        const client = yield* McpProcess.connectHttp(server.url)
        const { tools } = yield* Effect.promise(() => client.listTools())
        expect(tools).toMatchObject([{
          name: "search_foods",
          annotations: { readOnlyHint: true, idempotentHint: true }
        }])
        const result = yield* Effect.promise(() => McpProcess.searchFoods(client, "greek yogurt"))
        expect(result.structuredContent).toHaveProperty("results.0.name", "Greek yogurt, plain")
        const { counters, provoke } = yield* Simulator.Simulator
        expect(yield* counters).toMatchObject({ exchanges: 1, searches: 1 })
        yield* provoke("search", "unavailable")
        const failed = yield* Effect.promise(() => McpProcess.searchFoods(client, "oats"))
        expect(failed).toMatchObject({
          isError: true,
          content: [{ text: new NutritionAdvisorError.ServerError({ operation: "search", status: 503 }).message }]
        })
        server.child.kill("SIGTERM")
        expect(yield* Effect.promise(() => server.ended)).toBe(0)
        expect(server.output.lines).toEqual([])
      }).pipe(Effect.provide(Layer.provideMerge(Simulator.layerServer(), OnPort))),
    60_000
  )

  it.scopedLive("cancels a call by a message of its own, which aborts its search, not that of another client's same id", () => {
    const seen = { begun: 0, aborted: new Array<string>() }
    const advisor = NutritionAdvisorTest.layer({
      search: (term) =>
        Effect.sync(() => seen.begun += 1).pipe(
          Effect.zipRight(Effect.never),
          Effect.onInterrupt(() => Effect.sync(() => seen.aborted.push(term)))
        )
    })
    return Effect.gen(function*() {
      const keeps = yield* McpProcess.connectHttp(yield* url)
      const cancels = yield* McpProcess.connectHttp(yield* url)
      const canceller = new AbortController()
      void McpProcess.searchFoods(keeps, "kept").catch(() => undefined)
      yield* until(() => seen.begun === 1)
      const cancelled = yield* Effect.fork(
        Effect.tryPromise(() => McpProcess.searchFoods(cancels, "cancelled", { signal: canceller.signal }))
      )
      yield* until(() => seen.begun === 2)
      canceller.abort()
      expect((yield* Fiber.await(cancelled))._tag).toBe("Failure")
      yield* until(() => seen.aborted.length === 1)
      yield* Effect.promise(() => cancels.ping())
      expect(seen.aborted).toEqual(["cancelled"])
    }).pipe(Effect.provide(served(advisor)))
  })
})

describe("a request over HTTP", () => {
  it.scopedLive("whose connection closes aborts its search", () => {
    const seen = { begun: 0, aborted: 0 }
    return Effect.gen(function*() {
      const canceller = new AbortController()
      const address = yield* url
      const fiber = yield* Effect.fork(
        Effect.tryPromise(() => fetch(address, { method: "POST", body: call("oats"), signal: canceller.signal }))
      )
      yield* until(() => seen.begun === 1)
      canceller.abort()
      yield* until(() => seen.aborted === 1)
      expect((yield* Fiber.await(fiber))._tag).toBe("Failure")
    }).pipe(Effect.provide(served(hanging(seen))))
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

  it.scopedLive.each(foreign)(
    "from the foreign origin %j gets 403, whatever its method",
    (origin) =>
      Effect.gen(function*() {
        const address = yield* url
        expect((yield* post(address, call("oats"), { origin })).status).toBe(403)
        const preflight = yield* Effect.promise(() => fetch(address, { method: "OPTIONS", headers: { origin } }))
        expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([403, null])
      }).pipe(Effect.provide(served(finding)))
  )

  it.scopedLive.each(["http://localhost:6274", "https://127.0.0.1", "http://[::1]:80", "http://127.9.8.7:1"])(
    "from the page of this machine %s is answered, and the page may read it",
    (origin) =>
      Effect.gen(function*() {
        const response = yield* post(yield* url, call("oats"), { origin })
        expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([200, origin])
      }).pipe(Effect.provide(served(finding)))
  )

  it.scopedLive("from a named origin is answered, from another one not, and `null` can't be named", () =>
    Effect.gen(function*() {
      const address = yield* url
      const status = (origin: string) => Effect.map(post(address, call("oats"), { origin }), ({ status }) => status)
      expect(yield* status("https://app.example")).toBe(200)
      expect(yield* status("https://app.example:8443")).toBe(403)
      expect(yield* status("null")).toBe(403)
      expect((yield* post(address, call("oats"))).status).toBe(200)
    }).pipe(Effect.provide(served(finding, { allowedOrigins: ["https://App.example/", "null"] }))))

  it.scopedLive("without the token that is asked for, or with another one, gets 401", () =>
    Effect.gen(function*() {
      const address = yield* url
      const status = (headers: Record<string, string>) =>
        Effect.map(post(address, call("oats"), headers), ({ status }) => status)
      expect(yield* status({})).toBe(401)
      expect(yield* status({ authorization: "Bearer other" })).toBe(401)
      expect(yield* status({ authorization: "Bearer the token" })).toBe(200)
    }).pipe(Effect.provide(served(finding, { token: Redacted.make("the token") }))))

  it.scopedLive("at another path gets 404, with another method 405, and with a body above 64 KiB 413", () =>
    Effect.gen(function*() {
      const address = yield* url
      const at = (path: string, init?: RequestInit) =>
        Effect.map(Effect.promise(() => fetch(new URL(path, address), init)), ({ status }) => status)
      expect(yield* at("/mcp", { method: "POST", body: call("oats") })).toBe(404)
      expect(yield* at("/agents?x=1", { method: "POST", body: call("oats") })).toBe(200)
      expect(yield* at("/agents")).toBe(405)
      expect(yield* at("/agents", { method: "DELETE" })).toBe(405)
      expect(yield* at("/agents", { method: "POST", body: call("x".repeat(66_000)) })).toBe(413)
    }).pipe(Effect.provide(served(finding, { path: "/agents" }))))

  const targets: ReadonlyArray<readonly [string, number]> = [
    ["//", 400],
    ["http://", 400],
    ["http://[", 400],
    ["*", 404],
    ["/%", 404],
    ["http://other.example/mcp", 405],
    ["/mcp?x=%", 405]
  ]

  it.scopedLive.each(targets)("to the target %s gets %d", ([target, status]) =>
    Effect.gen(function*() {
      const { port } = new URL(yield* url)
      expect(yield* raw(Number(port), `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`))
        .toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    }).pipe(Effect.provide(served(finding))))

  it.scopedLive.each([70_000, 1_000_000, 10_000_000])(
    "with a chunked body of %d bytes gets 413, and its connection can be used again",
    (bytes) =>
      Effect.gen(function*() {
        const { port } = new URL(yield* url)
        const chunk = "x".repeat(10_000)
        const body = `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(bytes / chunk.length)
        const head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\n"
        const answers = yield* raw(
          Number(port),
          `${head}transfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n${head}connection: close\r\ncontent-length: 2\r\n\r\n{}`
        )
        expect(answers.match(/HTTP\/1.1 \d{3}/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"])
      }).pipe(Effect.provide(served(finding)))
  )

  it.scopedLive("that is a batch is answered as one, and a notification with 202", () =>
    Effect.gen(function*() {
      const address = yield* url
      const batch = yield* post(address, `[${message("ping", {}, "a")},${message("ping", {}, 0)}]`)
      expect(yield* Effect.promise(() => batch.json())).toEqual([
        { jsonrpc: "2.0", id: "a", result: {} },
        { jsonrpc: "2.0", id: 0, result: {} }
      ])
      const notification = yield* post(address, JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }))
      expect([notification.status, yield* Effect.promise(() => notification.text())]).toEqual([202, ""])
    }).pipe(Effect.provide(served(finding))))

  it.scopedLive("carries structured content where its protocol version has it", () =>
    Effect.gen(function*() {
      const address = yield* url
      const structured = (headers: Record<string, string>) =>
        Effect.flatMap(post(address, call("oats"), headers), (response) =>
          Effect.promise(async () => (await response.text()).includes("structuredContent")))
      expect(yield* structured({ "mcp-protocol-version": "2025-06-18" })).toBe(true)
      expect(yield* structured({ "mcp-protocol-version": "2025-03-26" })).toBe(false)
      expect(yield* structured({})).toBe(false)
    }).pipe(Effect.provide(served(finding))))
})

const MiB = 1024 * 1024

describe("a flood of 1,000 calls, each with a payload of 64 KiB", () => {
  it.scopedLive("is answered or refused, with 16 searches at once, in bounded memory", () => {
    let running = 0
    let most = 0
    const text = JSON.stringify(Array.from({ length: 64 }, (_, index) => ({ index, text: "x".repeat(1_000) })))
    const large = NutritionAdvisorTest.layer({
      search: () =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            running += 1
            most = Math.max(most, running)
          }),
          () => Effect.delay(Effect.sync((): unknown => ({ results: JSON.parse(text) })), 50),
          () => Effect.sync(() => running -= 1)
        )
    })
    return Effect.gen(function*() {
      const address = yield* url
      const before = process.memoryUsage().rss
      let peak = before
      const watch = yield* Effect.fork(Effect.forever(Effect.delay(
        Effect.sync(() => {
          peak = Math.max(peak, process.memoryUsage().rss)
        }),
        20
      )))
      const statuses = yield* Effect.forEach(
        Array.from({ length: 1_000 }, (_, index) => index),
        (id) =>
          Effect.flatMap(post(address, call("oats", id)), (response) =>
            Effect.promise(async () => {
              const body = await response.text()
              if (response.status === 200) {
                const [content] = JSON.parse(body).result.content
                expect(JSON.parse(content.text).note).toContain("of 64 elements of results are shown")
              }
              return response.status
            })),
        { concurrency: "unbounded" }
      )
      yield* Fiber.interrupt(watch)
      expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0)
      expect(most).toBeLessThanOrEqual(16)
      console.log(
        `a flood over HTTP: ${statuses.filter((status) => status === 200).length} of 1,000 answered, ` +
          `${Math.round((peak - before) / MiB)} MiB more at most`
      )
      expect(peak - before).toBeLessThan(600 * MiB)
    }).pipe(Effect.provide(served(large)))
  }, 120_000)
})
