import { once } from "node:events"
import type * as Http from "node:http"
import { type AddressInfo, createServer, type Socket } from "node:net"
import type { HttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { testLive } from "../doubles/arranged.js"
import { afterBody, type Answer, eventually, replying, serve } from "../doubles/Wire.js"
import { advisor, connectionError, ways } from "./ways.js"

const get = (client: HttpClient.HttpClient, url: string) => Effect.flatMap(client.get(url), ({ text }) => text)

const manyTimes = <A, E>(count: number, effect: Effect.Effect<A, E>) =>
  Effect.forEach(Array.from({ length: count }), () => effect, { concurrency: "unbounded" })

/** Holds each request until it is let go. */
const holding = () => {
  const held: Array<Http.ServerResponse> = []
  const answer: Answer = (_, response) => {
    held.push(response)
  }
  return { held, answer }
}

describe("The connections to an origin", () => {
  testLive("are as many as the setting says while 500 requests are on their way", function*() {
    const wire = yield* serve((_, response) => setTimeout(() => response.end("{}"), 5))
    const client = yield* UndiciClient.make({ connections: 7 })
    yield* manyTimes(500, get(client, wire.origin))
    expect(wire.requests.length).toBe(500)
    expect([wire.connections.most, wire.connections.opened]).toEqual([7, 7])
  })

  it.scopedLive("are at most 64 for ten thousand searches at once", () =>
    Effect.gen(function*() {
      const wire = yield* serve(replying("{\"foods\":[]}", { "content-type": "application/json" }))
      const { search } = yield* advisor(yield* UndiciClient.make(), wire.origin, { requestTimeout: "2 minutes" })
      yield* manyTimes(10_000, search("oats"))
      expect(wire.requests.length).toBe(10_000)
      expect([wire.connections.most, wire.connections.opened]).toEqual([64, 64])
    }))

  testLive("are counted for each origin by itself", function*() {
    const answer: Answer = (_, response) => setTimeout(() => response.end("{}"), 5)
    const [one, two] = [yield* serve(answer), yield* serve(answer)]
    const client = yield* UndiciClient.make({ connections: 2 })
    yield* Effect.zip(manyTimes(20, get(client, one.origin)), manyTimes(20, get(client, two.origin)), {
      concurrent: true
    })
    expect([one.connections.opened, two.connections.opened]).toEqual([2, 2])
  })

  testLive("are used again for one request after another", function*() {
    const wire = yield* serve(replying("{}"))
    const client = yield* UndiciClient.make()
    yield* Effect.repeatN(get(client, wire.origin), 49)
    expect(wire.connections.opened).toBeLessThanOrEqual(2)
  })

  testLive("end when they had nothing to do for keepAliveTimeout", function*() {
    const wire = yield* serve(replying("{}", { connection: "keep-alive" }))
    const client = yield* UndiciClient.make({
      keepAliveTimeout: "100 millis",
      undici: { keepAliveTimeoutThreshold: 0 }
    })
    yield* get(client, wire.origin)
    expect(wire.connections.open).toBe(1)
    expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
  })
})

type Request = (client: HttpClient.HttpClient, origin: string) => Effect.Effect<unknown, unknown, Scope.Scope>

const requests: ReadonlyArray<readonly [name: string, request: Request]> = [
  ["a request with the client itself", (client, origin) => get(client, `${origin}/v2/x`)],
  ...ways.flatMap(({ name, through }): ReadonlyArray<readonly [string, Request]> => [
    [
      `a search ${name}`,
      (client, origin) => Effect.flatMap(advisor(through(client), origin), ({ search }) => search("oats"))
    ],
    [
      `a request through httpClient ${name}`,
      (client, origin) => Effect.flatMap(advisor(through(client), origin), ({ httpClient }) => httpClient.get("/v2/x"))
    ]
  ])
]

describe("An interruption", () => {
  testLive.each(requests)("while headers are awaited closes the connection of %s", function*([, request]) {
    const wire = yield* serve(() => {})
    const client = yield* UndiciClient.make()
    const fiber = yield* Effect.fork(request(client, wire.origin))
    yield* eventually(() => wire.requests.length === 1)
    const exit = yield* Fiber.interrupt(fiber)
    expect(Exit.isInterrupted(exit)).toBe(true)
    expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
  })

  testLive.each(requests)("while a body is awaited closes the connection of %s", function*([, request]) {
    const wire = yield* serve((_, response) => {
      response.writeHead(200, { "content-length": 1_000 })
      response.write("{")
    })
    const client = yield* UndiciClient.make()
    const fiber = yield* Effect.fork(request(client, wire.origin))
    yield* eventually(() => wire.requests.length === 1)
    yield* Effect.sleep("100 millis")
    expect(wire.connections.open).toBe(1)
    yield* Fiber.interrupt(fiber)
    expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
  })

  testLive.each(requests.filter(([name]) => name.endsWith("in one step")))(
    "in the queue for a connection leaves %s unsent, and the connection to the next",
    function*([, request]) {
      const { answer, held } = holding()
      const wire = yield* serve(answer)
      const client = yield* UndiciClient.make({ connections: 1 })
      const first = yield* Effect.fork(get(client, `${wire.origin}/first`))
      yield* eventually(() => held.length === 1)
      const queued = yield* Effect.fork(request(client, wire.origin))
      yield* Effect.sleep("100 millis")
      yield* Fiber.interrupt(queued)
      const last = yield* Effect.fork(get(client, `${wire.origin}/last`))
      held[0]?.end("{}")
      yield* Fiber.join(first)
      yield* eventually(() => held.length === 2)
      held[1]?.end("{}")
      yield* Fiber.join(last)
      expect(wire.requests.map(({ url }) => url)).toEqual(["/first", "/last"])
      expect(wire.connections.opened).toBe(1)
    }
  )
})

describe("The end of the scope", () => {
  testLive("closes the connections", function*() {
    const wire = yield* serve(replying("{}"))
    const scope = yield* Scope.make()
    const client = yield* Scope.extend(UndiciClient.make(), scope)
    yield* manyTimes(10, get(client, wire.origin))
    expect(wire.connections.open).toBeGreaterThan(0)
    yield* Scope.close(scope, Exit.void)
    expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
  })

  testLive.each(requests)("ends what is on its way and what is in the queue in an error: %s", function*([, request]) {
    const wire = yield* serve(() => {})
    const scope = yield* Scope.make()
    const client = yield* Scope.extend(UndiciClient.make({ connections: 1 }), scope)
    const fibers = yield* Effect.all([
      Effect.fork(request(client, wire.origin)),
      Effect.fork(request(client, wire.origin))
    ])
    yield* eventually(() => wire.requests.length === 1)
    yield* Scope.close(scope, Exit.void)
    const errors = yield* Effect.forEach(fibers, (fiber) => Effect.flip(Fiber.join(fiber)))
    expect(errors.map((error) => (error as { readonly _tag: string })._tag))
      .toEqual(errors.map(() => expect.stringMatching(connectionError)))
  })

  testLive.each(requests)("ends later requests in an error: %s", function*([, request]) {
    const wire = yield* serve(replying("{}"))
    const client = yield* Effect.scoped(UndiciClient.make())
    const error = yield* Effect.flip(request(client, wire.origin))
    expect(error).toMatchObject({ _tag: expect.stringMatching(connectionError) })
    expect(wire.requests.length).toBe(0)
  })
})

/** Takes connections and never says a word, not even for TLS. */
const silent = Effect.gen(function*() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
  )
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})

