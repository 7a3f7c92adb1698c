import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { type Client, type ClientOptions, createClient } from "effect-nutrition-advisor/promise"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { vi } from "vitest"
import { testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"
import { rejection } from "./outcomes.js"

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Buffer
}

interface Arranged {
  readonly respond?: Wire.Answer
  /** Whether the first data request is rejected. */
  readonly rejects?: boolean
  readonly httpClient?: NonNullable<ClientOptions["httpClient"]>
}

/** A client of a server on a port, and the data requests that the server gets. */
const overPort = ({ respond = Wire.replying("{}"), rejects = false, ...options }: Arranged = {}): Effect.Effect<
  readonly [Client["fetch"], Array<Seen>],
  never,
  Scope.Scope
> =>
  Effect.gen(function*() {
    const seen: Array<Seen> = []
    const token = JSON.stringify({ access_token: "token", expires_in: 3600, customer_id: "customer" })
    let tokens = 0
    const { origin } = yield* Wire.serve((request, response) => {
      if (request.url?.includes("/oauth/") === true) {
        return Wire.replying(token.replace("token\",", `token-${++tokens}",`))(request, response)
      }
      if (request.url?.includes("/custom") === true) return respond(request, response)
      return Wire.afterBody((body, { headers, method, url }) => {
        seen.push({ method, url, headers, body })
        response.writeHead(rejects && seen.length === 1 ? 403 : 200).end("{}")
      })(request, response)
    })
    const { fetch } = yield* Effect.acquireRelease(
      Effect.sync(() => createClient({ baseUrl: origin, licenseKey: "key", ...options })),
      ({ close }) => Effect.promise(close)
    )
    return [fetch, seen]
  })

const form = () => {
  const form = new FormData()
  form.append("food", "oats")
  form.append("photo", new Blob(["jpeg"], { type: "image/jpeg" }), "oats.jpg")
  return form
}

const bodies: ReadonlyArray<readonly [string, () => NonNullable<RequestInit["body"]> | null]> = [
  ["no body", () => null],
  ["a string", () => "oats è"],
  ["bytes", () => new Uint8Array([0, 255])],
  ["URLSearchParams", () => new URLSearchParams({ food: "oats & rice" })],
  ["a Blob without a type", () => new Blob(["bytes"])],
  ["FormData", form],
  ["a stream", () => new Blob(["streamed"]).stream()]
]

const senders: ReadonlyArray<readonly [string, NonNullable<ClientOptions["httpClient"]>]> = [
  ["fetch", FetchHttpClient.layer],
  ["UndiciClient", UndiciClient.layer()],
  ["layerUndici", NodeHttpClient.layerUndici],
  ["node:http", NodeHttpClient.layer]
]

const withoutBoundary = (text: unknown) => String(text).replaceAll(/-*formdata-[\w-]+/g, "boundary")

testLive.each(bodies)(
  "fetch: a request and its retry have the body and content type of a web Request: %s",
  function*([, body]) {
    const [fetch, seen] = yield* overPort({ rejects: true })
    yield* Effect.promise(() => fetch("/v2/diary", { method: "PUT", body: body() }))
    const expected = new Request("http://localhost", { method: "PUT", body: body(), duplex: "half" })
    const bytes = Buffer.from(yield* Effect.promise(() => expected.arrayBuffer()))
    const contentType = expected.headers.get("content-type") ?? undefined
    expect(seen).toHaveLength(2)
    for (const { body, headers, method } of seen) {
      expect(method).toBe("PUT")
      expect(withoutBoundary(body.toString("latin1"))).toBe(withoutBoundary(bytes.toString("latin1")))
      expect(withoutBoundary(headers["content-type"])).toBe(withoutBoundary(contentType))
    }
  }
)

testLive("fetch: the method, path, query and headers are sent", function*() {
  const [fetch, seen] = yield* overPort()
  const headers = { "x-a": "1", "content-type": "text/csv" }
  yield* Effect.promise(() => fetch("/v2/diary?day=2026-11-20", { method: "patch", headers, body: "a,b" }))
  yield* Effect.promise(() => fetch("v2/diary", { headers: new Headers(headers), signal: null }))
  expect(seen).toMatchObject([
    { method: "PATCH", url: "/v2/diary?day=2026-11-20", headers },
    { method: "GET", url: "/v2/diary", headers: { "x-a": "1" } }
  ])
})

