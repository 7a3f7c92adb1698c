import { expect, vi } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type ClientOptions, createClient } from "effect-nutrition-advisor/promise"
import { arrangedLive, testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"
import { clients } from "../support/leaks/clients.js"

interface Arranged {
  readonly respond?: Wire.Handler
  readonly httpClient?: NonNullable<ClientOptions["httpClient"]>
}

/** A client of a server on a port, and the data requests that the server gets. */
const overPort = ({ respond = Wire.replying("{}"), ...options }: Arranged = {}) =>
  Effect.gen(function*() {
    const seen: Array<Wire.Received> = []
    const { origin } = yield* Wire.serveAdvisor({
      data: (request, response) => {
        seen.push(request)
        respond(request, response)
      }
    })
    const { fetch } = yield* Effect.acquireRelease(
      Effect.sync(() => createClient({ baseUrl: origin, licenseKey: "key", ...options })),
      ({ close }) => Effect.promise(close)
    )
    return [fetch, seen] as const
  })

const test = arrangedLive(overPort(), Layer.empty)

test("fetch: the method, path, query and headers are sent", function*([fetch, seen]) {
  const headers = { "x-a": "1", "content-type": "text/csv" }
  yield* Effect.promise(() => fetch("/v2/diary?day=2026-11-20", { method: "patch", headers, body: "a,b" }))
  yield* Effect.promise(() => fetch("v2/diary", { headers: new Headers(headers), signal: null }))
  expect(seen).toMatchObject([
    { method: "PATCH", path: "/v2/diary", query: "day=2026-11-20", headers },
    { method: "GET", path: "/v2/diary", headers }
  ])
})

const csv = { method: "PUT", headers: { "content-type": "text/csv", "x-a": "1" }, body: "a,b" }

test.each<readonly [what: string, RequestInit, sent: object]>([
  ["with a body", csv, csv],
  ["without a body", {}, { method: "GET" }]
])("fetch: a web Request %s can be passed as the options", function*([, init, sent], [fetch, seen]) {
  yield* Effect.promise(() => fetch("/v2/diary", new Request("http://gateway.example/diary", init)))
  expect(seen).toMatchObject([{ path: "/v2/diary", ...sent }])
})

test("fetch: a path that is neither a string nor a URL is rejected before anything is sent", function*([fetch, seen]) {
  const badRequest = { _tag: "BadRequest", detail: expect.stringContaining("fetch(request.url, request)") }
  for (const path of [undefined, null, {}, { href: "/v2/x" }, new Request("http://gateway.example/diary")]) {
    yield* Effect.promise(() => expect(fetch(path as never)).rejects.toMatchObject(badRequest))
  }
  expect(seen).toEqual([])
})

test("fetch: JavaScript callers can pass a URL below the base URL", function*([fetch, seen]) {
  const { url } = yield* Effect.promise(() => fetch("/v2/diary"))
  yield* Effect.promise(() => fetch(new URL(`${url}?day=1`) as never))
  expect(seen).toMatchObject([{ path: "/v2/diary" }, { path: "/v2/diary", query: "day=1" }])
})

const form = () => {
  const fields = new FormData()
  fields.set("a", "1")
  return fields
}

/** The body without the boundary of a form, which differs in each request. */
const bodyOf = (received: Wire.Received | undefined) => received?.body.replaceAll(/formdata-[\w-]+/g, "boundary")

test.each<readonly [string, () => NonNullable<RequestInit["body"]>, change: (body: never) => void]>([
  ["a Buffer", () => Buffer.from("oats"), (body: Buffer) => body.fill("x")],
  ["an ArrayBuffer", () => new ArrayBuffer(4), (body: ArrayBuffer) => new Uint8Array(body).fill(1)],
  ["URLSearchParams", () => new URLSearchParams({ a: "1" }), (body: URLSearchParams) => body.set("a", "2")],
  ["FormData", form, (body: FormData) => body.set("a", "2")]
])(
  "fetch: the first call sends %s and its headers as they were at the call",
  function*([, body, change], [fetch, seen]) {
    const changed = body()
    const headers = new Headers({ "x-a": "1" })
    const call = fetch("/v2/x", { method: "POST", headers, body: changed })
    change(changed as never)
    headers.set("x-a", "2")
    yield* Effect.promise(() => call)
    yield* Effect.promise(() => fetch("/v2/x", { method: "POST", body: body() }))
    const [first, second] = seen
    expect(bodyOf(first)).toBe(bodyOf(second))
    expect(first?.headers["x-a"]).toBe("1")
  }
)

testLive.each(clients)(
  "fetch: the web Response has the status, headers, cookies and body of the service, over $name",
  function*({ layer: httpClient }) {
    const cookies = ["a=1; Path=/", "a=2; Path=/v2", "a=3; Expires=Wed, 25 Nov 2026 03:57:31 GMT"]
    const headers = { "x-b": "2", "link": ["</1>", "</2>"], "set-cookie": cookies }
    const [fetch] = yield* overPort({ respond: Wire.replying("{\"grams\":40}", headers, 201), httpClient })
    const response = yield* Effect.promise(() => fetch("/v2/x"))
    expect(response).toBeInstanceOf(Response)
    expect(response.status).toBe(201)
    expect(response.headers.get("x-b")).toBe("2")
    expect(response.headers.get("link")).toBe("</1>, </2>")
    expect(response.headers.getSetCookie()).toEqual(cookies)
    expect(yield* Effect.promise(() => response.json())).toEqual({ grams: 40 })
  }
)

testLive.each(clients)(
  "fetch: a 204 with the length of a body keeps its reason phrase and its cookies, over $name",
  function*({ layer: httpClient }) {
    const head = ["HTTP/1.1 204 Nothing", "content-length: 1000", "set-cookie: a=1", "set-cookie: b=2"]
    const respond: Wire.Handler = (_, { socket }) => socket?.end(`${head.join("\r\n")}\r\n\r\n`)
    const [fetch] = yield* overPort({ respond, httpClient })
    const { headers, statusText } = yield* Effect.promise(() => fetch("/v2/x"))
    expect([statusText, ...headers.getSetCookie()]).toEqual(["Nothing", "a=1", "b=2"])
  }
)

testLive.each(clients)(
  "fetch: the Response and its clone have the URL and the reason phrase, over $name",
  function*({ layer: httpClient }) {
    const respond: Wire.Handler = (_, response) => response.writeHead(201, "Plan Made").end("{}")
    const [fetch] = yield* overPort({ respond, httpClient })
    const response = yield* Effect.promise(() => fetch("/v2/plan?a=1#part"))
    for (const { status, statusText, url } of [response, response.clone()]) {
      expect(status).toBe(201)
      expect(statusText).toBe("Plan Made")
      expect(url.replace(/^http:\/\/[^/]+/, "")).toBe("/v2/plan?a=1")
    }
  }
)

test("fetch: headers of an incoming request that are undefined or null are not sent", function*([fetch, seen]) {
  const headers: Record<string, unknown> = { "x-request-id": undefined, "x-tenant": null, "x-a": ["1", "2"] }
  yield* Effect.promise(() => fetch("/v2/x", { headers: headers as Record<string, string> }))
  expect(seen).toMatchObject([{ headers: { "x-a": "1,2" } }])
  expect(Object.keys(seen[0]?.headers ?? {})).not.toEqual(expect.arrayContaining([expect.stringMatching(/^x-[rt]/)]))
})

test.each(["Request", "Response"])(
  "fetch: in a process without %s, it rejects with BadRequest and sends nothing",
  function*(name, [fetch, seen]) {
    vi.stubGlobal(name, undefined)
    const badRequest = { _tag: "BadRequest", detail: expect.stringContaining("no Request and Response") }
    yield* Effect.promise(() => expect(fetch("/v2/x")).rejects.toMatchObject(badRequest))
    expect(seen).toEqual([])
  }
)

test.each<readonly [string, RequestInit]>([
  ["a body with GET", { body: "oats" }],
  ["an invalid header", { headers: { "x-a": "1\nx" } }]
])("fetch: %s rejects with BadRequest and is not sent", function*([, init], [fetch, seen]) {
  const badRequest = { _tag: "BadRequest", operation: "request", detail: expect.any(String) }
  yield* Effect.promise(() => expect(fetch("/v2/diary", init)).rejects.toMatchObject(badRequest))
  expect(seen).toEqual([])
})

test("fetch: it rejects with the error of a body stream that fails", function*([fetch]) {
  const body = new ReadableStream({ start: (controller) => controller.error(new Error("no such file")) })
  yield* Effect.promise(() => expect(fetch("/v2/x", { method: "POST", body })).rejects.toThrow("no such file"))
})
