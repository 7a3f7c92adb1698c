import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { type Client, type ClientOptions, createClient } from "effect-nutrition-advisor/promise"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { vi } from "vitest"
import { testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Buffer
}

interface Arranged {
  readonly answer?: Wire.Answer
  /** Whether the first data request is rejected. */
  readonly rejects?: boolean
  readonly httpClient?: NonNullable<ClientOptions["httpClient"]>
}

/** A client over a port, where each data request is noted. */
const overPort = ({ answer = Wire.replying("{}"), rejects = false, ...options }: Arranged = {}): Effect.Effect<
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
      if (request.url?.includes("/answered") === true) return answer(request, response)
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
  ["nothing", () => null],
  ["text", () => "oats è"],
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

describe("fetch", () => {
  testLive.each(bodies)("sends %s as a web Request does, and again after a renewal", function*([, body]) {
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
  })

  testLive("sends method, path, query and headers, and leaves the two headers of the client alone", function*() {
    const [fetch, seen] = yield* overPort()
    const headers = { "x-a": "1", authorization: "mine", "service-id": "mine", "content-type": "text/csv" }
    yield* Effect.promise(() => fetch("/v2/diary?day=2026-11-20", { method: "patch", headers, body: "a,b" }))
    yield* Effect.promise(() => fetch("v2/diary", { headers: new Headers(headers), signal: null }))
    expect(seen.map(({ method, url }) => [method, url])).toEqual([
      ["PATCH", "/v2/diary?day=2026-11-20"],
      ["GET", "/v2/diary"]
    ])
    const own = { "authorization": "Bearer token-1", "service-id": "customer" }
    expect(seen[0]?.headers).toMatchObject({ "x-a": "1", "content-type": "text/csv", ...own })
  })

  testLive.each(senders)(
    "gives a web Response with status, body and each set-cookie by itself, three of one name too: over %s",
    function*(
      [, httpClient]
    ) {
      const cookies = ["a=1; Path=/", "a=2; Path=/v2", "a=3; Expires=Wed, 25 Nov 2026 03:57:31 GMT"]
      const headers = { "x-b": "2", "set-cookie": cookies }
      const [fetch] = yield* overPort({ answer: Wire.replying("{\"grams\":40}", headers, 201), httpClient })
      const response = yield* Effect.promise(() => fetch("/answered"))
      expect(response).toBeInstanceOf(Response)
      expect([response.status, response.headers.get("x-b")]).toEqual([201, "2"])
      expect(response.headers.getSetCookie()).toEqual(cookies)
      expect(yield* Effect.promise(() => response.json())).toEqual({ grams: 40 })
    }
  )

  testLive.each(senders)("gives the url and the reason phrase, in a clone too: over %s", function*([, httpClient]) {
    const answer: Wire.Answer = (_, response) => response.writeHead(201, "Plan Made").end("{}")
    const [fetch] = yield* overPort({ answer, httpClient })
    const response = yield* Effect.promise(() => fetch("/answered/plan?a=1#part"))
    for (const { status, statusText, url } of [response, response.clone()]) {
      expect([status, statusText, url.replace(/^http:\/\/[^/]+/, "")]).toEqual([201, "Plan Made", "/answered/plan?a=1"])
    }
  })

  testLive("sends the headers of an HTTP/2 request without its pseudo-headers", function*() {
    const [fetch, seen] = yield* overPort()
    yield* Effect.promise(() => fetch("/v2/x", { headers: { ":method": "GET", ":path": "/foods", "x-a": "1" } }))
    expect(seen).toMatchObject([{ url: "/v2/x", headers: { "x-a": "1" } }])
  })

  testLive.each(["Request", "Response"])("says that this process has no %s, and sends nothing", function*(name) {
    const [fetch, seen] = yield* overPort()
    yield* Effect.acquireRelease(
      Effect.sync(() => vi.stubGlobal(name, undefined)),
      () => Effect.sync(() => vi.unstubAllGlobals())
    )
    const error = yield* Effect.promise(() => fetch("/v2/x").catch((error: unknown) => error))
    expect(error).toMatchObject({ _tag: "BadRequest", detail: expect.stringContaining("no Request and Response") })
    expect(seen).toEqual([])
  })

  testLive(
    "gives a Response without a body for 204, and rejects with the error of an answer that is not 2xx",
    function*() {
      const statuses = [204, 307, 503]
      const [fetch] = yield* overPort({ answer: (_, response) => response.writeHead(statuses.shift() ?? 500).end() })
      expect(yield* Effect.promise(() => fetch("/answered"))).toMatchObject({ status: 204, body: null })
      for (const _tag of ["UnexpectedResponse", "ServerError"]) {
        const error = yield* Effect.promise(() => fetch("/answered").catch((error: unknown) => error))
        expect(error).toMatchObject({ _tag, operation: "request" })
      }
    }
  )

  testLive("aborts the request at the service with its signal", function*() {
    let closed = 0
    const controller = new AbortController()
    const [fetch] = yield* overPort({
      answer: (request) => {
        request.socket.once("close", () => closed += 1)
        controller.abort("left")
      }
    })
    const { signal } = controller
    const reason = yield* Effect.promise(() => fetch("/answered", { signal }).catch((reason: unknown) => reason))
    expect(reason).toBe("left")
    expect(yield* Wire.eventually(() => closed === 1)).toBe(true)
  })

  testLive.each<readonly [string, string, RequestInit]>([
    ["a body with GET", "/v2/diary", { body: "oats" }],
    ["a header that HTTP does not allow", "/v2/diary", { headers: { "x-a": "1\nx" } }],
    ["a URL elsewhere", "https://elsewhere.example/", {}]
  ])("sends nothing and says why in BadRequest: %s", function*([, path, init]) {
    const [fetch, seen] = yield* overPort()
    const error = yield* Effect.promise(() => fetch(path, init).catch((error: unknown) => error))
    expect(error).toBeInstanceOf(NutritionAdvisorError.BadRequest)
    expect(error).toMatchObject({ operation: "request", detail: expect.any(String) })
    expect(seen).toEqual([])
  })

  testLive("rejects with what the source of its body has thrown", function*() {
    const [fetch] = yield* overPort()
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("no such file")) })
    yield* Effect.promise(() => expect(fetch("/v2/x", { method: "POST", body })).rejects.toThrow("no such file"))
  })
})
