import type * as Http from "node:http"
import { createServer } from "node:net"
import type { HttpClient } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { testLive } from "../../support/doubles/arranged.js"
import { eventually, type Handler, listening, replying, serve } from "../../support/doubles/Wire.js"
import { advisor, ways } from "./ways.js"

const get = (client: HttpClient.HttpClient, url: string) => Effect.flatMap(client.get(url), ({ text }) => text)

const silence: Handler = () => {}

const incomplete: Handler = (_, response) => {
  response.writeHead(200, { "content-length": 1_000 })
  response.write("{")
}

type Request = (client: HttpClient.HttpClient, origin: string) => Effect.Effect<unknown, unknown, Scope.Scope>

const requests: ReadonlyArray<readonly [name: string, request: Request]> = [
  ["a request sent directly by UndiciClient", (client, origin) => get(client, `${origin}/v2/x`)],
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

/** The platform's error of a connection that fails, or the library's. */
const connectionError = { _tag: expect.stringMatching(/^(RequestError|TransportError)$/) }

describe("UndiciClient: end of the scope", () => {
  testLive.each(requests)("in-flight and queued requests fail: %s", function*([, request]) {
    const wire = yield* serve(silence)
    const scope = yield* Scope.make()
    const client = yield* Scope.extend(UndiciClient.make({ connections: 1 }), scope)
    const fibers = yield* Effect.all([
      Effect.fork(request(client, wire.origin)),
      Effect.fork(request(client, wire.origin))
    ])
    yield* eventually(() => wire.requests.length === 1)
    yield* Scope.close(scope, Exit.void)
    const errors = yield* Effect.forEach(fibers, (fiber) => Effect.flip(Fiber.join(fiber)))
    expect(errors).toMatchObject([connectionError, connectionError])
  })

  testLive.each(requests)("later requests fail, and nothing is sent: %s", function*([, request]) {
    const wire = yield* serve(replying("{}"))
    const client = yield* Effect.scoped(UndiciClient.make())
    const error = yield* Effect.flip(request(client, wire.origin))
    expect(error).toMatchObject(connectionError)
    expect(wire.requests.length).toBe(0)
  })
})

/** Takes connections and never says a word, not even for TLS. */
const silent = Effect.map(Effect.suspend(() => listening(createServer())), (port) => `https://127.0.0.1:${port}`)

describe("UndiciClient: timeouts", () => {
  const patience = "150 millis"

  for (const { name, through } of ways) {
    testLive.each<readonly [keyof UndiciClient.Options, string, Effect.Effect<string, never, Scope.Scope>]>([
      ["headersTimeout", "UND_ERR_HEADERS_TIMEOUT", Effect.map(serve(silence), ({ origin }) => origin)],
      ["bodyTimeout", "UND_ERR_BODY_TIMEOUT", Effect.map(serve(incomplete), ({ origin }) => origin)],
      ["connectTimeout", "UND_ERR_CONNECT_TIMEOUT", silent]
    ])(
      `a search ${name} fails with Timeout and undici's code after %s`,
      function*([setting, code, server]) {
        const client = yield* UndiciClient.make({ [setting]: patience })
        const { search } = yield* advisor(through(client), yield* server)
        expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "TransportError", reason: "Timeout", code })
      }
    )

    testLive(`a search ${name} is never sent if it times out in the queue`, function*() {
      const held: Array<Http.ServerResponse> = []
      const wire = yield* serve((_, response) => held.push(response))
      const client = yield* UndiciClient.make({ connections: 1 })
      const { search } = yield* advisor(through(client), wire.origin, { requestTimeout: patience })
      const before = yield* Effect.fork(get(client, wire.origin))
      yield* eventually(() => held.length === 1)
      expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
      held[0]?.end("{}")
      yield* Fiber.join(before)
      yield* get(client, wire.origin).pipe(Effect.fork)
      yield* eventually(() => held.length === 2)
      expect(wire.requests.map(({ path }) => path)).toEqual(["/", "/"])
    })
  }
})
