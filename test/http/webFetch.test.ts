/** A custom fetch may resolve with an object of any class, which is not changed. */
import { PassThrough, Readable } from "node:stream"
import { runInNewContext } from "node:vm"
import { HttpClient } from "@effect/platform"
import { describe, expect, it, vi } from "@effect/vitest"
import { proxied } from "../support/doubles/proxied.js"
import { type Wrap, wrapping } from "../support/leaks/clients.js"
import { clientOf, resolvingWith, serviceOf } from "./fetchService.js"

const found = { results: ["oats"] }

const text = JSON.stringify(found)

/** A response of node-fetch: its headers have no getSetCookie, and its body is a Node stream. */
const nodeFetched = (body: Readable, fields: Record<string, Array<string>> = {}) => ({
  status: 200,
  statusText: "OK",
  headers: {
    get: (name: string) => fields[name]?.join(", ") ?? null,
    raw: () => fields,
    [Symbol.iterator]: () => Object.entries(fields).map(([name, values]) => [name, values.join(", ")]).values()
  },
  body
})

const inPieces = () => Readable.from([Buffer.from(text.slice(0, 5)), Buffer.from(text.slice(5))])

const bufferOf = async () => new TextEncoder().encode(text).buffer

const shapes: ReadonlyArray<readonly [string, () => object]> = [
  ["a frozen Response", () => Object.freeze(Response.json(found))],
  ["a Response in a Proxy", () => proxied(Response.json(found))],
  ["a response of node-fetch", () => nodeFetched(inPieces())],
  [
    "a response whose body is an async iterable of strings",
    () => ({ status: 200, headers: new Map(), body: inPieces() })
  ],
  ["a response of another realm", () =>
    runInNewContext(
      `({ status: 200, headers: new Map([["x-a", "1"]]), body: { async *[Symbol.asyncIterator]() { yield new Uint8Array(bytes) } } })`,
      { bytes: [...Buffer.from(text)] }
    )],
  ["a response with arrayBuffer alone", () => ({ status: 200, headers: new Headers(), arrayBuffer: bufferOf })]
]

describe("custom fetch that resolves with", () => {
  it.each(shapes)("%s: a search gets its payload", async (_, response) => {
    await using client = resolvingWith(response)
    await expect(client.search("oats")).resolves.toEqual(found)
  })

  it.each<readonly [string, () => unknown]>([
    ["nothing", () => undefined],
    ["a mock without a status", () => ({ ok: true, json: async () => found })],
    ["a mock without a body", () => ({ status: 200, headers: new Headers() })],
    ["a Response whose body was already read", async () => {
      const used = Response.json(found)
      await used.text()
      return used
    }]
  ])("%s: a search fails with a message about the fetch function", async (_, response) => {
    await using client = resolvingWith(response)
    const message = expect.stringContaining("fetch returned a response that can't be read")
    const error = { _tag: "TransportError", code: "ERR_FETCH_RESPONSE", message }
    await expect(client.search("oats")).rejects.toMatchObject(error)
  })

  it("Response.error(): a search fails as without a connection", async () => {
    await using client = resolvingWith(() => Response.error())
    await expect(client.search("oats")).rejects.toMatchObject({ _tag: "TransportError", reason: "Connection" })
  })

  it("a type that the runtime doesn't implement: a search succeeds", async () => {
    const response = Object.defineProperty(new Response("{}"), "type", {
      get: () => {
        throw new Error("the property is not implemented")
      }
    })
    await using client = resolvingWith(() => response)
    await expect(client.search("oats")).resolves.toEqual({})
  })

  it("a body with status 205, which doesn't allow one: fetch resolves without the body", async () => {
    await using client = resolvingWith(() => Object.assign(nodeFetched(Readable.from([text])), { status: 205 }))
    await expect(client.fetch("/v2/session")).resolves.toMatchObject({ status: 205, body: null })
  })

  it.each([
    ["a Proxy", () => proxied(new Response("{}", { headers: [["set-cookie", "a=1"], ["set-cookie", "a=2"]] }))],
    ["node-fetch's headers", () => nodeFetched(Readable.from(["{}"]), { "set-cookie": ["a=1", "a=2"] })]
  ])("%s: set-cookie headers stay separate", async (_, response) => {
    await using client = resolvingWith(response)
    const { headers } = await client.fetch("/v2/session")
    expect(headers.getSetCookie()).toEqual(["a=1", "a=2"])
  })
})

