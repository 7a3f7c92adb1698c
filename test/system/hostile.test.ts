/** On a hostile network each call ends with a typed result, in limited time and memory, and leaves no connection open. */
import type { OutgoingHttpHeaders } from "node:http"
import { gzipSync } from "node:zlib"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Layer, Option, Redacted } from "effect"
import { type NutritionAdvisor, type NutritionAdvisorError, TokenIssuer } from "effect-nutrition-advisor"
import { testLive } from "../support/doubles/arranged.js"
import { describeExit } from "../support/doubles/describeExit.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { advisorOver, type HttpClientLayer, settings } from "../support/doubles/simulatedAdvisor.js"
import { eventually, type Handler, replying, serveAdvisor, tokenBody } from "../support/doubles/Wire.js"
import { type Client, clients, wrapped } from "../support/leaks/clients.js"

/** How an effect ended, in words: its value, or how it failed, with the status of its error. */
const ending = <A>(effect: Effect.Effect<A, NutritionAdvisorError.NutritionAdvisorError>, show: (value: A) => string) =>
  Effect.map(Effect.exit(effect), (exit) => {
    if (Exit.isSuccess(exit)) return show(exit.value)
    const error = Option.getOrUndefined(Cause.failureOption(exit.cause))
    const status = error !== undefined && "status" in error ? error.status ?? [] : []
    return [describeExit(exit), status].flat().join(" ")
  })

interface Call {
  readonly layer: HttpClientLayer
  readonly reply: Handler
  readonly options?: Partial<NutritionAdvisor.Options>
}

const searching = ({ layer, options, reply }: Call) =>
  Effect.gen(function*() {
    const service = yield* serveAdvisor({ data: reply })
    const { search } = yield* advisorOver(layer, { baseUrl: service.origin, ...options })
    return { call: ending(search("oats"), (value) => `found ${JSON.stringify(value)}`), service }
  })

const issuing = ({ layer, options, reply }: Call) =>
  Effect.gen(function*() {
    const service = yield* serveAdvisor({ token: reply })
    const issuer = TokenIssuer.layer({ ...settings, baseUrl: service.origin, ...options })
    const { issue } = Context.get(yield* Layer.build(Layer.provide(issuer, layer)), TokenIssuer.TokenIssuer)
    return { call: ending(issue(Issuer.missing), ({ value }) => `issued ${Redacted.value(value)}`), service }
  })

const operations = [
  { operation: "search", calling: searching },
  { operation: "token", calling: issuing }
] as const

type Bytes = string | Uint8Array

const megabyte = 1024 * 1024

/** A complete response in chunks. */
const chunked = (body: Bytes, headers: OutgoingHttpHeaders = {}, status = 200): Handler => (_, response) => {
  response.writeHead(status, headers).write(body)
  response.end()
}

/** Bytes as they are, after which the server closes its side. */
const raw = (...parts: ReadonlyArray<Bytes>): Handler => (_, { socket }) => {
  socket?.end(Buffer.concat(parts.map((part) => Buffer.from(part))))
}

const head = (...headers: ReadonlyArray<string>) => `${["HTTP/1.1 200 OK", ...headers].join("\r\n")}\r\n\r\n`

/** The head of an error, whose body would have 1,000 bytes. */
const unfinished = (status: number) => `HTTP/1.1 ${status} No\r\nretry-after: 7\r\ncontent-length: 1000\r\n\r\n`

/** Bytes as they are, after which the server breaks the connection. */
const cut = (...parts: ReadonlyArray<Bytes>): Handler => (_, { socket }) => {
  socket?.write(Buffer.concat(parts.map((part) => Buffer.from(part))), () => socket.resetAndDestroy())
}

const block = Buffer.alloc(64 * 1024, " ")

/** An endless body, no faster than it is read. `poured` gets the number of bytes of each block. */
const flood =
  (headers: OutgoingHttpHeaders = {}, status = 200, poured = (_: number) => {}): Handler => (_, response) => {
    response.writeHead(status, headers)
    const pour = () => {
      while (!response.destroyed) {
        poured(block.length)
        if (!response.write(block)) {
          response.once("drain", pour)
          return
        }
      }
    }
    pour()
  }

/** First the given bytes, then one a second. */
const drip = (...parts: ReadonlyArray<Bytes>): Handler => (_, { socket }) => {
  if (socket === null) return
  socket.write(Buffer.concat(parts.map((part) => Buffer.from(part))))
  const timer = setInterval(() => socket.write("x"), 1_000)
  socket.once("close", () => clearInterval(timer))
}

/** One byte a second in a chunk of its own. */
const dripChunks: Handler = (_, response) => {
  response.writeHead(200, { "content-type": "application/json" }).write(" ")
  const timer = setInterval(() => response.write(" "), 1_000)
  response.once("close", () => clearInterval(timer))
}

/** A megabyte and a bit on the wire that inflates to a gigabyte. */
const bomb = Buffer.concat(Array.from({ length: 100 }, () => gzipSync(Buffer.alloc(10 * megabyte, " "))))