describe("A time that is over", () => {
  const patience = "150 millis"

  const halfAnswer: Answer = (_, response) => {
    response.writeHead(200, { "content-length": 1_000 })
    response.write("{")
  }

  testLive("is a RequestError where headersTimeout is", function*() {
    const wire = yield* serve(() => {})
    const client = yield* UndiciClient.make({ headersTimeout: patience })
    expect(yield* Effect.flip(client.get(wire.origin))).toMatchObject({
      _tag: "RequestError",
      reason: "Transport",
      cause: { code: "UND_ERR_HEADERS_TIMEOUT" }
    })
    expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
  })

  testLive("is a ResponseError where bodyTimeout is", function*() {
    const wire = yield* serve(halfAnswer)
    const client = yield* UndiciClient.make({ bodyTimeout: patience })
    const response = yield* client.get(wire.origin)
    expect(yield* Effect.flip(response.text)).toMatchObject({
      _tag: "ResponseError",
      reason: "Decode",
      cause: { code: "UND_ERR_BODY_TIMEOUT" }
    })
    expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
  })

  testLive("is a RequestError where connectTimeout is", function*() {
    const client = yield* UndiciClient.make({ connectTimeout: patience })
    expect(yield* Effect.flip(client.get(yield* silent))).toMatchObject({
      _tag: "RequestError",
      reason: "Transport",
      cause: { code: "UND_ERR_CONNECT_TIMEOUT" }
    })
  })

  testLive("is that of connectTimeout though undici is told something else of connections", function*() {
    const client = yield* UndiciClient.make({
      connectTimeout: patience,
      undici: { connect: { rejectUnauthorized: true } }
    })
    const error = yield* Effect.flip(client.get(yield* silent))
    expect(error).toMatchObject({
      cause: { code: "UND_ERR_CONNECT_TIMEOUT", message: expect.stringContaining("timeout: 150ms") }
    })
  })

  for (const { name, through } of ways) {
    testLive.each<readonly [keyof UndiciClient.Options, Effect.Effect<string, never, Scope.Scope>]>([
      ["headersTimeout", Effect.map(serve(() => {}), ({ origin }) => origin)],
      ["bodyTimeout", Effect.map(serve(halfAnswer), ({ origin }) => origin)],
      ["connectTimeout", silent]
    ])(`is a TransportError "Timeout" to a search ${name} where %s is`, function*([setting, server]) {
      const client = yield* UndiciClient.make({ [setting]: patience })
      const { search } = yield* advisor(through(client), yield* server)
      expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
    })

    testLive(
      `is a TransportError "Timeout" to a search ${name} where requestTimeout is, and closes its connection`,
      function*() {
        const wire = yield* serve(() => {})
        const client = yield* UndiciClient.make({ connections: 1 })
        const { search } = yield* advisor(through(client), wire.origin, { requestTimeout: patience })
        expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
        expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
      }
    )

    testLive(`is so to a search ${name} that waits for the connection, which is never sent`, function*() {
      const { answer, held } = holding()
      const wire = yield* serve(answer)
      const client = yield* UndiciClient.make({ connections: 1 })
      const { search } = yield* advisor(through(client), wire.origin, { requestTimeout: patience })
      const before = yield* Effect.fork(get(client, wire.origin))
      expect(yield* eventually(() => held.length === 1)).toBe(true)
      expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
      held[0]?.end("{}")
      yield* Fiber.join(before)
      yield* get(client, wire.origin).pipe(Effect.fork)
      expect(yield* eventually(() => held.length === 2)).toBe(true)
      expect(wire.requests.map(({ url }) => url)).toEqual(["/", "/"])
    })
  }
})

describe("A server that reads a request before it answers", () => {
  testLive("may close the connection after each answer", function*() {
    const wire = yield* serve(afterBody((_, __, response) => {
      response.writeHead(200, { connection: "close" })
      response.end("{}")
    }))
    const client = yield* UndiciClient.make({ connections: 2 })
    yield* manyTimes(20, get(client, wire.origin))
    expect([wire.requests.length, wire.connections.most <= 2]).toEqual([20, true])
  })
})