testLive("fetch: the headers of the token override those of the caller", function*() {
  const [fetch, seen] = yield* overPort()
  yield* Effect.promise(() => fetch("/v2/diary", { headers: { authorization: "mine", "service-id": "mine" } }))
  expect(seen).toMatchObject([{ headers: { authorization: "Bearer token-1", "service-id": "customer" } }])
})

testLive.each(senders)(
  "fetch: the web Response has the status, headers, cookies and body of the service, over %s",
  function*(
    [, httpClient]
  ) {
    const cookies = ["a=1; Path=/", "a=2; Path=/v2", "a=3; Expires=Wed, 25 Nov 2026 03:57:31 GMT"]
    const headers = { "x-b": "2", "set-cookie": cookies }
    const [fetch] = yield* overPort({ respond: Wire.replying("{\"grams\":40}", headers, 201), httpClient })
    const response = yield* Effect.promise(() => fetch("/custom"))
    expect(response).toBeInstanceOf(Response)
    expect([response.status, response.headers.get("x-b")]).toEqual([201, "2"])
    expect(response.headers.getSetCookie()).toEqual(cookies)
    expect(yield* Effect.promise(() => response.json())).toEqual({ grams: 40 })
  }
)

testLive.each(senders)(
  "fetch: the Response and its clone have the URL and the reason phrase, over %s",
  function*([, httpClient]) {
    const respond: Wire.Answer = (_, response) => response.writeHead(201, "Plan Made").end("{}")
    const [fetch] = yield* overPort({ respond, httpClient })
    const response = yield* Effect.promise(() => fetch("/custom/plan?a=1#part"))
    for (const { status, statusText, url } of [response, response.clone()]) {
      expect([status, statusText, url.replace(/^http:\/\/[^/]+/, "")]).toEqual([201, "Plan Made", "/custom/plan?a=1"])
    }
  }
)

testLive("fetch: the pseudo-headers of an HTTP/2 request are not sent", function*() {
  const [fetch, seen] = yield* overPort()
  yield* Effect.promise(() => fetch("/v2/x", { headers: { ":method": "GET", ":path": "/foods", "x-a": "1" } }))
  expect(seen).toMatchObject([{ url: "/v2/x", headers: { "x-a": "1" } }])
})

testLive.each(["Request", "Response"])(
  "fetch: in a process without %s, it rejects with BadRequest and sends nothing",
  function*(name) {
    const [fetch, seen] = yield* overPort()
    yield* Effect.acquireRelease(
      Effect.sync(() => vi.stubGlobal(name, undefined)),
      () => Effect.sync(() => vi.unstubAllGlobals())
    )
    const error = yield* Effect.promise(() => rejection(fetch("/v2/x")))
    expect(error).toMatchObject({ _tag: "BadRequest", detail: expect.stringContaining("no Request and Response") })
    expect(seen).toEqual([])
  }
)

testLive("fetch: a 204 resolves with a Response without a body", function*() {
  const [fetch] = yield* overPort({ respond: (_, response) => response.writeHead(204).end() })
  expect(yield* Effect.promise(() => fetch("/custom"))).toMatchObject({ status: 204, body: null })
})

testLive("fetch: aborting its signal closes the connection to the service", function*() {
  let closed = 0
  const controller = new AbortController()
  const [fetch] = yield* overPort({
    respond: (request) => {
      request.socket.once("close", () => closed += 1)
      controller.abort("left")
    }
  })
  const { signal } = controller
  const reason = yield* Effect.promise(() => rejection(fetch("/custom", { signal })))
  expect(reason).toBe("left")
  expect(yield* Wire.eventually(() => closed === 1)).toBe(true)
})

testLive.each<readonly [string, string, RequestInit]>([
  ["a body with GET", "/v2/diary", { body: "oats" }],
  ["an invalid header", "/v2/diary", { headers: { "x-a": "1\nx" } }],
  ["a URL elsewhere", "https://elsewhere.example/", {}]
])("fetch: %s rejects with BadRequest and is not sent", function*([, path, init]) {
  const [fetch, seen] = yield* overPort()
  const error = yield* Effect.promise(() => rejection(fetch(path, init)))
  expect(error).toBeInstanceOf(NutritionAdvisorError.BadRequest)
  expect(error).toMatchObject({ operation: "request", detail: expect.any(String) })
  expect(seen).toEqual([])
})

testLive("fetch: it rejects with the error of a body stream that fails", function*() {
  const [fetch] = yield* overPort()
  const body = new ReadableStream({ start: (controller) => controller.error(new Error("no such file")) })
  yield* Effect.promise(() => expect(fetch("/v2/x", { method: "POST", body })).rejects.toThrow("no such file"))
})
