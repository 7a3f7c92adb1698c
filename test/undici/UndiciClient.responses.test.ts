import { inspect } from "node:util"
import { gzipSync } from "node:zlib"
import { Cookies, HttpClient, type HttpClientError, type HttpClientResponse, UrlParams } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Chunk, Context, Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { type Answer, eventually, replying, serve, settled } from "../doubles/Wire.js"
import { advisor, ways } from "./ways.js"

type Response = HttpClientResponse.HttpClientResponse

type Failure = HttpClientError.ResponseError

const megabyte = 1024 * 1024

const answered = (answer: Answer, options?: UndiciClient.Options) =>
  Effect.gen(function*() {
    const wire = yield* serve(answer)
    const client = yield* UndiciClient.make(options)
    return { wire, client, response: yield* client.get(wire.origin) }
  })

const responseTo = (answer: Answer, options?: UndiciClient.Options) =>
  Effect.map(answered(answer, options), ({ response }) => response)

const bytesOf = (response: Response) =>
  Effect.map(Stream.runCollect(response.stream), (chunks) => Buffer.concat(Chunk.toArray(chunks)))

/** In three pieces that come one after another. */
const inPieces = (...pieces: ReadonlyArray<string | Uint8Array>): Answer => (_, response) => {
  response.writeHead(200, { "content-type": "text/plain" })
  pieces.forEach((piece, index) => setTimeout(() => response.write(piece), index * 20))
  setTimeout(() => response.end(), pieces.length * 20)
}

/** As many bytes as it says, no faster than they are taken. */
const flood = (bytes: number) => {
  const written = { bytes: 0 }
  const block = Buffer.alloc(64 * 1024, "x")
  const answer: Answer = (_, response) => {
    response.writeHead(200)
    const pour = () => {
      while (written.bytes < bytes) {
        if (response.destroyed) return
        written.bytes += block.length
        if (!response.write(block)) {
          response.once("drain", pour)
          return
        }
      }
      response.end()
    }
    pour()
  }
  return { written, answer }
}

describe("A response", () => {
  it.scopedLive("has the status of the answer", () =>
    Effect.gen(function*() {
      expect((yield* responseTo(replying("no tea", {}, 418))).status).toBe(418)
    }))

  it.scopedLive("has its headers in lower case, those of one name joined", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(replying("", { "X-One": "1", "x-many": ["a", "b"] }))
      expect(response.headers).toMatchObject({ "x-one": "1", "x-many": "a, b" })
    }))

  it.scopedLive("has each cookie", () =>
    Effect.gen(function*() {
      const { cookies } = yield* responseTo(replying("", { "set-cookie": ["a=1; Path=/", "b=2; HttpOnly"] }))
      expect(Cookies.toRecord(cookies)).toEqual({ a: "1", b: "2" })
      expect(Cookies.toSetCookieHeaders(cookies)).toEqual(["a=1; Path=/", "b=2; HttpOnly"])
    }))

  it.scopedLive("has one cookie where there is one, and none where there is none", () =>
    Effect.gen(function*() {
      const one = yield* responseTo(replying("", { "set-cookie": "a=1" }))
      const none = yield* responseTo(replying(""))
      expect([Cookies.toRecord(one.cookies), Cookies.toRecord(none.cookies)]).toEqual([{ a: "1" }, {}])
    }))

  it.scopedLive("keeps its request", () =>
    Effect.gen(function*() {
      const { response, wire } = yield* answered(replying(""))
      expect([response.request.method, response.request.url]).toEqual(["GET", wire.origin])
    }))

  it.scopedLive("knows no remote address", () =>
    Effect.gen(function*() {
      expect((yield* responseTo(replying(""))).remoteAddress).toEqual(Option.none())
    }))

  it.scopedLive("passes 103 Early Hints over for the answer that follows", () =>
    Effect.gen(function*() {
      const response = yield* responseTo((_, response) => {
        response.writeEarlyHints({ link: "</style.css>; rel=preload" }, () => response.end("{}"))
      })
      expect([response.status, yield* response.text]).toEqual([200, "{}"])
    }))
})

