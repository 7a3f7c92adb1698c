import { Headers, HttpClient, type HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, FastCheck, Fiber, Layer, Option, Redacted, Schedule, Schema } from "effect"
import { type NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import * as ResponseData from "../../src/internal/http/response.js"
import { testLive } from "../doubles/arranged.js"
import * as Issuer from "../doubles/IssuerDouble.js"
import { advisor, type HttpClientLayer, issuer, type Options, optionsFor } from "./hostile/advisor.js"
import { bodies, type Case, type Expected, headers, same } from "./hostile/cases.js"
import { type Client, clients, keepingClients, ourClients } from "./hostile/clients.js"
import { ending } from "./hostile/endings.js"
import { type HostileService, start } from "./hostile/HostileService.js"
import { measured } from "./hostile/memory.js"
import {
  answer,
  chunked,
  crumbs,
  cut,
  drip,
  dripChunks,
  flood,
  goodToken,
  gzipBomb,
  head,
  json,
  megabyte,
  nestedBomb,
  raw,
  type Reply,
  stall
} from "./hostile/replies.js"

interface Call {
  readonly layer: HttpClientLayer
  readonly reply: Reply
  readonly options?: Partial<Options>
}

interface Calling {
  readonly call: Effect.Effect<string>
  readonly service: HostileService
}

const shown = (value: unknown) => `answered ${JSON.stringify(value)}`

const advisorOver = (layer: HttpClientLayer, data: Reply, token = json(goodToken)) =>
  Effect.flatMap(start({ token, data }), ({ origin }) => advisor(layer, optionsFor(origin)))

const searching = ({ layer, options, reply }: Call) =>
  Effect.gen(function*() {
    const service = yield* start({ token: json(goodToken), data: reply })
    const { search } = yield* advisor(layer, optionsFor(service.origin, options))
    return { call: ending(search("oats"), shown), service } satisfies Calling
  })

const issuing = ({ layer, options, reply }: Call) =>
  Effect.gen(function*() {
    const service = yield* start({ token: reply, data: reply })
    const { issue } = yield* issuer(layer, optionsFor(service.origin, options))
    return {
      call: ending(issue(Issuer.missing), ({ value }) => `issued ${Redacted.value(value)}`),
      service
    } satisfies Calling
  })

const operations = [
  { operation: "search", calling: searching },
  { operation: "token", calling: issuing }
] as const

const expectedOf = (expected: Expected, { name }: Client): string =>
  typeof expected === "string" ? expected : new Map(Object.entries(expected)).get(name) ?? "an ending for each client"

const each = (cases: ReadonlyArray<Case>, client: Client) => {
  for (const { calling, operation } of operations) {
    for (const given of cases) {
      const expected = expectedOf(given[operation], client)
      testLive(`ends the ${operation} call as ${expected.slice(0, 40)}: ${given.name}`, function*() {
        const { call } = yield* calling({ layer: client.layer, reply: given.reply })
        expect(yield* call).toBe(expected)
        expect({}).not.toHaveProperty("polluted")
      })
    }
  }
}

describe.each(clients)("A body over $name", (client) => {
  each(bodies, client)
})

describe.each(clients)("Headers over $name", (client) => {
  each(headers, client)
})

const depth = 100_000

const nested = "[".repeat(depth) + "]".repeat(depth)

const belowTheTokenLimit = nested.slice(depth - 15_000, depth + 15_000)

interface Tree extends ReadonlyArray<Tree> {}

const Tree: Schema.Schema<Tree> = Schema.Array(Schema.suspend(() => Tree))

const depthOf = (value: unknown) => {
  let level = 0
  for (let inner = value; Array.isArray(inner); inner = inner[0]) level += 1
  return level
}

describe.each(clients)("A body of 100,000 brackets over $name", ({ layer }) => {
  testLive("is answered by search as it is", function*() {
    const { search } = yield* advisorOver(layer, json(nested))
    expect(depthOf(yield* search("oats"))).toBe(depth)
  })

  testLive("is no defect of searchAs with a schema that follows every bracket", function*() {
    const { searchAs } = yield* advisorOver(layer, json(nested))
    expect(yield* ending(searchAs(Tree)("oats"), () => "answered")).toMatch(
      /^(answered|UnexpectedResponse Schema 200)$/
    )
  })

  testLive.each<readonly [name: string, body: string]>([
    ["customer_id", `{"access_token":"a","expires_in":9,"customer_id":${belowTheTokenLimit}}`],
    ["scope", `{"access_token":"a","expires_in":9,"scope":${belowTheTokenLimit}}`],
    ["an unknown field of no token", `{"access_token":1,"expires_in":9,"x":${belowTheTokenLimit}}`]
  ])("ends the token call as Schema where 15,000 of them are in %s", function*([, body]) {
    const { call } = yield* issuing({ layer, reply: json(body) })
    expect(yield* call).toBe("UnexpectedResponse Schema 200")
  })

  testLive("ends the token call as TooLarge", function*() {
    const { call } = yield* issuing({ layer, reply: json(nested) })
    expect(yield* call).toBe("UnexpectedResponse TooLarge 200")
  })
})

const tooLarge = "UnexpectedResponse TooLarge 200"

const limit = 16 * megabyte

const textOf = (bytes: number) => JSON.stringify("x".repeat(bytes - 2))

describe.each(clients)("The limit of 16 MiB over $name", ({ layer }) => {
  testLive.each<readonly [string, Reply, string]>([
    ["lets a body of just 16 MiB pass with its length", json(textOf(limit)), `${limit - 2} characters`],
    ["lets a body of just 16 MiB pass in chunks", chunked(textOf(limit)), `${limit - 2} characters`],
    ["refuses a body of one byte more with its length", json(textOf(limit + 1)), tooLarge],
    ["refuses a body of one byte more in chunks", chunked(textOf(limit + 1)), tooLarge]
  ])("%s", function*([_, reply, expected]) {
    const { search } = yield* advisorOver(layer, reply)
    expect(yield* ending(search("oats"), (value) => `${String(value).length} characters`)).toBe(expected)
  })
})

const notJson = "UnexpectedResponse NotJson 200"

const inflated = { undici: notJson, "node:http": notJson, fetch: tooLarge, UndiciClient: notJson }

const fifty = 50 * megabyte

const floods: ReadonlyArray<Case> = [
  same("50 MB with a length", flood(fifty, { "content-length": fifty }), tooLarge),
  same("50 MB in chunks", flood(fifty), tooLarge),
  same("an endless body", flood(Infinity), tooLarge),
  same("an endless body of a 400", flood(Infinity, { "content-type": "text/plain" }, 400), "BadRequest 400"),
  same(
    "an endless body of a 403",
    flood(Infinity, {}, 403),
    "Forbidden TokenUnchanged 403",
    "Forbidden KeyRejected 403"
  ),
  same("an endless body of a 500", flood(Infinity, {}, 500), "ServerError 500"),
  same("a megabyte that inflates to a gigabyte", gzipBomb, inflated, tooLarge),
  same("a bomb in a bomb", nestedBomb, inflated)
]

/** What each case costs a client in a process of its own, and how it ended. */
const costOf = (cases: ReadonlyArray<Case>, client: Client, rounds: number) =>
  Effect.gen(function*() {
    const routed: Reply = (response) => {
      const [, index, kind] = (response.req.url ?? "").split("/")
      const isHostile = response.req.method === "GET" || kind === "token"
      const reply = index === "good" || !isHostile ? json(goodToken) : cases[Number(index)]?.reply
      reply?.(response)
    }
    const { origin } = yield* start({ token: routed, data: routed })
    const { endings, growthInMegabytes } = yield* measured({
      client: client.name,
      goodOrigin: `${origin}/good`,
      baseUrls: cases.map((_, index) => `${origin}/${index}`),
      rounds
    })
    expect(endings).toEqual(
      Array.from({ length: rounds }, () => cases).flatMap((round) =>
        round.map(({ search, token }, index) => ({
          baseUrl: `${origin}/${index}`,
          search: expectedOf(search, client),
          token: expectedOf(token, client)
        }))
      )
    )
    return growthInMegabytes
  })

describe.concurrent.each(clients)("A flood over $name", (client) => {
  testLive("ends every call as typed and costs less than 64 MB of resident memory", function*() {
    expect(yield* costOf(floods, client, 2)).toBeLessThan(64)
  })
})

const belowTheLimit = 15 * megabyte

const crumbled: ReadonlyArray<Case> = [
  same("15 MiB in chunks of 1 byte", crumbs(belowTheLimit, 1), notJson, tooLarge),
  same("15 MiB in chunks of 16 bytes", crumbs(belowTheLimit, 16), notJson, tooLarge),
  same("15 MiB in chunks of 4,097 bytes", crumbs(belowTheLimit, 4097), notJson, tooLarge),
  same("an endless error in chunks of 1 byte", crumbs(Infinity, 1, {}, 500), "ServerError 500")
]

describe.concurrent.each(ourClients)("Bodies in small chunks over $name", (client) => {
  testLive("cost less than a small multiple of the limit of 16 MiB", function*() {
    expect(yield* costOf(crumbled, client, 1)).toBeLessThan(8 * 16)
  })
})

/** A reply that counts the answers which hold a socket. */
const counting = (reply: Reply) => {
  const sockets = { held: 0 }
  const counted: Reply = (response) => {
    sockets.held += 1
    response.once("close", () => {
      sockets.held -= 1
    })
    reply(response)
  }
  const becomes = (held: number) =>
    Effect.repeat(Effect.sync(() => sockets.held), {
      until: (now) => now === held,
      schedule: Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(1_000))
    }).pipe(Effect.zipRight(Effect.sync(() => sockets.held === held)))
  return { counted, freed: becomes(0), held: becomes(1) }
}

