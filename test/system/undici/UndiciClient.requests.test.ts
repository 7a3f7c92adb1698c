import { HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { Agent, type Dispatcher, interceptors, MockAgent } from "@effect/platform-node/Undici"
import { describe, expect } from "@effect/vitest"
import { Effect, FiberRef, Layer, type Scope, Stream } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { arrangedLive, testLive } from "../../support/doubles/arranged.js"
import { replying, serve } from "../../support/doubles/Wire.js"
import { advisor, undiciClient, ways } from "./ways.js"

type Execute = (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<unknown, unknown>

interface Sender {
  readonly name: string
  readonly make: (origin: string) => Effect.Effect<Execute, never, Scope.Scope>
}

const senders: ReadonlyArray<Sender> = [
  {
    name: "the client itself",
    make: (origin) =>
      Effect.map(undiciClient, (client) => HttpClient.mapRequest(client, HttpClientRequest.prependUrl(origin)).execute)
  },
  ...ways.map(({ name, through }): Sender => ({
    name: `httpClient ${name}`,
    make: (origin) =>
      Effect.map(
        Effect.flatMap(undiciClient, (client) => advisor(through(client), origin)),
        ({ httpClient }) => httpClient.execute
      )
  }))
]

const post = HttpClientRequest.post("/v2/x")

/** A sender, and the last request that its server has received. */
const receiving = (make: Sender["make"]) =>
  Effect.gen(function*() {
    const { origin, requests } = yield* serve(replying("{}"))
    return { execute: yield* make(origin), last: () => requests.at(-1) ?? expect.unreachable("nothing was sent") }
  })

const parts = (...texts: ReadonlyArray<string>) => Stream.encodeText(Stream.fromIterable(texts)).pipe(Stream.rechunk(1))

describe.each(senders.map(({ make, name }) => [name, make] as const))("UndiciClient: request of %s", (_, make) => {
  const received = arrangedLive(receiving(make), Layer.empty)

  received.each(["GET", "HEAD", "OPTIONS", "DELETE"] as const)(
    "%s without a body sends no body",
    function*(method, { execute, last }) {
      yield* execute(HttpClientRequest.make(method)("/v2/x"))
      expect(last()).toMatchObject({ method, body: "", path: "/v2/x" })
      expect(last().headers).not.toHaveProperty("transfer-encoding")
    }
  )

  received.each(["POST", "PUT", "PATCH"] as const)(
    "%s without a body has the content length 0",
    function*(method, { execute, last }) {
      yield* execute(HttpClientRequest.make(method)("/v2/x"))
      expect(last()).toMatchObject({ method, body: "", headers: { "content-length": "0" } })
    }
  )

  received.each<readonly [string, HttpBody.HttpBody, string, string]>([
    ["a Uint8Array", HttpBody.uint8Array(new TextEncoder().encode("bytes"), "x/y"), "bytes", "x/y"],
    ["a raw string", HttpBody.raw("raw", { contentType: "x/y" }), "raw", "x/y"],
    ["a raw Blob", HttpBody.raw(new Blob(["blob"]), { contentType: "x/y" }), "blob", "x/y"],
    [
      "raw URLSearchParams",
      HttpBody.raw(new URLSearchParams({ a: "1 2", b: "&" }), { contentType: "application/x-www-form-urlencoded" }),
      "a=1+2&b=%26",
      "application/x-www-form-urlencoded"
    ]
  ])("%s is sent with its length and type", function*([, body, text, type], { execute, last }) {
    yield* execute(HttpClientRequest.setBody(post, body))
    expect(last()).toMatchObject({
      body: text,
      headers: { "content-length": String(Buffer.byteLength(text)), "content-type": type }
    })
  })

  received("a Stream is sent in chunks", function*({ execute, last }) {
    yield* execute(HttpClientRequest.bodyStream(post, parts("a", "b", "c"), { contentType: "x/y" }))
    expect(last()).toMatchObject({
      body: "abc",
      headers: { "transfer-encoding": "chunked", "content-type": "x/y" }
    })
  })

  received.each<readonly [string, HttpBody.HttpBody]>([
    ["string", HttpBody.text("a", "text/plain")],
    ["Stream", HttpBody.stream(parts("a"), "text/plain")]
  ])("a content-type header replaces the type of a %s body", function*([, body], { execute, last }) {
    const csv = HttpClientRequest.setHeader(HttpClientRequest.setBody(post, body), "content-type", "text/csv")
    yield* execute(csv)
    expect(last()).toMatchObject({ body: "a", headers: { "content-type": "text/csv" } })
  })

  received("a Stream runs with the FiberRefs of its caller", function*({ execute, last }) {
    const setting = FiberRef.unsafeMake("unset")
    const stream = Stream.encodeText(Stream.fromEffect(FiberRef.get(setting)))
    yield* Effect.locally(execute(HttpClientRequest.bodyStream(post, stream)), setting, "set")
    expect(last().body).toBe("set")
  })
})

const agent = Effect.acquireRelease(Effect.sync(() => new Agent()), (agent) => Effect.promise(() => agent.destroy()))

describe.each(ways)("UndiciClient: search $name over a custom dispatcher", ({ through }) => {
  const searchOver = (dispatcher: Dispatcher, origin: string) =>
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const { search } = yield* advisor(through(client), origin)
      return yield* Effect.flip(search("oats"))
    }).pipe(Effect.provide(UndiciClient.layerFromDispatcher(dispatcher)))

  testLive("a redirect is not followed, even with undici's redirect interceptor", function*() {
    const elsewhere = yield* serve(replying("{}"))
    const wire = yield* serve(replying("", { location: `${elsewhere.origin}/x` }, 307))
    const following = (yield* agent).compose(interceptors.redirect({ maxRedirections: 5 }))
    expect(yield* searchOver(following, wire.origin)).toMatchObject({ _tag: "UnexpectedResponse", reason: "Redirect" })
    expect(elsewhere.requests.length).toBe(0)
  })

  testLive.each(
    [
      ["retry", interceptors.retry({ maxRetries: 1, minTimeout: 1 })],
      ["responseError", interceptors.responseError()]
    ] as const
  )("undici's interceptor %s doesn't hide a 429 and its Retry-After", function*([, interceptor]) {
    const wire = yield* serve(replying("", { "retry-after": "1" }, 429))
    expect(yield* searchOver((yield* agent).compose(interceptor), wire.origin))
      .toMatchObject({ _tag: "TooManyRequests", retryAfter: 1 })
  })

  testLive("a dispatcher that throws fails the search with TransportError", function*() {
    const throwing = new MockAgent().compose(() => () => {
      throw new Error("secret")
    })
    expect(yield* searchOver(throwing, "http://127.0.0.1:9")).toMatchObject({ _tag: "TransportError" })
  })
})