describe("The body of a response", () => {
  it.scopedLive("is read as text", () =>
    Effect.gen(function*() {
      expect(yield* (yield* responseTo(replying("hällo"))).text).toBe("hällo")
    }))

  it.scopedLive("is read as text where a character is cut between two pieces", () =>
    Effect.gen(function*() {
      const [one, two] = [Buffer.from("h\xe4llo").subarray(0, 2), Buffer.from("h\xe4llo").subarray(2)]
      expect(yield* (yield* responseTo(inPieces(one, two))).text).toBe("hällo")
    }))

  it.scopedLive("is read as JSON", () =>
    Effect.gen(function*() {
      expect(yield* (yield* responseTo(replying("{\"a\":[1]}"))).json).toEqual({ a: [1] })
    }))

  it.scopedLive("is null as JSON where it is empty", () =>
    Effect.gen(function*() {
      expect(yield* (yield* responseTo(replying(""))).json).toBe(null)
    }))

  it.scopedLive("is a ResponseError as JSON where it is none", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(replying("<html>"))
      expect(yield* Effect.flip(response.json)).toMatchObject({ _tag: "ResponseError", reason: "Decode" })
      expect(yield* response.text).toBe("<html>")
    }))

  it.scopedLive("is read as an ArrayBuffer of just its bytes", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(replying(new Uint8Array([0, 1, 2, 255])))
      expect([...new Uint8Array(yield* response.arrayBuffer)]).toEqual([0, 1, 2, 255])
    }))

  it.scopedLive("is read as UrlParams", () =>
    Effect.gen(function*() {
      const params = yield* (yield* responseTo(replying("a=1&b=2+3&a=4"))).urlParamsBody
      expect(params).toEqual(UrlParams.fromInput([["a", "1"], ["b", "2 3"], ["a", "4"]]))
    }))

  it.scopedLive("is read as FormData", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(
        replying("a=1&b=2", { "content-type": "application/x-www-form-urlencoded" })
      )
      expect([...(yield* response.formData)]).toEqual([["a", "1"], ["b", "2"]])
    }))

  it.scopedLive("is a ResponseError as FormData where it is none", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(replying("{}", { "content-type": "application/json" }))
      expect(yield* Effect.flip(response.formData)).toMatchObject({ _tag: "ResponseError", reason: "Decode" })
    }))

  it.scopedLive("is read as a stream", () =>
    Effect.gen(function*() {
      expect((yield* bytesOf(yield* responseTo(inPieces("a", "b", "c")))).toString()).toBe("abc")
    }))

  it.scopedLive("comes through a stream piece by piece", () =>
    Effect.gen(function*() {
      const pieces: Array<string> = []
      const more: Array<() => void> = []
      const response = yield* responseTo((_, response) => {
        response.write("a")
        more.push(() => response.end("b"))
      })
      yield* Stream.runForEach(response.stream, (piece) =>
        Effect.sync(() => {
          pieces.push(Buffer.from(piece).toString())
          more.shift()?.()
        }))
      expect(pieces).toEqual(["a", "b"])
    }))

  it.scopedLive.each([200, 204, 205, 304])(
    "is empty where there is none, with status %s",
    (status) =>
      Effect.gen(function*() {
        const response = yield* responseTo(replying("", {}, status))
        expect([response.status, yield* response.text, (yield* response.arrayBuffer).byteLength]).toEqual([
          status,
          "",
          0
        ])
        expect((yield* bytesOf(response)).length).toBe(0)
      })
  )

  it.scopedLive("is empty as the answer to HEAD, whatever its content-length says", () =>
    Effect.gen(function*() {
      const wire = yield* serve(replying("x".repeat(1_000), { "content-length": 1_000 }))
      const client = yield* UndiciClient.make({ maxResponseBytes: 10 })
      const response = yield* client.head(wire.origin)
      expect([response.headers["content-length"], yield* response.text]).toEqual(["1000", ""])
    }))

  it.scopedLive("is passed through as it is where it is packed", () =>
    Effect.gen(function*() {
      const packed = gzipSync("{\"a\":1}")
      const response = yield* responseTo(replying(packed, { "content-encoding": "gzip" }))
      expect(Buffer.from(yield* response.arrayBuffer)).toEqual(packed)
    }))

  it.scopedLive("loses a byte order mark as text", () =>
    Effect.gen(function*() {
      expect(yield* (yield* responseTo(replying("\ufeff{}"))).text).toBe("{}")
    }))

  it.scopedLive("is whole where the server closes the connection at its end", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(replying("{}", { connection: "close" }))
      expect(yield* response.text).toBe("{}")
    }))
})