const slow: ReadonlyArray<readonly [name: string, reply: Reply]> = [
  ["a body of one byte a second with a length", drip(head("content-type: application/json", "content-length: 60"))],
  ["a body of one byte a second in chunks", dripChunks],
  ["a body of one byte a second until the connection ends", drip(head("connection: close"))],
  ["an error body of one byte a second", drip("HTTP/1.1 500 Oops\r\ncontent-length: 60\r\n\r\n")],
  ["a packed body of one byte a second", drip(head("content-encoding: gzip", "content-length: 60"))],
  ["headers of one byte a second", drip("HTTP/1.1 200 OK\r\nx-slow: ")],
  ["no answer at all", () => {}],
  ["nothing after 103 Early Hints", stall("HTTP/1.1 103 Early Hints\r\n\r\n")]
]

const patience = Duration.millis(1_500)

describe.concurrent.each(clients)("A slow service over $name", ({ layer }) => {
  it.scopedLive.each(slow)(
    "is Timeout to either call when the time is up, and its socket is freed: %s",
    ([, reply]) =>
      Effect.forEach(operations, ({ calling }) =>
        Effect.gen(function*() {
          const { counted, freed } = counting(reply)
          const { call } = yield* calling({
            layer,
            reply: counted,
            options: { requestTimeout: patience, tokenTimeout: patience }
          })
          const [took, ended] = yield* Effect.timed(call)
          expect(ended).toBe("TransportError Timeout")
          expect(Duration.toMillis(took)).toBeGreaterThanOrEqual(1_400)
          expect(yield* freed).toBe(true)
        }), { concurrency: "unbounded" })
  )

  it.scopedLive("is left by a caller that is interrupted, though it goes on for ever, and its socket is freed", () =>
    Effect.forEach(operations, ({ calling }) =>
      Effect.gen(function*() {
        const { counted, freed, held } = counting(dripChunks)
        const { call } = yield* calling({ layer, reply: counted })
        const fiber = yield* Effect.fork(call)
        yield* held
        yield* Effect.sleep("200 millis")
        yield* Fiber.interrupt(fiber)
        expect(yield* freed).toBe(true)
      }), { concurrency: "unbounded" }))
})

