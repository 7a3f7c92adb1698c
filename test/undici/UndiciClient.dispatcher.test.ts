import { once } from "node:events"
import * as Http from "node:http"
import { type AddressInfo, connect } from "node:net"
import { HttpBody, HttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { Agent, type Dispatcher, MockAgent, ProxyAgent } from "undici"
import { advisor, ways } from "./ways.js"
import { eventually, replying, serve } from "./Wire.js"

const clientOver = (dispatcher: Dispatcher) =>
  UndiciClient.layerFromDispatcher(dispatcher).pipe(
    Layer.build,
    Effect.map(Context.get(HttpClient.HttpClient))
  )

const closing = <A extends Dispatcher>(make: () => A) =>
  Effect.acquireRelease(Effect.sync(make), (dispatcher) => Effect.promise(() => dispatcher.close()))

const mocked = Effect.map(closing(() => new MockAgent()), (agent) => {
  agent.disableNetConnect()
  return agent
})

const origin = "https://nutrition.example"

/** A proxy that counts the tunnels through it. */
const proxy = Effect.gen(function*() {
  const seen = { tunnels: 0 }
  const server = Http.createServer()
  server.on("connect", (request: Http.IncomingMessage, client, head) => {
    seen.tunnels += 1
    const [host, port] = (request.url ?? "").split(":")
    const target = connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n")
      target.write(head)
      target.pipe(client).pipe(target)
    })
    for (const socket of [client, target]) socket.on("error", () => [client, target].map((each) => each.destroy()))
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () => Effect.sync(() => server.close())
  )
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
})

describe("A client over a dispatcher of one's own", () => {
  it.scopedLive("asks a MockAgent", () =>
    Effect.gen(function*() {
      const agent = yield* mocked
      agent.get(origin).intercept({ path: "/v2/x?a=1", method: "POST", body: "hello" })
        .reply(201, { found: true }, { headers: { "x-mocked": "yes" } })
      const client = yield* clientOver(agent)
      const response = yield* client.post(`${origin}/v2/x`, { urlParams: { a: "1" }, body: HttpBody.raw("hello") })
      expect([response.status, response.headers["x-mocked"], yield* response.json]).toEqual([
        201,
        "yes",
        { found: true }
      ])
    }))

  it.scopedLive.each(ways)("asks a MockAgent in a search $name", ({ through }) =>
    Effect.gen(function*() {
      const agent = yield* mocked
      agent.get(origin).intercept({ path: /^\/v2\/products\/napi\/food\/search\/semantic\?term=oats$/ })
        .reply(200, { foods: [] })
      const { search } = yield* advisor(through(yield* clientOver(agent)), origin)
      expect(yield* search("oats")).toEqual({ foods: [] })
    }))

  it.scopedLive.each(ways)("fails as typed where a MockAgent does, $name", ({ through }) =>
    Effect.gen(function*() {
      const agent = yield* mocked
      agent.get(origin).intercept({ path: /search/ }).replyWithError(new Error("secret"))
      const client = yield* clientOver(agent)
      const { search } = yield* advisor(through(client), origin)
      expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "TransportError", reason: "Connection" })
      expect(yield* Effect.flip(client.get(`${origin}/nothing`))).toMatchObject({ _tag: "RequestError" })
    }))

  it.scopedLive("goes through a ProxyAgent", () =>
    Effect.gen(function*() {
      const wire = yield* serve(replying("{\"foods\":[]}"))
      const { seen, url } = yield* proxy
      const client = yield* clientOver(yield* closing(() => new ProxyAgent({ uri: url, proxyTunnel: true })))
      const { search } = yield* advisor(client, wire.origin)
      expect([yield* search("oats"), yield* (yield* client.get(wire.origin)).json]).toEqual([{ foods: [] }, {
        foods: []
      }])
      expect(seen.tunnels).toBeGreaterThan(0)
      expect(wire.requests.length).toBe(2)
    }))

  it.scopedLive("leaves it open when its layer ends", () =>
    Effect.gen(function*() {
      const wire = yield* serve(replying("{}"))
      const agent = yield* closing(() => new Agent({ connections: 1 }))
      const ask = Effect.flatMap(clientOver(agent), (client) =>
        Effect.flatMap(client.get(wire.origin), ({ text }) => text))
      yield* Effect.scoped(ask)
      expect([agent.closed, agent.destroyed, wire.connections.open]).toEqual([false, false, 1])
      expect(yield* Effect.scoped(ask)).toBe("{}")
      expect(wire.connections.opened).toBe(1)
    }))

  it.scopedLive("ends in an error where it was closed", () =>
    Effect.gen(function*() {
      const wire = yield* serve(replying("{}"))
      const agent = new Agent()
      yield* Effect.promise(() => agent.close())
      const client = yield* clientOver(agent)
      expect(yield* Effect.flip(client.get(wire.origin))).toMatchObject({
        _tag: "RequestError",
        cause: { code: expect.stringMatching(/^UND_ERR_(CLOSED|DESTROYED)$/) }
      })
    }))

  it.scopedLive.each(ways)("ends as typed where it throws, $name", ({ through }) =>
    Effect.gen(function*() {
      const throwing = {
        dispatch: () => {
          throw new Error("secret")
        }
      } as unknown as Dispatcher
      const { search } = yield* advisor(through(yield* clientOver(throwing)), origin)
      expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "TransportError", reason: "Connection" })
    }))

  it.scopedLive.each(ways)(
    "takes up an interrupted search late, and sees it aborted and nothing thrown, $name",
    ({ through }) =>
      Effect.gen(function*() {
        const handlers: Array<Dispatcher.DispatchHandler> = []
        const reasons: Array<Error> = []
        const late = {
          dispatch: (_: unknown, handler: Dispatcher.DispatchHandler) => handlers.push(handler) > 0
        } as unknown as Dispatcher
        const controller = {
          abort: (reason: Error) => reasons.push(reason)
        } as unknown as Dispatcher.DispatchController
        const { search } = yield* advisor(through(yield* clientOver(late)), origin)
        const fiber = yield* Effect.fork(search("oats"))
        expect(yield* eventually(() => handlers.length === 1)).toBe(true)
        yield* Fiber.interrupt(fiber)
        handlers[0]?.onRequestStart?.(controller, {})
        expect(reasons).toMatchObject([{ code: "UND_ERR_ABORTED" }])
      })
  )

  it.scopedLive("has its own maxResponseBytes", () =>
    Effect.gen(function*() {
      const wire = yield* serve(replying("x".repeat(100)))
      const agent = yield* closing(() => new Agent())
      const client = yield* UndiciClient.makeFromDispatcher(agent, { maxResponseBytes: 99 })
      const response = yield* client.get(wire.origin)
      expect(yield* Effect.flip(response.text)).toMatchObject({ _tag: "ResponseError" })
      expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
    }))
})