const readers: ReadonlyArray<readonly [name: string, read: (response: Response) => Effect.Effect<unknown, Failure>]> = [
  ["text", (response) => response.text],
  ["json", (response) => response.json],
  ["arrayBuffer", (response) => Effect.map(response.arrayBuffer, (buffer) => Buffer.from(buffer).toString())],
  ["urlParamsBody", (response) => response.urlParamsBody],
  ["stream", (response) => Effect.map(bytesOf(response), String)]
]

const json = inPieces("{\"a\"", ":", "1}")

describe("A body that is read twice", () => {
  for (const [first, readFirst] of readers.slice(0, 4)) {
    for (const [second, readSecond] of readers) {
      it.scopedLive(`gives the same for ${second} after ${first} as without it`, () =>
        Effect.gen(function*() {
          const alone = yield* readSecond(yield* responseTo(json))
          const response = yield* responseTo(json)
          yield* readFirst(response)
          expect(yield* readSecond(response)).toEqual(alone)
        }))

      if (second === "stream") continue
      it.scopedLive(`gives both the same for ${first} and ${second} at once`, () =>
        Effect.gen(function*() {
          const alone = [yield* readFirst(yield* responseTo(json)), yield* readSecond(yield* responseTo(json))]
          const response = yield* responseTo(json)
          const both = Effect.all([readFirst(response), readSecond(response)], { concurrency: 2 })
          expect(yield* both).toEqual(alone)
        }))
    }
  }

  it.scopedLive("is no empty text after its stream was read to the end", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(json)
      yield* bytesOf(response)
      expect(yield* Effect.exit(response.text)).not.toEqual(Exit.succeed(""))
    }))

  it.scopedLive("is no empty stream after its stream was read to the end", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(json)
      yield* bytesOf(response)
      const again = yield* Effect.exit(bytesOf(response))
      expect(Exit.isSuccess(again) && again.value.length === 0).toBe(false)
    }))

  it.scopedLive("is a ResponseError after its stream was left in the middle", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(json)
      yield* Stream.runDrain(Stream.take(response.stream, 1))
      expect(yield* Effect.flip(response.text)).toMatchObject({ _tag: "ResponseError", reason: "Decode" })
    }))

  it.scopedLive("is not read by a look at the response before its end", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(json)
      inspect(response)
      JSON.stringify(response)
      yield* Effect.sleep("150 millis")
      expect(yield* response.text).toBe("{\"a\":1}")
    }))

  it.scopedLive("is whole where a look at the response meets its end", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(json)
      inspect(response)
      const texts = yield* Effect.all(Array.from({ length: 5 }, () => response.text), { concurrency: "unbounded" })
      expect(new Set(texts)).toEqual(new Set(["{\"a\":1}"]))
    }))
})

describe("A large body", () => {
  it.scopedLive("is held back while nobody reads it, and comes whole when it is read", () =>
    Effect.gen(function*() {
      const { answer, written } = flood(50 * megabyte)
      const response = yield* responseTo(answer, { maxResponseBytes: 64 * megabyte })
      expect(yield* settled(() => written.bytes)).toBeLessThan(25 * megabyte)
      expect((yield* response.arrayBuffer).byteLength).toBe(50 * megabyte)
    }), 60_000)

  it.scopedLive("is held back while its stream waits", () =>
    Effect.gen(function*() {
      const { answer, written } = flood(50 * megabyte)
      const response = yield* responseTo(answer, { maxResponseBytes: 64 * megabyte })
      let taken = 0
      yield* Stream.runForEach(response.stream, (piece) =>
        Effect.gen(function*() {
          if (taken === 0) expect(yield* settled(() => written.bytes)).toBeLessThan(25 * megabyte)
          taken += piece.length
        }))
      expect(taken).toBe(50 * megabyte)
    }), 60_000)

  it.scopedLive("comes in pieces that are no larger than what waits", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(flood(8 * megabyte).answer)
      let largest = 0
      yield* Stream.runForEach(response.stream, ({ length }) => Effect.sync(() => largest = Math.max(largest, length)))
      expect(largest).toBeLessThanOrEqual(256 * 1024)
    }))

  it.scopedLive("closes its connection where its stream is left in the middle", () =>
    Effect.gen(function*() {
      const { response, wire } = yield* answered(flood(50 * megabyte).answer)
      yield* Stream.runDrain(Stream.take(response.stream, 1))
      expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
    }))

  it.scopedLive("closes its connection where whoever reads it is interrupted", () =>
    Effect.gen(function*() {
      const { response, wire } = yield* answered((_, response) => response.write("{"))
      expect(Option.isNone(yield* Effect.timeoutOption(response.text, "100 millis"))).toBe(true)
      expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
    }))

  it.scopedLive("closes its connection where the scope of HttpClient.withScope ends", () =>
    Effect.gen(function*() {
      const wire = yield* serve(flood(50 * megabyte).answer)
      const client = HttpClient.withScope(yield* UndiciClient.make())
      const scope = yield* Scope.make()
      const response = yield* Scope.extend(client.get(wire.origin), scope)
      expect([response.status, wire.connections.open]).toEqual([200, 1])
      yield* Scope.close(scope, Exit.void)
      expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
    }))
})