const endless: ReadonlyArray<readonly [name: string, reply: Reply]> = [
  ["a body above the limit", flood(Infinity)],
  ["an endless body of a 500", flood(Infinity, {}, 500)],
  ["a body cut in the middle", cut(head("content-length: 1000"), "{")]
]

describe.each(keepingClients)("Connections over $name", ({ layer }) => {
  describe.each(operations)("of the $operation call", ({ calling }) => {
    testLive.each(endless)("are at most 4 at a time in 20 failures in a row: %s", function*([, reply]) {
      const { call, service } = yield* calling({ layer, reply, options: { maxResponseBytes: megabyte } })
      const most = yield* Effect.replicateEffect(
        Effect.zipRight(call, Effect.map(service.connections, ({ open }) => open)),
        20
      )
      expect(Math.max(...most)).toBeLessThanOrEqual(4)
    })
  })
})

const failures: ReadonlyArray<readonly [name: string, reply: Reply]> = [
  ["a 400 with a body", json("{\"error\":\"no\"}", {}, 400)],
  ["a 403 with a body", json("{\"error\":\"no\"}", {}, 403)],
  ["a 404 with a page of 40,000 characters", answer("x".repeat(40_000), {}, 404)],
  ["a 429 in chunks", chunked("later", { "retry-after": "1" }, 429)],
  ["a 500 with a body", json("{\"error\":\"no\"}", {}, 500)],
  ["a redirect with a body", answer("moved", { location: "/elsewhere" }, 302)],
  ["a page of HTML in chunks", chunked("<!doctype html>", { "content-type": "text/html" })]
]