const gzipBomb: Handler = replying(bomb, { "content-encoding": "gzip" })

/** A response, and how each operation ends with it. */
interface Case {
  readonly name: string
  readonly reply: Handler
  readonly search: string
  readonly token: string
  /** How both operations end over fetch, if that differs from all other clients. */
  readonly overFetch?: string
}

const same = (name: string, reply: Handler, search: string, token = search): Case => ({ name, reply, search, token })

const schema = "UnexpectedResponse Schema 200"
const aborted = "TransportError Aborted"
const connection = "TransportError Connection"

const foods = "{\"foods\":[]}"

/** A response that a search accepts and an exchange does not. */
const good = (name: string, reply: Handler): Case => same(name, reply, `found ${foods}`, schema)

const earlyHints = "HTTP/1.1 103 Early Hints\r\n\r\n"

const isChunked = "transfer-encoding: chunked"

const bodies: ReadonlyArray<Case> = [
  same("no body, with 204", replying("", {}, 204), "UnexpectedResponse NotJson 204"),
  same(
    "no body, with 204 and the length of one",
    raw("HTTP/1.1 204 No Content\r\ncontent-length: 1000\r\n\r\n"),
    "UnexpectedResponse NotJson 204"
  ),
  same(
    "no body, with 304 and the length of the body that it stands for",
    raw("HTTP/1.1 304 Not Modified\r\ncontent-length: 1000\r\n\r\n"),
    "UnexpectedResponse Status 304"
  ),
  good("JSON with the content type HTML", replying(foods, { "content-type": "text/html" })),
  same("a body cut in the middle", cut(head("content-length: 1000"), foods), aborted),
  same("a body that ends before its length", raw(head("content-length: 1000"), foods), aborted),
  same("a chunk cut in the middle", cut(head(isChunked), "ff\r\n", foods), aborted),
  same("a chunk whose size is not a number", raw(head(isChunked), "zz\r\n", foods), aborted),
  same(
    "a rejection whose body is cut in the middle",
    cut(unfinished(401), foods),
    "Forbidden TokenUnchanged 401",
    "Forbidden KeyRejected 401"
  ),
  same(
    "an error with a plain body and the content encoding gzip",
    replying("no", { "content-encoding": "gzip" }, 400),
    "BadRequest 400"
  ),
  good(
    "a response after 103 Early Hints",
    raw(earlyHints, head(`content-length: ${foods.length}`), foods)
  ),
  good("a body that ends with the connection", raw(head("connection: close"), foods)),
  good(
    "a second response without a request",
    raw(head("content-length: 12"), foods, head("content-length: 2"), "[]")
  ),
  {
    ...good("a plain body with the content encoding gzip", replying(foods, { "content-encoding": "gzip" })),
    overFetch: aborted
  },
  same(
    "a token behind a __proto__ key",
    replying(`{"__proto__":${tokenBody}}`),
    `found {"__proto__":${tokenBody}}`,
    schema
  )
]

const long = "x".repeat(20_000)

const many = (count: number) => Array.from({ length: count }, (_, index) => `x-header-${index}: x`)

const length = `content-length: ${foods.length}`

const foodsWith = (...headers: ReadonlyArray<string>): Handler => raw(head(length, ...headers), foods)

const headers: ReadonlyArray<Case> = [
  same("one header of 20,000 characters", foodsWith(`x-long: ${long}`), connection),
  same("10,000 headers", foodsWith(...many(10_000)), connection),
  good("500 headers", foodsWith(...many(500))),
  same("two content-lengths that differ", foodsWith("content-length: 5"), connection),
  same("a content-length beside chunks", foodsWith(isChunked), connection),
  good("headers with the names of Object.prototype", foodsWith("__proto__: x", "constructor: x", "toString: x")),
  same("a NUL byte in a header", foodsWith("x-nul: a\0b"), connection),
  same("a NUL byte in a header after 103 Early Hints", raw(earlyHints, head("x-nul: a\0b")), connection),
  same("a greeting of a mail server", raw("220 mail.example ESMTP\r\n"), connection),
  same("a connection that ends immediately", raw(), aborted),
  same("a connection that breaks within the headers", cut("HTTP/1.1 200 OK\r\ncontent-le"), aborted),
  same("a redirect to itself", replying("", { location: "/" }, 302), "UnexpectedResponse Redirect 302"),
  same(
    "a redirect to an invalid URL",
    chunked("moved", { location: "http://[" }, 308),
    "UnexpectedResponse Redirect 308"
  )
]

