/** What each client sends, and to which address, over real ports. */
import {
  FetchHttpClient,
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse
} from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, identity, Layer, Redacted, Stream, Struct } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import * as Url from "../../src/internal/http/url.js"
import { testLive } from "../support/doubles/arranged.js"
import { advisorOver, type HttpClientLayer } from "../support/doubles/simulatedAdvisor.js"
import type { Received } from "../support/doubles/Wire.js"
import { clients, type Wrap, wrapping } from "../support/leaks/clients.js"
import { leaksOf } from "../support/leaks/leaksOf.js"
import * as Replies from "../support/leaks/replies.js"
import * as Secrets from "../support/leaks/secrets.js"

const advisorAt = (baseUrl: string, client: HttpClientLayer) =>
  advisorOver(client, { baseUrl, licenseKey: Redacted.make(Secrets.key) })

const tokenPath = `/v2/token-cache/nutrition-advisor/oauth/licence/${Url.encode(Secrets.key)}`

const namesOf = (requests: ReadonlyArray<Received>) => requests.map(({ headers }) => Object.keys(headers).sort())

const traceHeaders = (requests: ReadonlyArray<Received>) =>
  namesOf(requests).flat().filter((name) => /^(traceparent|tracestate|baggage|b3|x-b3-.+)$/.test(name))

type Read = (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<unknown, HttpClientError.HttpClientError>

const reads: Readonly<Record<"text" | "arrayBuffer" | "stream", Read>> = {
  text: ({ text }) => text,
  arrayBuffer: ({ arrayBuffer }) => arrayBuffer,
  stream: ({ stream }) => Stream.runDrain(stream)
}

const traced = (client: HttpClient.HttpClient) => HttpClient.withTracerDisabledWhen(client, () => false)

describe.each(clients)("HTTP boundary over $name", ({ layer, name }) => {
  testLive("the client adds no headers other than the two token headers, User-Agent and Accept", function*() {
    const [service, bare] = [yield* Replies.serve(), yield* Replies.serve()]
    const { search } = yield* advisorAt(service.origin, layer)
    yield* search("apple")
    yield* Effect.gen(function*() {
      const client = HttpClient.withTracerPropagation(yield* HttpClient.HttpClient, false)
      const common = { accept: "*/*", "user-agent": "x" }
      yield* client.post(`${bare.origin}${tokenPath}`, { headers: common })
      yield* client.get(`${bare.origin}/v2/x`, { headers: { ...common, authorization: "x", "service-id": "x" } })
    }).pipe(Effect.provide(layer), Effect.scoped)
    expect(namesOf(service.requests)).toEqual(namesOf(bare.requests))
  })

  testLive("a caller's span is not propagated to the service", function*() {
    const service = yield* Replies.serve({ data: Replies.inTurn(Replies.echoing(403), Replies.found) })
    const { httpClient, search } = yield* advisorAt(service.origin, wrapping(layer, traced))
    yield* Effect.withSpan(Effect.zipRight(search("apple"), httpClient.get("/v2/plan")), "menu")
    expect(traceHeaders(service.requests)).toEqual([])
    yield* HttpClient.get(`${service.origin}/v2/x`).pipe(Effect.withSpan("menu"), Effect.provide(layer))
    expect(traceHeaders(service.requests)).not.toEqual([])
  })

  // The response of node:http keeps only its text.
  testLive.each(name === "node:http" ? ["text"] as const : ["text", "arrayBuffer"] as const)(
    "a wrapper can read each response as %s first, for example to log it",
    function*(part) {
      const service = yield* Replies.serve({ data: Replies.inTurn(Replies.echoing(403), Replies.found) })
      const { search } = yield* advisorAt(service.origin, wrapping(layer, HttpClient.tap(reads[part])))
      expect(yield* search("apple")).toEqual({ results: [] })
    }
  )

  testLive.each(Struct.keys(reads))("a wrapper can read each rejection as %s", function*(part) {
    const service = yield* Replies.serve({ data: Replies.inTurn(Replies.echoing(403), Replies.found) })
    const readRejection = HttpClient.tap((response) => response.status === 403 ? reads[part](response) : Effect.void)
    const { search } = yield* advisorAt(service.origin, wrapping(layer, readRejection))
    expect(yield* search("apple")).toEqual({ results: [] })
  })

  testLive("a wrapper can read an empty response as text first", function*() {
    const service = yield* Replies.serve({ data: (_, response) => response.end() })
    const { httpClient } = yield* advisorAt(service.origin, wrapping(layer, HttpClient.tap(reads.text)))
    expect(yield* Effect.flatMap(httpClient.get("/v2/plan"), ({ text }) => text)).toBe("")
  })

  testLive("a wrapper that throws is not reported as a connection that was cut off", function*() {
    const service = yield* Replies.serve({ data: Replies.echoing(404) })
    const failingWrapper = HttpClient.transformResponse(
      Effect.flatMap((response) => response.status === 200 ? Effect.succeed(response) : Effect.die("a bug"))
    )
    const { search } = yield* advisorAt(service.origin, wrapping(layer, failingWrapper))
    expect(yield* Effect.flip(search("apple"))).toMatchObject({ _tag: "TransportError", reason: "Connection" })
  })

  testLive("an incomplete body fails the search, even if a wrapper has read it and ignores the failure", function*() {
    const service = yield* Replies.serve({
      data: (_, response) => {
        response.writeHead(200, { "content-length": "100" })
        response.write("{", () => response.destroy())
      }
    })
    const ignoring = HttpClient.tap(({ status, text }) => status === 200 ? Effect.ignore(text) : Effect.void)
    const { search } = yield* advisorAt(service.origin, wrapping(layer, ignoring))
    expect(yield* Effect.flip(search("apple"))).toMatchObject({ _tag: "TransportError", reason: "Aborted" })
  })

  testLive("maxResponseBytes applies to a response that a wrapper has read", function*() {
    const { origin: baseUrl } = yield* Replies.serve()
    const client = wrapping(layer, HttpClient.tap(reads.text))
    const { search } = yield* advisorOver(client, { baseUrl, maxResponseBytes: 13 })
    expect(yield* Effect.flip(search("apple"))).toMatchObject({ reason: "TooLarge" })
  })
})

testLive("a client that wraps an UndiciClient receives every request", function*() {
  const service = yield* Replies.serve()
  const guarded = wrapping(
    Layer.orDie(UndiciClient.layer()),
    HttpClient.mapRequest(HttpClientRequest.setHeader("service-id", "kept back"))
  )
  const { search } = yield* advisorAt(service.origin, guarded)
  yield* search("apple")
  expect(service.requests.map(({ headers }) => headers["service-id"])).toEqual(["kept back", "kept back"])
})

const tracing: ReadonlyArray<readonly [name: string, wrap: Wrap]> = [
  ["has withTracerDisabledWhen", traced],
  ["has withTracerDisabledWhen and another wrapper", (client) => HttpClient.transform(traced(client), identity)],
  ["passes requests to one that has withTracerDisabledWhen", (client) => HttpClient.make(traced(client).execute)]
]

const propagating = (wrap: Wrap) =>
  wrapping(FetchHttpClient.layer, (client) => wrap(HttpClient.withTracerPropagation(client, true)))

testLive.each(tracing)("no output contains a secret if the HttpClient %s", function*([, wrap]) {
  const { seen } = yield* leaksOf({ title: "", end: "Success" }, propagating(wrap))
  expect(seen).toEqual({ end: "Success", leaks: {} })
})
