import { setImmediate } from "node:timers/promises"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { type Client, createClient, fromLayer } from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { testLive } from "../doubles/arranged.js"
import * as Wire from "../doubles/Wire.js"
import { type Simulated, simulated } from "./simulated.js"

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Buffer
}

type SearchError = NutritionAdvisorError.NutritionAdvisorError

const httpClients = [["UndiciClient", UndiciClient.layer()], ["FetchHttpClient", FetchHttpClient.layer]] as const

const token = (number: number) =>
  JSON.stringify({ access_token: `token-${number}`, expires_in: 3600, customer_id: "customer" })

/** A client over a port, where each data request is noted; the first one is rejected where `rejects` says so. */
const overPort = (
  httpClient: (typeof httpClients)[number][1],
  { answer = Wire.replying("{}"), rejects = false }: { readonly answer?: Wire.Answer; readonly rejects?: boolean } = {}
): Effect.Effect<readonly [Client, Array<Seen>], never, Scope.Scope> =>
  Effect.gen(function*() {
    const seen: Array<Seen> = []
    let tokens = 0
    const { origin } = yield* Wire.serve((request, response) => {
      if (request.url?.includes("/oauth/") === true) return Wire.replying(token(++tokens))(request, response)
      if (request.url?.includes("/answered") === true) return answer(request, response)
      return Wire.afterBody((body, { headers, method, url }) => {
        seen.push({ method, url, headers, body })
        response.writeHead(rejects && seen.length === 1 ? 403 : 200).end("{}")
      })(request, response)
    })
    const advisor = yield* Effect.acquireRelease(
      Effect.sync(() => createClient({ baseUrl: origin, licenseKey: "key", httpClient })),
      ({ close }) => Effect.promise(close)
    )
    return [advisor, seen]
  })

const form = () => {
  const form = new FormData()
  form.append("food", "oats")
  form.append("photo", new Blob(["jpeg"], { type: "image/jpeg" }), "oats.jpg")
  return form
}

const bodies: ReadonlyArray<readonly [string, () => RequestInit["body"] & object | string | null]> = [
  ["nothing", () => null],
  ["text", () => "oats è"],
  ["bytes", () => new Uint8Array([0, 255])],
  ["an ArrayBuffer", () => new Uint8Array([1, 2, 3]).buffer],
  ["a view of a part", () => new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)],
  ["URLSearchParams", () => new URLSearchParams({ food: "oats & rice" })],
  ["a Blob", () => new Blob(["{}"], { type: "application/json" })],
  ["a Blob without a type", () => new Blob(["bytes"])],
  ["FormData", form],
  ["a stream", () => new Blob(["streamed"]).stream()]
]

const withoutBoundary = (text: string) => text.replaceAll(/-*formdata-[\w-]+/g, "boundary")