describe.each(keepingClients)("Failures one after another over $name", ({ layer }) => {
  describe.each(operations)("of the $operation call", ({ calling }) => {
    testLive.each(failures)("use at most 4 connections for 200 times %s", function*([, reply]) {
      const { call, service } = yield* calling({ layer, reply })
      yield* Effect.repeatN(call, 199)
      expect((yield* service.connections).opened).toBeLessThanOrEqual(4)
    })
  })
})

const finalStatuses = Array.from({ length: 400 }, (_, index) => 200 + index)

const withoutBody = new Set([204, 205, 304])

/** Any refusal ends as `statusError` says, over every client. The fetch standard makes a network error of every 407. */
const endingOf = (operation: "search" | "token", status: number, client: string) => {
  if (status === 407 && client === "fetch") return "TransportError Connection"
  if (status === 204 || status === 205) return `UnexpectedResponse NotJson ${status}`
  if (status < 300) return operation === "search" ? "answered {}" : `UnexpectedResponse Schema ${status}`
  if (status === 401 || status === 403) return "Forbidden"
  return Effect.runSync(
    ending(ResponseData.statusError({ status, headers: {}, body: new Uint8Array() }, operation), String)
  )
}

const lineOf = (status: number, ...headers: ReadonlyArray<string>) =>
  `${[`HTTP/1.1 ${status} Whatever`, ...headers].join("\r\n")}\r\n\r\n`

const informational = Array.from({ length: 100 }, (_, index) => 100 + index)

describe.each(clients)("Statuses over $name", ({ layer, name }) => {
  describe.each(operations)("of the $operation call", ({ calling, operation }) => {
    const endingsFor = (statuses: ReadonlyArray<number>, replyTo: (status: number) => Reply) =>
      Effect.gen(function*() {
        const asked = [...statuses]
        const reply: Reply = (response) => replyTo(asked[0] ?? 0)(response)
        const { call } = yield* calling({ layer, reply })
        return yield* Effect.forEach(statuses, (status) =>
          Effect.map(call, (ended) => {
            asked.shift()
            return `${status} ${ended.startsWith("Forbidden") ? "Forbidden" : ended}`
          }))
      })

    testLive(
      "from 200 to 599 come out as the error that their status says, or as the answer, but for the 407 that fetch calls a network error",
      function*() {
        expect(
          yield* endingsFor(finalStatuses, (status) =>
            withoutBody.has(status)
              ? (response) => response.writeHead(status).end()
              : json("{}", {}, status))
        ).toEqual(
          finalStatuses.map((status) => `${status} ${endingOf(operation, status, name)}`)
        )
      }
    )

    testLive(
      "from 100 to 199 are passed over for the answer that follows or end as TransportError, but for the 101 that node:http hands on as Status",
      function*() {
        const endings = yield* endingsFor(
          informational,
          (status) => raw(lineOf(status), head("content-length: 2", "connection: close"), "{}")
        )
        const allowed = [endingOf(operation, 200, name), "TransportError Aborted", "TransportError Connection"]
        const others = endings.filter((ended) => !allowed.includes(ended.slice(4)))
        expect(others).toEqual(name === "node:http" ? ["101 UnexpectedResponse Status 101"] : [])
        expect(endings).toContain(`103 ${endingOf(operation, 200, name)}`)
      }
    )

    testLive("of 600 and more, below 100 or of no three digits end as typed", function*() {
      const endings = yield* endingsFor(
        [600, 999, 1000, 99, 0, -1],
        (status) => raw(lineOf(status, "content-length: 2"), "{}")
      )
      expect(endings.filter((ended) => !/ (TransportError|UnexpectedResponse Status)/.test(ended))).toEqual([])
    })
  })
})

