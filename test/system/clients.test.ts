/** Responses arrive unchanged, whichever HttpClient is used and whatever that client does by itself. */
import { gzipSync } from "node:zlib"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { Agent, type Dispatcher } from "@effect/platform-node/Undici"
import { describe, expect, vi } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Stream } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { testLive } from "../support/doubles/arranged.js"
import { advisorOver, type HttpClientLayer } from "../support/doubles/simulatedAdvisor.js"
import { serveAdvisor } from "../support/doubles/Wire.js"
import { clients, wrapped, wrapping } from "../support/leaks/clients.js"

const calling = (layer: HttpClientLayer) =>
  Effect.gen(function*() {
    const service = yield* serveAdvisor()
    return { ...service, ...(yield* advisorOver(layer, { baseUrl: service.origin })) }
  })

describe("FetchHttpClient.RequestInit", () => {
  /** A search whose fetch is configured by the client's layer, and the options that fetch gets. */
  const searching = (init: RequestInit) =>
    Effect.gen(function*() {
      const seen: Array<RequestInit | undefined> = []
      const fetch: typeof globalThis.fetch = (url, init) => {
        seen.push(init)
        return globalThis.fetch(url, init)
      }
      const settings = Layer.merge(
        Layer.succeed(FetchHttpClient.RequestInit, init),
        Layer.succeed(FetchHttpClient.Fetch, fetch)
      )
      const { search } = yield* calling(Layer.provide(FetchHttpClient.layer, settings))
      return { search: search("oats"), seen }
    })

  const given: RequestInit = { credentials: "omit", keepalive: true, redirect: "follow" }

  const kept = { credentials: "omit", keepalive: true, redirect: "manual" }

  testLive("the options of the client's layer are used, except that redirects stay off", function*() {
    const { search, seen } = yield* searching(given)
    yield* search
    expect(seen).toMatchObject([kept, kept])
  })

  testLive("the options of a call override those of the layer", function*() {
    const { search, seen } = yield* searching({ credentials: "include" })
    yield* Effect.provideService(search, FetchHttpClient.RequestInit, given)
    expect(seen.at(-1)).toMatchObject(kept)
  })
})

testLive("dispatcher that changes the headers of a search: other searches keep theirs", function*() {
  const seen: Array<ReadonlyArray<string>> = []
  const dispatcher = new Agent().compose((dispatch: Dispatcher.Dispatch) => (options, handler) => {
    const headers = Object(options.headers)
    seen.push(Object.keys(headers))
    headers["x-turn"] = String(seen.length)
    return dispatch(options, handler)
  })
  yield* Effect.addFinalizer(() => Effect.promise(() => dispatcher.destroy()))
  const { search } = yield* calling(UndiciClient.layerFromDispatcher(dispatcher))
  yield* Effect.replicateEffect(search("oats"), 3)
  expect(seen).toHaveLength(4)
  expect(seen.flat()).not.toContain("x-turn")
})

describe.each([...clients, ...wrapped])("request body over $name", ({ layer }) => {
  testLive.each<readonly [string, Effect.Effect<never, string>, object]>([
    ["interrupts itself", Effect.interrupt, { _tag: "TransportError" }],
    ["fails", Effect.fail("no such file"), { _tag: "BadRequest", detail: "the stream of its body failed" }],
    ["dies", Effect.die("a bug"), { _tag: "BadRequest", detail: "the stream of its body failed" }]
  ])("a request fails with a typed error if the stream of its body %s", function*([, ending, value]) {
    const { httpClient } = yield* calling(layer)
    const body = HttpBody.stream(Stream.concat(Stream.make(new Uint8Array(10)), Stream.fromEffect(ending)))
    const exit = yield* Effect.exit(
      httpClient.execute(HttpClientRequest.setBody(HttpClientRequest.post("/v2/x"), body))
    )
    expect(Exit.isFailure(exit) && Cause.isInterrupted(exit.cause)).toBe(false)
    expect(Exit.isFailure(exit) && Cause.failureOption(exit.cause)).toMatchObject({ _tag: "Some", value })
  })

  testLive.each(["DELETE", "OPTIONS"] as const)("the service receives the body of %s", function*(method) {
    const { httpClient, requests } = yield* calling(layer)
    yield* httpClient.execute(HttpClientRequest.setBody(HttpClientRequest.make(method)("/v2/x"), HttpBody.raw("oats")))
    expect(requests.at(-1)).toMatchObject({ method, body: "oats" })
  })

  testLive("a wrapper of the client can replace the body of a POST", function*() {
    const gzip = ({ body }: HttpClientRequest.HttpClientRequest) =>
      gzipSync(body._tag === "Raw" ? body.body as Uint8Array : "")
    const compressing = HttpClient.mapRequest((request) =>
      request.body._tag === "Empty" ? request : HttpClientRequest.setBody(request, HttpBody.raw(gzip(request)))
    )
    const { httpClient, requests } = yield* calling(wrapping(layer, compressing))
    yield* httpClient.post("/v2/x", { body: HttpBody.raw("oats".repeat(100)) })
    expect(requests.at(-1)?.headers["content-length"]).toBe(String(gzipSync("oats".repeat(100)).length))
  })
})

describe.each(clients.filter(({ name }) => name !== "fetch"))("process without fetch, over $name", ({ layer }) => {
  testLive("search and httpClient get their responses", function*() {
    for (const name of ["fetch", "FormData", "Headers", "Request", "Response"]) vi.stubGlobal(name, undefined)
    const { httpClient, search } = yield* calling(layer)
    const plan = Effect.flatMap(httpClient.get("/v2/plan"), ({ json }) => json)
    expect(yield* search("oats")).toEqual({})
    expect(yield* plan).toEqual({})
  })
})