const cuts: ReadonlyArray<readonly [name: string, answer: Answer]> = [
  ["with a length", (_, response) => {
    response.writeHead(200, { "content-length": 1_000 })
    response.write("{", () => setTimeout(() => response.socket?.resetAndDestroy(), 20))
  }],
  ["in chunks", (_, response) => {
    response.write("{", () => setTimeout(() => response.socket?.resetAndDestroy(), 20))
  }],
  ["by an end before its length", (_, { socket }) => {
    socket?.end("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{")
  }]
]

describe("A body that is cut in the middle", () => {
  for (const [how, answer] of cuts) {
    it.scopedLive.each(readers)(`is a ResponseError ${how} for %s`, ([, read]) =>
      Effect.gen(function*() {
        const response = yield* responseTo(answer)
        expect(yield* Effect.flip(read(response))).toMatchObject({
          _tag: "ResponseError",
          reason: "Decode",
          response: { status: 200 }
        })
      }))

    it.scopedLive.each(ways)(`is "Aborted" to a search ${how}, $name`, ({ through }) =>
      Effect.gen(function*() {
        const wire = yield* serve(answer)
        const { search } = yield* advisor(through(yield* UndiciClient.make()), wire.origin)
        expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "TransportError", reason: "Aborted" })
      }))
  }

  it.scopedLive("is a ResponseError however late it is read", () =>
    Effect.gen(function*() {
      const response = yield* responseTo(cuts[1]?.[1] ?? replying(""))
      yield* Effect.sleep("100 millis")
      expect(yield* Effect.flip(response.text)).toMatchObject({ _tag: "ResponseError" })
    }))
})

describe("maxResponseBytes", () => {
  const framings: ReadonlyArray<readonly [name: string, answer: (length: number) => Answer]> = [
    ["with a length", (length) => replying("1".repeat(length), { "content-length": length })],
    ["in chunks", (length) => replying("1".repeat(length), { "transfer-encoding": "chunked" })],
    ["in pieces", (length) => inPieces("1".repeat(10), "1".repeat(length - 10))]
  ]

  for (const [framing, answer] of framings) {
    it.scopedLive.each(readers)(`lets a body of its size pass ${framing}: %s`, ([, read]) =>
      Effect.gen(function*() {
        yield* read(yield* responseTo(answer(1_000), { maxResponseBytes: 1_000 }))
      }))

    it.scopedLive.each(readers)(
      `ends a body of one byte more in a ResponseError ${framing}: %s`,
      ([, read]) =>
        Effect.gen(function*() {
          const { response, wire } = yield* answered(answer(1_001), { maxResponseBytes: 1_000 })
          expect(yield* Effect.flip(read(response))).toMatchObject({
            _tag: "ResponseError",
            reason: "Decode",
            cause: { code: "UND_ERR_RES_EXCEEDED_MAX_SIZE" }
          })
          expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
        })
    )
  }

  it.scopedLive("bounds what a stream takes of an endless body", () =>
    Effect.gen(function*() {
      const { answer, written } = flood(Infinity)
      const response = yield* responseTo(answer, { maxResponseBytes: megabyte })
      let taken = 0
      yield* Effect.flip(
        Stream.runForEach(response.stream, ({ length }) => Effect.sync(() => taken += length))
      )
      expect(taken).toBeLessThanOrEqual(megabyte)
      expect(yield* settled(() => written.bytes)).toBeLessThan(25 * megabyte)
    }))

  const payload = JSON.stringify("x".repeat(500))

  it.scopedLive("of NutritionAdvisor rules its requests where that of the client is smaller", () =>
    Effect.gen(function*() {
      const wire = yield* serve(replying(payload))
      const client = yield* UndiciClient.make({ maxResponseBytes: 10 })
      const { httpClient, search } = yield* advisor(client, wire.origin, { maxResponseBytes: payload.length })
      expect(yield* search("oats")).toHaveLength(500)
      expect(yield* (yield* httpClient.get("/v2/x")).text).toBe(payload)
      expect(yield* Effect.flip((yield* client.get(wire.origin)).text)).toMatchObject({ _tag: "ResponseError" })
    }))

  it.scopedLive.each(ways)(
    "of NutritionAdvisor rules its requests where that of the client is larger, $name",
    ({ through }) =>
      Effect.gen(function*() {
        const wire = yield* serve(replying(payload))
        const client = through(yield* UndiciClient.make())
        const { httpClient, search } = yield* advisor(client, wire.origin, { maxResponseBytes: payload.length - 1 })
        const tooLarge = { _tag: "UnexpectedResponse", reason: "TooLarge", status: 200 }
        expect(yield* Effect.flip(search("oats"))).toMatchObject(tooLarge)
        expect(yield* Effect.flip(httpClient.get("/v2/x"))).toMatchObject(tooLarge)
      })
  )
})