it.each<readonly [string, (response: Response) => object]>([
  ["an error with the response, as ky does", (response) => Object.assign(new Error("error status"), { response })],
  ["an error with the response, as axios does", ({ headers, status }) => {
    const response = { headers: new Map(headers), status }
    return Object.assign(new Error("error status"), { code: "ERR_BAD_REQUEST", response })
  }],
  ["the response itself", (response) => response]
])("custom fetch that throws %s for an error status: the token is renewed, and Retry-After is kept", async (_, of) => {
  const statuses = [403, 503]
  const service = serviceOf((_, index) => {
    throw of(new Response("", { status: statuses[index] ?? 200, headers: { "retry-after": "7" } }))
  })
  await using client = clientOf(service)
  await expect(client.search("oats")).rejects.toMatchObject({ _tag: "ServerError", status: 503, retryAfter: 7 })
  expect(service.exchanges).toHaveLength(2)
})

describe("response body of a custom fetch", () => {
  it("a Node stream that is too large is destroyed, and its request aborted", async () => {
    const read = vi.fn(function(this: Readable) {
      this.push(new Uint8Array(1_000))
    })
    const body = new Readable({ read })
    await using client = resolvingWith(() => nodeFetched(body), { maxResponseBytes: 10_000 })
    await expect(client.search("oats")).rejects.toMatchObject({ reason: "TooLarge" })
    expect(read.mock.calls.length).toBeLessThan(100)
    expect(body.destroyed).toBe(true)
    expect(client.sent[0]?.init.signal?.aborted).toBe(true)
  })

  it.each([
    ["it stalls and the client closes", true],
    ["the fetch ignores its signal and delivers it after the client has closed", false]
  ])("a body is canceled if %s", async (_, isDelivered) => {
    const body = new PassThrough()
    let respond = () => {}
    const later = new Promise((resolve) => {
      respond = () => resolve(nodeFetched(body))
    })
    const client = resolvingWith(() => isDelivered ? nodeFetched(body) : later)
    const searched = client.search("oats").catch((error: unknown) => error)
    await vi.waitFor(() => expect(client.sent).toHaveLength(1))
    await client.close()
    expect(await searched).toMatchObject({ _tag: "TransportError" })
    respond()
    await vi.waitFor(() => expect(body.destroyed).toBe(true))
  })
})

it.each<readonly [string, Wrap]>([
  ["HttpClient.transform", HttpClient.transform((response) => response)],
  ["HttpClient.followRedirects", HttpClient.followRedirects()],
  ["HttpClient.retryTransient", HttpClient.retryTransient({ times: 1 })],
  ["HttpClient.filterStatusOk", HttpClient.filterStatusOk]
])("custom fetch: it is used below %s", async (_, wrap) => {
  const service = serviceOf()
  await using client = clientOf({ ...service, httpClient: wrapping(service.httpClient, wrap) })
  await client.search("oats")
  expect(service.sent.map(({ init }) => init.redirect)).toEqual(["manual"])
})

it("fetch: it gets each URL as a string, because many wrappers and mocks expect a string or a Request", async () => {
  const service = serviceOf()
  await using client = clientOf(service)
  await client.search("oats")
  const resources = [...service.exchanges, ...service.sent].map(({ resource }) => resource)
  expect(resources).toEqual([expect.stringContaining("/token-cache/"), expect.stringContaining("?term=oats")])
})

it("fetch: it is called only with options that Workers support", async () => {
  const service = serviceOf()
  await using advisor = clientOf(service)
  await advisor.search("oats")
  const known = new Set(["body", "headers", "method", "redirect", "signal"])
  for (const { init } of [...service.exchanges, ...service.sent]) {
    expect(init.redirect).toBe("manual")
    expect(Object.entries(init).filter(([name, value]) => value !== undefined && !known.has(name))).toEqual([])
  }
})