describe.each([...clients, ...wrapped])("hostile service over $name", (client) => {
  describe.each(operations)("response to a $operation call", ({ calling, operation }) => {
    testLive.each([...bodies, ...headers].map((given) => [given.name, given] as const))(
      "%s: the call has the expected result",
      function*([, given]) {
        const { call } = yield* calling({ layer: client.layer, reply: given.reply })
        const expected = given[operation]
        expect(yield* call).toBe(client.name === "fetch" ? given.overFetch ?? expected : expected)
      }
    )

    testLive("each status from 200 to 599 has the expected result", function*() {
      let status = 200
      const withoutBody = new Set([204, 205, 304])
      const { call } = yield* calling({
        layer: client.layer,
        reply: (request, response) =>
          withoutBody.has(status)
            ? response.writeHead(status).end()
            : replying("{}", { "content-type": "application/json" }, status)(request, response)
      })
      const untyped: Array<string> = []
      for (; status < 600; status += 1) {
        const ended = yield* call
        const isRight = status < 300
          ? /^(found \{\}|UnexpectedResponse (NotJson|Schema) 2)/.test(ended)
          : ended.endsWith(` ${status}`) && !ended.startsWith("found")
        if (!isRight) untyped.push(`${status} ${ended}`)
      }
      expect(untyped).toEqual([])
    })
  })

  const limit = 16 * megabyte

  testLive.each<readonly [string, OutgoingHttpHeaders, number, string]>([
    ["in chunks", {}, 200, "UnexpectedResponse TooLarge 200"],
    ["with a length", { "content-length": 1e12 }, 200, "UnexpectedResponse TooLarge 200"],
    ["with status 400", { "content-type": "text/plain" }, 400, "BadRequest 400"],
    ["with status 500", {}, 500, "ServerError 500"]
  ])("an endless body is canceled soon after the limit: %s", function*([, headers, status, expected]) {
    let bytes = 0
    const reply = flood(headers, status, (more) => {
      bytes += more
    })
    const { call, service } = yield* searching({ layer: client.layer, reply })
    expect(yield* call).toBe(expected)
    yield* Effect.sleep("100 millis")
    expect(bytes).toBeLessThan(2 * limit)
    expect(service.connections.open).toBeLessThanOrEqual(2)
  })

  testLive("a megabyte that inflates to a gigabyte is rejected", function*() {
    const { call } = yield* searching({ layer: client.layer, reply: gzipBomb })
    expect(yield* call).toMatch(/^UnexpectedResponse (NotJson|TooLarge) 200$/)
  })
})

/** A reply that counts how many of its responses hold a socket. */
const counting = (reply: Handler) => {
  let held = 0
  const counted: Handler = (request, response) => {
    held += 1
    response.once("close", () => {
      held -= 1
    })
    reply(request, response)
  }
  return { counted, areClosed: eventually(() => held === 0) }
}

const slow: ReadonlyArray<readonly [name: string, reply: Handler]> = [
  ["a body of one byte a second", drip(head("content-type: application/json", "content-length: 60"))],
  ["chunks of one byte a second", dripChunks],
  ["headers of one byte a second", drip("HTTP/1.1 200 OK\r\nx-slow: ")],
  ["no response at all", () => {}]
]

const short = { requestTimeout: "500 millis", tokenTimeout: "500 millis" } as const

describe.concurrent.each(clients)("slow service over $name", ({ layer }) => {
  describe.each(operations)("$operation call", ({ calling }) => {
    testLive.each(slow)("the call fails with Timeout and closes its socket: %s", function*([, reply]) {
      const { areClosed, counted } = counting(reply)
      const { call } = yield* calling({ layer, reply: counted, options: short })
      expect(yield* call).toBe("TransportError Timeout")
      yield* areClosed
    })
  })
})

describe.each(clients)("error whose body never ends, over $name", ({ layer }) => {
  testLive("a search has the result of its status, with its Retry-After", function*() {
    const { areClosed, counted } = counting(drip(unfinished(503)))
    const { search } = yield* advisorOver(layer, {
      baseUrl: (yield* serveAdvisor({ data: counted })).origin,
      requestTimeout: short.requestTimeout
    })
    expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "ServerError", status: 503, retryAfter: 7 })
    yield* areClosed
  })
})

const failures: ReadonlyArray<readonly [name: string, reply: Handler]> = [
  ["a body above the limit", flood()],
  ["a body cut in the middle", cut(head("content-length: 1000"), "{")],
  ["a 404 with a page of 40,000 characters", replying("x".repeat(40_000), {}, 404)],
  ["a 429 in chunks", chunked("later", { "retry-after": "1" }, 429)],
  ["a redirect with a body", replying("moved", { location: "/elsewhere" }, 302)]
]

/** Clients that keep their connections: the platform's client on node:http opens one for each request. */
const keepingClients: ReadonlyArray<Client> = clients.map((client) =>
  client.name === "node:http"
    ? {
      name: "node:http with keep-alive",
      layer: Layer.provide(NodeHttpClient.layerWithoutAgent, NodeHttpClient.makeAgentLayer({ keepAlive: true }))
    }
    : client
)

describe.each(keepingClients)("20 failures in a row over $name", ({ layer }) => {
  describe.each(operations)("$operation call", ({ calling }) => {
    testLive.each(failures)("at most 4 connections are open: %s", function*([, reply]) {
      const { call, service } = yield* calling({ layer, reply, options: { maxResponseBytes: megabyte } })
      const open = yield* Effect.replicateEffect(Effect.map(call, () => service.connections.open), 20)
      expect(Math.max(...open)).toBeLessThanOrEqual(4)
    })
  })
})