describe.each(clients)("The authorized client over $name", ({ layer }) => {
  const given = [...bodies, ...headers].map(({ name, reply }) => [name, reply] as const)

  testLive.each(given)("hands out a response or fails as typed: %s", function*([, reply]) {
    const { httpClient } = yield* advisorOver(layer, reply)
    const ended = yield* ending(httpClient.get("/v2/x"), ({ status }) => `answered with ${status}`)
    expect(ended).toMatch(/^(answered with 20[045]|TransportError (Aborted|Connection))$/)
  })
})

interface Sent {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly breaks: boolean
}

const bodyOf = ({ body, breaks }: Sent) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(body)
      if (!breaks) controller.close()
    },
    pull: (controller) => controller.error(new Error("cut"))
  })

/** A response with any status and any headers: a Response of the platform would refuse some of them. */
const responseOf = (request: HttpClientRequest.HttpClientRequest, sent: Sent) =>
  Object.defineProperties(HttpClientResponse.fromWeb(request, new Response(bodyOf(sent))), {
    status: { value: sent.status },
    headers: { value: Headers.fromInput(sent.headers) }
  })

const goodExchange: Sent = {
  status: 200,
  headers: {},
  body: new TextEncoder().encode(goodToken),
  breaks: false
}

/** A client in memory whose answers are set before each call. */
const doubleOf = () => {
  const answers = { token: goodExchange, data: goodExchange }
  const layer = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.sync(() => responseOf(request, request.method === "POST" ? answers.token : answers.data))
    )
  )
  return { answers, layer, options: optionsFor("https://advisor.example") }
}

const bytes = (text: string) => new TextEncoder().encode(text)

const tokenLike = FastCheck.record({
  access_token: FastCheck.oneof(FastCheck.string(), FastCheck.jsonValue()),
  expires_in: FastCheck.oneof(FastCheck.double(), FastCheck.nat(), FastCheck.string()),
  customer_id: FastCheck.oneof(FastCheck.uuid(), FastCheck.jsonValue()),
  token_type: FastCheck.oneof(FastCheck.constantFrom("Bearer", "bearer", "Basic"), FastCheck.jsonValue()),
  scope: FastCheck.oneof(FastCheck.string(), FastCheck.jsonValue())
}, { requiredKeys: [] })

const texts = FastCheck.oneof(
  FastCheck.jsonValue().map((value) => JSON.stringify(value)),
  tokenLike.map((value) => JSON.stringify(value)),
  FastCheck.string({ unit: "binary" })
)

const values = FastCheck.oneof(
  FastCheck.string(),
  FastCheck.string({ unit: "binary" }),
  FastCheck.nat().map(String),
  FastCheck.constantFrom("application/json", "text/plain", "gzip", "Thu, 01 Jan 2026 12:00:00 GMT", "")
)

const names = FastCheck.oneof(
  FastCheck.constantFrom(
    "retry-after",
    "content-type",
    "content-length",
    "content-encoding",
    "location",
    "set-cookie",
    "__proto__",
    "constructor"
  ),
  FastCheck.stringMatching(/^[a-z-]{1,12}$/)
)

