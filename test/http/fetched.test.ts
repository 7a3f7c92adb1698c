/** A custom fetch may resolve with an object of any class, which is not changed. */
import { PassThrough, Readable } from "node:stream"
import { runInNewContext } from "node:vm"
import { deflateSync, gzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import { createClient } from "effect-nutrition-advisor/promise"
import { vi } from "vitest"
import { json, serviceOf, settings } from "./fetchService.js"
import { proxied } from "./proxied.js"

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

class OwnResponse extends Response {}

const inPieces = () => Readable.from([Buffer.from(text.slice(0, 5)), Buffer.from(text.slice(5))])

const bufferOf = async () => new TextEncoder().encode(text).buffer

const shapes: ReadonlyArray<readonly [string, () => object]> = [
  ["a frozen Response", () => Object.freeze(json(found))],
  ["a Response in a Proxy", () => proxied(json(found))],
  ["a frozen Response in a Proxy", () => proxied(Object.freeze(json(found)))],
  ["a subclass of Response", () => new OwnResponse(text)],
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

/** A client over a fetch that resolves with anything for a data request, and what was sent. */
const clientOf = (response: () => unknown, options: { readonly maxResponseBytes?: number } = {}) => {
  const { httpClient, sent } = serviceOf(() => response() as Response)
  return Object.assign(createClient({ ...settings, httpClient, ...options }), { sent })
}

describe("custom fetch that resolves with", () => {
  it.each(shapes)("%s: a search gets its payload", async (_, response) => {
    await using client = clientOf(response)
    await expect(client.search("oats")).resolves.toEqual(found)
  })

  it("a Response: nothing is written onto it", async () => {
    const response = json(found)
    await using client = clientOf(() => response)
    await client.search("oats")
    expect(Object.getOwnPropertyNames(response)).toEqual([])
  })

  it.each<readonly [string, () => unknown]>([
    ["nothing", () => undefined],
    ["a mock without a status", () => ({ ok: true, json: async () => found })],
    ["a mock without a body", () => ({ status: 200, headers: new Headers() })]
  ])("%s: a search fails with a message about the fetch function", async (_, response) => {
    await using client = clientOf(response)
    const error = await client.search("oats").catch((error: unknown) => error)
    expect(error).toMatchObject({ _tag: "TransportError", code: "ERR_FETCH_RESPONSE" })
    expect(String(error)).toMatch(/The fetch function did not return a readable Response/)
  })

  it("a Response whose body was already read: a search fails with a message about the fetch function", async () => {
    const used = json(found)
    await used.text()
    await using client = clientOf(() => used)
    await expect(client.search("oats")).rejects.toMatchObject({ code: "ERR_FETCH_RESPONSE" })
  })

  it("a body with status 205, which doesn't allow one: fetch resolves without the body", async () => {
    await using client = clientOf(() => Object.assign(nodeFetched(Readable.from([text])), { status: 205 }))
    await expect(client.fetch("/v2/session")).resolves.toMatchObject({ status: 205, body: null })
  })

  it("a body that is still compressed, by gzip and deflate: its content-encoding is kept", async () => {
    const body = Readable.from([deflateSync(gzipSync(text))])
    await using client = clientOf(() => nodeFetched(body, { "content-encoding": ["gzip, deflate"] }))
    const { headers } = await client.fetch("/v2/session")
    expect(headers.get("content-encoding")).toBe("gzip, deflate")
  })

  it.each([
    ["a Proxy", () => proxied(new Response("{}", { headers: [["set-cookie", "a=1"], ["set-cookie", "a=2"]] }))],
    ["node-fetch's headers", () => nodeFetched(Readable.from(["{}"]), { "set-cookie": ["a=1", "a=2"] })]
  ])("%s: set-cookie headers stay separate", async (_, response) => {
    await using client = clientOf(response)
    const { headers } = await client.fetch("/v2/session")
    expect(headers.getSetCookie()).toEqual(["a=1", "a=2"])
  })
})

describe("response body of a custom fetch", () => {
  const endless = () => {
    let pulled = 0
    const cancel = vi.fn()
    const pull = () => {
      pulled += 1
      return new Uint8Array(1_000)
    }
    return { cancel, pull, pulled: () => pulled }
  }

  it("a web stream that is too large is canceled, and its request aborted", async () => {
    const { cancel, pull, pulled } = endless()
    await using client = clientOf(
      () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(pull()), cancel })),
      { maxResponseBytes: 10_000 }
    )
    await expect(client.search("oats")).rejects.toMatchObject({ reason: "TooLarge" })
    expect(pulled()).toBeLessThan(20)
    expect(cancel).toHaveBeenCalled()
    expect(client.sent[0]?.init.signal?.aborted).toBe(true)
  })

  it("a Node stream that is too large is destroyed, and its request aborted", async () => {
    const { pull, pulled } = endless()
    const body = new Readable({
      read() {
        this.push(pull())
      }
    })
    await using client = clientOf(() => nodeFetched(body), { maxResponseBytes: 10_000 })
    await expect(client.search("oats")).rejects.toMatchObject({ reason: "TooLarge" })
    expect([body.destroyed, pulled() < 100, client.sent[0]?.init.signal?.aborted]).toEqual([true, true, true])
  })

  it("a stalled body is canceled when the client closes", async () => {
    const body = new PassThrough()
    const client = clientOf(() => nodeFetched(body))
    const searched = client.search("oats").catch((error: unknown) => error)
    await vi.waitFor(() => expect(client.sent).toHaveLength(1))
    await client.close()
    expect(await searched).toMatchObject({ _tag: "TransportError" })
    await vi.waitFor(() => expect(body.destroyed).toBe(true))
  })

  it("a body that breaks off keeps the code of the connection error", async () => {
    const breaking = () =>
      new ReadableStream({ pull: (controller) => controller.error(Object.assign(new Error(), { code: "ECONNRESET" })) })
    await using client = clientOf(() => new Response(breaking()))
    await expect(client.search("oats")).rejects.toMatchObject({ reason: "Aborted", code: "ECONNRESET" })
  })
})

describe("content-encoding header", () => {
  const zipped = new Uint8Array(gzipSync(text))

  const look = async (coding: string, body: string | Uint8Array<ArrayBuffer>, init: RequestInit = {}) => {
    await using client = clientOf(() =>
      new Response(body, { headers: { "content-encoding": coding, "content-length": "9" } })
    )
    const { headers } = await client.fetch("/v2/plan", init)
    return [headers.get("content-encoding"), headers.get("content-length")]
  }

  it.each(["gzip", "br, gzip", "GZIP", " Deflate ,x-gzip", "zstd", "zstd, br", "gzip,gzip"])(
    "%j and content-length are dropped for a body that fetch has decoded",
    async (coding) => {
      expect(await look(coding, text)).toEqual([null, null])
    }
  )

  it.each(["br, gzip", "zstd, x-gzip", "GZIP", "identity, gzip", "aws-chunked"])(
    "%j and content-length are kept for a body that is still encoded",
    async (coding) => {
      expect(await look(coding, zipped)).toEqual([coding, "9"])
    }
  )

  it("\"zstd\" and content-length are kept for a body that is still encoded", async () => {
    expect(await look("zstd", new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 4, 0]))).toEqual(["zstd", "9"])
  })

  it("the header is kept on a response to HEAD", async () => {
    expect(await look("br, gzip", "", { method: "HEAD" })).toEqual(["br, gzip", "9"])
  })

  it("the header is dropped for an empty body that fetch has decoded", async () => {
    expect(await look("gzip", "")).toEqual([null, null])
  })
})