describe.each(httpClients)("fetch over %s", (_, httpClient) => {
  testLive.each(bodies)("sends %s as a web Request does, and again after a renewal", function*([, body]) {
    const [advisor, seen] = yield* overPort(httpClient, { rejects: true })
    yield* Effect.promise(() => advisor.fetch("/v2/diary", { method: "PUT", body: body() }))
    const expected = new Request("http://localhost", { method: "PUT", body: body(), duplex: "half" })
    const bytes = Buffer.from(yield* Effect.promise(() => expected.arrayBuffer()))
    const contentType = expected.headers.get("content-type") ?? undefined
    expect(seen).toHaveLength(2)
    for (const { body, headers, method } of seen) {
      expect(method).toBe("PUT")
      expect(withoutBoundary(body.toString("latin1"))).toBe(withoutBoundary(bytes.toString("latin1")))
      expect(headers["content-type"] && withoutBoundary(String(headers["content-type"])))
        .toBe(contentType && withoutBoundary(contentType))
    }
  })

  testLive("sends method, path, query and headers, and leaves the two headers of the client alone", function*() {
    const [{ fetch }, seen] = yield* overPort(httpClient)
    const headers = { "x-a": "1", authorization: "mine", "service-id": "mine", "content-type": "text/csv" }
    yield* Effect.promise(() => fetch("/v2/diary?day=2026-11-20", { method: "patch", headers, body: "a,b" }))
    yield* Effect.promise(() => fetch("v2/diary", { headers: new Headers(headers) }))
    expect(seen.map(({ method, url }) => [method, url])).toEqual([
      ["PATCH", "/v2/diary?day=2026-11-20"],
      ["GET", "/v2/diary"]
    ])
    const [first] = seen
    expect(first?.headers).toMatchObject({
      "x-a": "1",
      "content-type": "text/csv",
      "authorization": "Bearer token-1",
      "service-id": "customer"
    })
  })

  testLive("gives a web Response with status, headers, cookies and body", function*() {
    const [{ fetch }] = yield* overPort(httpClient, {
      answer: Wire.replying("{\"grams\":40}", { "x-b": "2", "set-cookie": ["a=1; Path=/", "b=2"] }, 201)
    })
    const response = yield* Effect.promise(() => fetch("/answered"))
    expect(response).toBeInstanceOf(Response)
    expect([response.status, response.ok, response.headers.get("x-b")]).toEqual([201, true, "2"])
    expect(response.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2"])
    expect(yield* Effect.promise(() => response.json())).toEqual({ grams: 40 })
  })

  testLive("gives a Response without a body for 204", function*() {
    const [{ fetch }] = yield* overPort(httpClient, { answer: (_, response) => response.writeHead(204).end() })
    expect(yield* Effect.promise(() => fetch("/answered"))).toMatchObject({ status: 204, body: null })
  })

  testLive.each([[404, "UnexpectedResponse"], [307, "UnexpectedResponse"], [503, "ServerError"]] as const)(
    "rejects with the error of an answer with status %s",
    function*([status, _tag]) {
      const [{ fetch }] = yield* overPort(httpClient, { answer: Wire.replying("{}", { location: "/v2/x" }, status) })
      const error = yield* Effect.promise(() => fetch("/answered").catch((error: unknown) => error))
      expect(error).toMatchObject({ _tag, operation: "request", status })
    }
  )

  testLive("aborts the request at the service with its signal", function*() {
    let closed = 0
    const controller = new AbortController()
    const [{ fetch }] = yield* overPort(httpClient, {
      answer: (request) => {
        request.socket.once("close", () => closed += 1)
        controller.abort("left")
      }
    })
    const { signal } = controller
    expect(yield* Effect.promise(() => fetch("/answered", { signal }).catch((reason: unknown) => reason))).toBe(
      "left"
    )
    yield* Effect.promise(() => expect.poll(() => closed).toBe(1))
  })

  const secret = "a header of the caller's"

  testLive.each<readonly [string, string, object]>([
    ["follow", "/v2/diary", { redirect: "follow" }],
    ["error", "/v2/diary", { redirect: "error" }],
    ["a body with GET", "/v2/diary", { body: secret }],
    ["a header that HTTP does not allow", "/v2/diary", { headers: { "x-a": `${secret}\nx` } }],
    ["a method that HTTP does not allow", "/v2/diary", { method: "G T" }],
    ["CONNECT", "/v2/diary", { method: "CONNECT" }],
    ["a URL elsewhere", "https://elsewhere.example/", {}]
  ])("sends nothing and says why in BadRequest: %s", function*([, path, init]) {
    const [{ fetch }, seen] = yield* overPort(httpClient)
    const error = yield* Effect.promise(() => fetch(path, init).catch((error: unknown) => error))
    expect(error).toBeInstanceOf(NutritionAdvisorError.BadRequest)
    expect(error).toMatchObject({ operation: "request", detail: expect.any(String) })
    expect(String(error)).not.toContain(secret)
    expect(seen).toEqual([])
  })

  testLive("passes over what makes no sense for a server, and takes redirect: manual", function*() {
    const [{ fetch }, seen] = yield* overPort(httpClient)
    const init = { mode: "navigate", credentials: "include", cache: "only-if-cached", redirect: "manual" } as const
    yield* Effect.promise(() =>
      fetch("/v2/diary", { ...init, signal: null, keepalive: true, referrer: "about:client" })
    )
    expect(seen).toHaveLength(1)
  })
})

describe("fetch over a double", () => {
  it("sends a body as it is at the call, also the first one, for which the layer is built", async () => {
    const seen: Array<string> = []
    await using world = simulated({}, {
      routes: {
        "POST /v2/diary": ({ body }) => {
          seen.push(new TextDecoder().decode(body))
          return { status: 200, body: {} }
        }
      }
    })
    for (let call = 0; call < 2; call++) {
      const body = new TextEncoder().encode("oats")
      const sent = world.advisor.fetch("/v2/diary", { method: "POST", body })
      body.fill(0)
      await sent
    }
    expect(seen).toEqual(["oats", "oats"])
  })

  it.each<readonly [string, (world: Simulated, controller: AbortController) => unknown]>([
    ["its signal is aborted", (_, controller) => controller.abort()],
    ["the client is closed", ({ advisor }) => advisor.close()]
  ])("cancels a body that is a stream without an end where %s", async (_, leave) => {
    await using world = simulated()
    const controller = new AbortController()
    let pulled = 0
    const canceled = new Promise((resolve) => {
      const body = new ReadableStream<Uint8Array>({
        pull: async (stream) => {
          await setImmediate()
          stream.enqueue(new Uint8Array(1))
          pulled += 1
        },
        cancel: resolve
      })
      const { signal } = controller
      world.advisor.fetch("/v2/diary", { method: "POST", body, signal, duplex: "half" }).catch(() => {})
    })
    await expect.poll(() => pulled).toBeGreaterThan(3)
    await leave(world, controller)
    await canceled
  })

  it("rejects in TransportError where the body of its answer can't be read", async () => {
    const broken = HttpClient.makeWith<SearchError, never, SearchError, never>(
      Effect.map((request) => ({
        ...HttpClientResponse.fromWeb(request, new Response("")),
        arrayBuffer: Effect.fail(
          new HttpClientError.ResponseError({
            request: HttpClientRequest.get("/secret"),
            response: HttpClientResponse.fromWeb(request, new Response("")),
            reason: "Decode"
          })
        )
      })),
      Effect.succeed
    )
    await using advisor = fromLayer(NutritionAdvisorTest.layer({ httpClient: broken }))
    const error = await advisor.fetch("/v2/diary").catch((error: unknown) => error)
    expect(error).toEqual(new NutritionAdvisorError.TransportError({ operation: "request", reason: "Connection" }))
  })
})
