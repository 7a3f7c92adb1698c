/** What each client sends, and to which address, over real ports. */
import { HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { advisorOver, type HttpClientLayer } from "../support/doubles/advisorOver.js"
import { testLive } from "../support/doubles/arranged.js"
import { clients } from "../support/leaks/clients.js"
import * as LocalService from "../support/leaks/LocalService.js"
import * as Replies from "../support/leaks/replies.js"
import * as Secrets from "../support/leaks/secrets.js"

const serve = (replies: Partial<LocalService.Replies> = {}) =>
  LocalService.start({ token: Replies.tokenReply, data: Replies.found, ...replies })

const advisorAt = ({ origin: baseUrl }: LocalService.LocalService, client: HttpClientLayer) =>
  advisorOver(client, { baseUrl, licenseKey: Redacted.make(Secrets.key) })

const tokenPath = `/v2/token-cache/nutrition-advisor/oauth/licence/${Secrets.withReserved(Secrets.key)}`

const namesOf = (requests: ReadonlyArray<LocalService.Received>) =>
  requests.map(({ headers }) => Object.keys(headers).sort())

const traceHeaders = (requests: ReadonlyArray<LocalService.Received>) =>
  namesOf(requests).flat().filter((name) => /^(traceparent|tracestate|baggage|b3|x-b3-.+)$/.test(name))

describe.each(clients)("HTTP boundary over $name", ({ layer }) => {
  testLive(
    "the key is sent only in the token path, and the token and identifier only in two headers",
    function*() {
      const service = yield* serve()
      const { httpClient, search } = yield* advisorAt(service, layer)
      yield* search("apple")
      yield* httpClient.get("/v2/plan?page=2")
      const [token, ...data] = service.received
      expect([token?.path, token?.headers["authorization"], token?.headers["service-id"]])
        .toEqual([tokenPath, undefined, undefined])
      expect(data.map(({ headers, path, query }) => [path, query, headers["authorization"], headers["service-id"]]))
        .toEqual([
          ["/v2/products/napi/food/search/semantic", "term=apple", `Bearer ${Secrets.token}`, Secrets.customerId],
          ["/v2/plan", "page=2", `Bearer ${Secrets.token}`, Secrets.customerId]
        ])
    }
  )

  testLive("the client adds no headers other than the two token headers and the User-Agent", function*() {
    const [service, bare] = [yield* serve(), yield* serve()]
    const { search } = yield* advisorAt(service, layer)
    yield* search("apple")
    yield* Effect.gen(function*() {
      const client = HttpClient.withTracerPropagation(yield* HttpClient.HttpClient, false)
      const own = { authorization: "x", "service-id": "x", "user-agent": "x" }
      yield* client.post(`${bare.origin}${tokenPath}`, { headers: { accept: "*/*", "user-agent": "x" } })
      yield* client.get(`${bare.origin}/v2/x`, { headers: own })
    }).pipe(Effect.provide(layer), Effect.scoped)
    expect(namesOf(service.received)).toEqual(namesOf(bare.received))
  })

  testLive("a body is sent with its content type, even if no header repeats it", function*() {
    const service = yield* serve()
    const { httpClient } = yield* advisorAt(service, layer)
    const meal = HttpBody.raw(new Blob(["two eggs"], { type: "text/x-meal" }))
    yield* httpClient.execute(HttpClientRequest.setBody(HttpClientRequest.post("/v2/meals"), meal))
    const [, sent] = service.received
    expect([sent?.body, sent?.headers["content-type"]]).toEqual(["two eggs", "text/x-meal"])
  })

  testLive("a caller's span is not propagated to the service", function*() {
    const service = yield* serve({ data: Replies.inTurn(Replies.echoing(403), Replies.found) })
    const traced = Layer.project(
      layer,
      HttpClient.HttpClient,
      HttpClient.HttpClient,
      (client) => HttpClient.withTracerDisabledWhen(client, () => false)
    )
    const { httpClient, search } = yield* advisorAt(service, traced)
    yield* Effect.withSpan(Effect.zipRight(search("apple"), httpClient.get("/v2/plan")), "menu")
    expect(traceHeaders(service.received)).toEqual([])
    yield* HttpClient.get(`${service.origin}/v2/x`).pipe(Effect.withSpan("menu"), Effect.provide(layer))
    expect(traceHeaders(service.received)).not.toEqual([])
  })

  testLive.each([301, 302, 303, 307, 308])("a redirect with status %d is not followed", function*(status) {
    const redirected = { _tag: "UnexpectedResponse", status, reason: "Redirect" }
    const ofToken = yield* serve({ token: Replies.redirect(status) })
    const withoutToken = yield* advisorAt(ofToken, layer)
    expect(yield* Effect.flip(withoutToken.search("apple"))).toMatchObject({ ...redirected, operation: "token" })
    const ofData = yield* serve({ data: Replies.redirect(status) })
    const { httpClient, search } = yield* advisorAt(ofData, layer)
    expect(yield* Effect.flip(search("apple"))).toMatchObject({ ...redirected, operation: "search" })
    expect(yield* Effect.flip(httpClient.get("/v2/plan"))).toMatchObject({ ...redirected, operation: "request" })
    expect([ofToken.received.length, ofData.received.length]).toEqual([1, 3])
    expect([...ofToken.receivedAtOther, ...ofData.receivedAtOther]).toEqual([])
  })
})

testLive("a client that wraps an UndiciClient receives every request", function*() {
  const service = yield* serve()
  const guarded = Layer.project(
    Layer.orDie(UndiciClient.layer()),
    HttpClient.HttpClient,
    HttpClient.HttpClient,
    (client) => HttpClient.mapRequest(client, HttpClientRequest.setHeader("service-id", "kept back"))
  )
  const { search } = yield* advisorAt(service, guarded)
  yield* search("apple")
  expect(service.received.map(({ headers }) => headers["service-id"])).toEqual(["kept back", "kept back"])
})
