import { once } from "node:events"
import * as Http from "node:http"
import { type AddressInfo, connect } from "node:net"
import { HttpBody, HttpClient } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { Agent, type Dispatcher, interceptors, MockAgent, Pool, ProxyAgent, RedirectHandler } from "undici"
import { testLive } from "../doubles/arranged.js"
import { eventually, replying, serve } from "../doubles/Wire.js"
import { advisor, ways } from "./ways.js"

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
  testLive("asks a MockAgent", function*() {
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
  })

  testLive.each(ways)("asks a MockAgent in a search $name", function*({ through }) {
    const agent = yield* mocked
    agent.get(origin).intercept({ path: /^\/v2\/products\/napi\/food\/search\/semantic\?term=oats$/ })
      .reply(200, { foods: [] })
    const { search } = yield* advisor(through(yield* clientOver(agent)), origin)
    expect(yield* search("oats")).toEqual({ foods: [] })
  })

  testLive.each(ways)("fails as typed where a MockAgent does, $name", function*({ through }) {
    const agent = yield* mocked
    agent.get(origin).intercept({ path: /search/ }).replyWithError(new Error("secret"))
    const client = yield* clientOver(agent)
    const { search } = yield* advisor(through(client), origin)
    expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "TransportError", reason: "Connection" })
    expect(yield* Effect.flip(client.get(`${origin}/nothing`))).toMatchObject({ _tag: "RequestError" })
  })

  testLive("goes through a ProxyAgent", function*() {
    const wire = yield* serve(replying("{\"foods\":[]}"))
    const { seen, url } = yield* proxy
    const client = yield* clientOver(yield* closing(() => new ProxyAgent({ uri: url, proxyTunnel: true })))
    const { search } = yield* advisor(client, wire.origin)
    expect([yield* search("oats"), yield* (yield* client.get(wire.origin)).json]).toEqual([{ foods: [] }, {
      foods: []
    }])
    expect(seen.tunnels).toBeGreaterThan(0)
    expect(wire.requests.length).toBe(2)
  })

  testLive("leaves it open when its layer ends", function*() {
    const wire = yield* serve(replying("{}"))
    const agent = yield* closing(() => new Agent({ connections: 1 }))
    const ask = Effect.flatMap(
      clientOver(agent),
      (client) => Effect.flatMap(client.get(wire.origin), ({ text }) => text)
    )
    yield* Effect.scoped(ask)
    expect([agent.closed, agent.destroyed, wire.connections.open]).toEqual([false, false, 1])
    expect(yield* Effect.scoped(ask)).toBe("{}")
    expect(wire.connections.opened).toBe(1)
  })

  testLive.each(ways)("ends as typed where it throws, $name", function*({ through }) {
    const throwing = {
      dispatch: () => {
        throw new Error("secret")
      }
    } as unknown as Dispatcher
    const { search } = yield* advisor(through(yield* clientOver(throwing)), origin)
    expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "TransportError", reason: "Connection" })
  })

  testLive("takes up an interrupted search late, and sees it aborted and nothing thrown", function*() {
    const handlers: Array<Dispatcher.DispatchHandler> = []
    const reasons: Array<Error> = []
    const late = {
      dispatch: (_: unknown, handler: Dispatcher.DispatchHandler) => handlers.push(handler) > 0
    } as unknown as Dispatcher
    const controller = {
      abort: (reason: Error) => reasons.push(reason)
    } as unknown as Dispatcher.DispatchController
    const { search } = yield* advisor(yield* clientOver(late), origin)
    const fiber = yield* Effect.fork(search("oats"))
    expect(yield* eventually(() => handlers.length === 1)).toBe(true)
    yield* Fiber.interrupt(fiber)
    handlers[0]?.onRequestStart?.(controller, {})
    expect(reasons).toMatchObject([{ code: "UND_ERR_ABORTED" }])
  })

  const follows = {
    "undici's redirect interceptor": interceptors.redirect({ maxRedirections: 5 }),
    "an interceptor of one's own around undici's RedirectHandler":
      (dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch => (options, handler) =>
        dispatch(options, new RedirectHandler(dispatch, 5, options, handler))
  }

  describe.each(Object.entries(follows))("with %s", (_, interceptor) => {
    testLive.each(ways)("sends nothing on to another origin, $name", function*({ through }) {
      const elsewhere = yield* serve(replying("{}"))
      const wire = yield* serve(replying("", { location: `${elsewhere.origin}/x` }, 307))
      const agent = (yield* closing(() => new Agent())).compose(interceptor)
      const { search } = yield* advisor(through(yield* clientOver(agent)), wire.origin)
      expect(yield* Effect.flip(search("oats"))).toHaveProperty("_tag")
      expect([wire.requests.length, elsewhere.requests.length]).toEqual([1, 0])
    })
  })

  testLive.each(ways)("gives a redirect as it is with undici's redirect interceptor, $name", function*({ through }) {
    const wire = yield* serve(replying("", { location: "/x" }, 302))
    const agent = (yield* closing(() => new Agent())).compose(interceptors.redirect({ maxRedirections: 5 }))
    const { search } = yield* advisor(through(yield* clientOver(agent)), wire.origin)
    expect(yield* Effect.flip(search("oats"))).toMatchObject({
      _tag: "UnexpectedResponse",
      status: 302,
      reason: "Redirect"
    })
  })

  testLive("sends nothing on where undici's own pool has the redirect interceptor", function*() {
    const elsewhere = yield* serve(replying("{}"))
    const wire = yield* serve(replying("", { location: `${elsewhere.origin}/x` }, 307))
    const client = yield* UndiciClient.make({
      undici: {
        factory: (origin, options) => new Pool(origin, options).compose(interceptors.redirect({ maxRedirections: 5 }))
      }
    })
    const { search } = yield* advisor(client, wire.origin)
    expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "UnexpectedResponse", reason: "Redirect" })
    expect(elsewhere.requests.length).toBe(0)
  })
})