describe("A response and an error", () => {
  const stock = Layer.build(NodeHttpClient.layerUndici).pipe(Effect.map(Context.get(HttpClient.HttpClient)))

  /** Without trace headers, which differ from request to request. */
  const clients = Effect.map(
    Effect.all([UndiciClient.make(), stock]),
    (all) => all.map((client) => HttpClient.withTracerPropagation(client, false))
  )

  const answer: Answer = (_, response) => {
    response.sendDate = false
    response.writeHead(200, { "content-type": "application/json", "x-many": ["a", "b"], authorization: "secret" })
    response.end("{\"a\":1}")
  }

  const shapes = (value: unknown) => [inspect(value, { depth: 10 }), JSON.stringify(value), String(value)]

  it.scopedLive("look as those of the stock client: a response that was read", () =>
    Effect.gen(function*() {
      const { origin } = yield* serve(answer)
      const [ours, theirs] = yield* Effect.forEach(yield* clients, (client) =>
        Effect.flatMap(client.get(origin), (response) => Effect.map(response.json, () => shapes(response))))
      expect(ours).toEqual(theirs)
    }))

  it.scopedLive("look as those of the stock client: a body that is no JSON", () =>
    Effect.gen(function*() {
      const { origin } = yield* serve(replying("<html>", { date: "now" }))
      const [ours, theirs] = yield* Effect.forEach(yield* clients, (client) =>
        Effect.map(
          Effect.flip(Effect.flatMap(client.get(origin), ({ json }) => json)),
          (error) => [error.message, error._tag, JSON.stringify(error)]
        ))
      expect(ours).toEqual(theirs)
    }))

  it.scopedLive("look as those of the stock client: a port where nothing listens", () =>
    Effect.gen(function*() {
      const { origin } = yield* Effect.scoped(serve(answer))
      const [ours, theirs] = yield* Effect.forEach(yield* clients, (client) =>
        Effect.map(Effect.flip(client.get(origin)), (error) => [error.message, error._tag, JSON.stringify(error)]))
      expect(ours).toEqual(theirs)
    }))

  it.scopedLive("look as those of the stock client: a request that HTTP does not allow", () =>
    Effect.gen(function*() {
      const { origin } = yield* serve(answer)
      const [ours, theirs] = yield* Effect.forEach(yield* clients, (client) =>
        Effect.map(
          Effect.flip(client.get(origin, { headers: { "x-bad": "a\nb" } })),
          (error) => [error.message, error._tag, JSON.stringify(error)]
        ))
      expect(ours).toEqual(theirs)
    }))

  it.scopedLive("look as those of the stock client: a URL that is none", () =>
    Effect.gen(function*() {
      const [ours, theirs] = yield* Effect.forEach(yield* clients, (client) =>
        Effect.map(Effect.flip(client.get("http://")), (error) => [error.message, error._tag, JSON.stringify(error)]))
      expect(ours).toEqual(theirs)
    }))
})