const sent: FastCheck.Arbitrary<Sent> = FastCheck.record({
  status: FastCheck.oneof(
    FastCheck.integer({ min: 200, max: 599 }),
    FastCheck.constantFrom(200, 204, 205, 400, 401, 403, 429, 503)
  ),
  headers: FastCheck.dictionary(names, values, { maxKeys: 6 }),
  body: FastCheck.oneof(texts.map(bytes), FastCheck.uint8Array({ maxLength: 200 })),
  breaks: FastCheck.integer({ min: 0, max: 9 }).map((dice) => dice === 0)
})

/** Of what a service can cause. */
const tags = NutritionAdvisorError.errors.map(({ _tag }) => _tag).filter((tag) => tag !== "LicenseKeyUnavailable")

/** The value, if there is one; else there is one typed failure, whose status is the one that was sent. */
const valueOf = <A>(exit: Exit.Exit<A, NutritionAdvisorError.NutritionAdvisorError>, { status }: Sent) => {
  if (Exit.isSuccess(exit)) return Option.some(exit.value)
  const { cause } = exit
  const failure = Cause.isDie(cause) ? Option.none() : Cause.failureOption(cause)
  expect(Option.isSome(failure) ? failure.value._tag : Cause.pretty(cause)).toBeOneOf(tags)
  if (Option.isSome(failure) && "status" in failure.value) expect(failure.value.status).toBe(status)
  return Option.none()
}

/** 2,000 runs of one property with one service, so that what one answer leaves behind meets the next. */
const always = (check: (sent: Sent) => Effect.Effect<void>) =>
  Effect.promise(() =>
    FastCheck.assert(
      FastCheck.asyncProperty(sent, (given) => Effect.runPromise(check(given))),
      { numRuns: 2_000 }
    )
  )

const Foods = Schema.Struct({ foods: Schema.Array(Schema.Unknown) })

const exchanging = Effect.gen(function*() {
  const { answers, layer, options } = doubleOf()
  const { issue } = yield* issuer(layer, options)
  return (token: Sent) => {
    answers.token = token
    return Effect.exit(issue(Issuer.missing))
  }
})

const asking = <A>(
  use: (service: NutritionAdvisor.Service) => Effect.Effect<A, NutritionAdvisorError.NutritionAdvisorError>
) =>
  Effect.gen(function*() {
    const { answers, layer, options } = doubleOf()
    const service = yield* advisor(layer, options)
    return (data: Sent) => {
      answers.data = data
      return Effect.exit(use(service))
    }
  })

describe("Whatever status, headers and body a service sends", () => {
  testLive("search ends in the JSON that was sent or in a typed error", function*() {
    const ask = yield* asking(({ search }) => search("oats"))
    yield* always((data) =>
      Effect.map(ask(data), (exit) => {
        const value = valueOf(exit, data)
        if (Option.isSome(value)) expect(value.value).toEqual(JSON.parse(new TextDecoder().decode(data.body)))
      })
    )
  })

  testLive("searchAs ends in a value of its schema or in a typed error", function*() {
    const ask = yield* asking(({ searchAs }) => searchAs(Foods)("oats"))
    yield* always((data) =>
      Effect.map(ask(data), (exit) => {
        const value = valueOf(exit, data)
        if (Option.isSome(value)) expect(Schema.is(Foods)(value.value)).toBe(true)
      })
    )
  })

  testLive("httpClient ends in a response with the status and body that were sent or in a typed error", function*() {
    const ask = yield* asking(({ httpClient }) =>
      Effect.flatMap(httpClient.get("/v2/x"), (response) =>
        Effect.map(Effect.orDie(response.arrayBuffer), (body) => ({
          status: response.status,
          body: new Uint8Array(body)
        })))
    )
    yield* always((data) =>
      Effect.map(ask(data), (exit) => {
        const value = valueOf(exit, data)
        const body = data.status === 204 || data.status === 205 ? new Uint8Array() : data.body
        if (Option.isSome(value)) {
          expect(value.value).toEqual({ status: data.status, body })
        }
      })
    )
  })

  testLive("the token call ends in a token that a header can carry or in a typed error", function*() {
    const exchange = yield* exchanging
    yield* always((token) =>
      Effect.map(exchange(token), (exit) => {
        const value = valueOf(exit, token)
        if (Option.isSome(value)) expect(Redacted.value(value.value.value)).toMatch(/^[\x21-\x7e]+$/)
      })
    )
  })
})
