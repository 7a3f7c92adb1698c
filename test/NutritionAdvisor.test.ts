import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import {
  Cause,
  ConfigProvider,
  Context,
  Effect,
  Exit,
  FastCheck,
  Fiber,
  Layer,
  Logger,
  Option,
  Redacted,
  Ref,
  Schema,
  type Scope,
  Stream
} from "effect"
import { AccessToken, NutritionAdvisor, NutritionAdvisorError, TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { version } from "../src/internal/version.js"
import { arranged, test as plainTest } from "./doubles/arranged.js"
import { untilHeldUp } from "./doubles/coolDown.js"
import { otherRefusals } from "./doubles/statuses.js"
import * as Time from "./doubles/Time.js"

const defaults: NutritionAdvisor.Options = {
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  refresh: { background: false }
}

const advisor = (options: Partial<NutritionAdvisor.Options> = {}, simulator: Simulator.Options = {}) =>
  NutritionAdvisor.layer({ ...defaults, ...options }).pipe(Layer.provideMerge(Simulator.layerHttpClient(simulator)))

const test = arranged(Effect.void, advisor())

const seen = (operation: Simulator.Operation) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    return (yield* simulator.requests).filter((request) => request.operation === operation)
  })

const counters = Effect.flatMap(Simulator.Simulator, (simulator) => simulator.counters)

const nothing: Simulator.Counters = {
  exchanges: 0,
  exchangesAtOnce: 0,
  rejections: 0,
  requests: 0,
  searches: 0,
  tokensIssued: 0
}

const respondNext = (operation: Simulator.Operation, ...answers: ReadonlyArray<Simulator.Answer>) =>
  Effect.flatMap(Simulator.Simulator, (simulator) => simulator.respondNext(operation, ...answers))

const respondAlways = (operation: Simulator.Operation, answer: Simulator.Answer) =>
  Effect.flatMap(Simulator.Simulator, (simulator) => simulator.respondAlways(operation, answer))

const execute = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.execute(request))

const plain = (secret: Option.Option<Redacted.Redacted<string>>) =>
  Option.getOrUndefined(Option.map(secret, Redacted.value))

const twoHeaders = ({ authorization, serviceId }: Simulator.SeenRequest) => [plain(authorization), plain(serviceId)]

/** A property of what the service sees. */
type Look = readonly [property: string, look: (request: Simulator.SeenRequest) => unknown, expected: unknown]

/** A property of what the service sees of a call that is given. */
type Sent<Call> = readonly [
  property: string,
  call: Call,
  look: (request: Simulator.SeenRequest) => unknown,
  expected: unknown
]

type Seen = readonly [Simulator.Operation, (request: Simulator.SeenRequest) => unknown, expected: unknown]

/** How a search ends that the service answers like this, and what it costs. */
type Ending = readonly [
  property: string,
  answers: ReadonlyArray<Simulator.Answer>,
  expected: object,
  costs: Partial<Simulator.Counters>
]

const settle = Time.settle("1 second")

/** The simulator's customer identifier. */
const usualId = "3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00"

const rejected: Simulator.Reply = { status: 403 }

const planRoutes: Simulator.Options = {
  routes: {
    "GET /v2/plan": () => ({ status: 200, body: { plan: "basic" } }),
    "POST /v2/plan": ({ body }) => ({ status: 201, body: { received: body.length } }),
    "DELETE /v2/plan": () => ({ status: 204 })
  }
}

const issued = () => Response.json({ access_token: "token-1", customer_id: "customer-1", expires_in: 3600 })

/** The URLs that a search asks for, in their order. */
const urlsOf = (options: Partial<NutritionAdvisor.Options>) =>
  Effect.gen(function*() {
    const urls: Array<URL> = []
    const client = HttpClient.make((request, url) => {
      urls.push(url)
      return Effect.succeed(HttpClientResponse.fromWeb(request, issued()))
    })
    yield* NutritionAdvisor.search("apple").pipe(
      Effect.provide(NutritionAdvisor.layer({ ...defaults, ...options })),
      Effect.provideService(HttpClient.HttpClient, client)
    )
    return urls
  })

describe("token routes", () => {
  plainTest.each(
    [
      [undefined, "/v2/token-cache/nutrition-advisor/oauth/licence/demo-key-7f3a"],
      ["advisor-licence", "/v2/token-cache/nutrition-advisor/oauth/licence/demo-key-7f3a"],
      ["advisor-token", "/v2/token-cache/nutrition-advisor/oauth/token/demo-key-7f3a"],
      ["unified", "/v2/token-cache/unified/oauth/token/demo-key-7f3a"],
      ["/v2/own/route/{key}", "/v2/own/route/demo-key-7f3a"]
    ] as const
  )("are called by their paths (case %#)", function*([tokenRoute, path]) {
    const urls = yield* urlsOf({ tokenRoute })
    expect(urls[0]?.href).toBe(`${Simulator.baseUrl}${path}`)
  })

  test.each<Look>([
    ["with POST", ({ method }) => method, "POST"],
    ["with Accept: */*, the User-Agent and no other header", ({ headers }) => ({ ...headers }), {
      accept: "*/*",
      "user-agent": `effect-nutrition-advisor/${version}`
    }],
    ["without a body", ({ body }) => body.length, 0],
    ["without the two headers of a data request", twoHeaders, [undefined, undefined]],
    ["without a query", ({ query }) => query, ""]
  ])("are called %s", function*([, look, expected]) {
    yield* NutritionAdvisor.search("apple")
    expect((yield* seen("token")).map(look)).toEqual([expected])
  }, advisor({ serviceId: usualId }))
})

describe("base URL", () => {
  it.effect.each(["", "/", "/proxy", "/proxy/", "/proxy/deep", "/proxy/deep/"])(
    "leads to the same paths with what follows its host: %j",
    (suffix) =>
      Effect.gen(function*() {
        yield* NutritionAdvisor.search("apple")
        expect((yield* seen("search")).map(({ path }) => path)).toEqual(["/v2/products/napi/food/search/semantic"])
      }).pipe(
        Effect.provide(advisor({ baseUrl: `${Simulator.baseUrl}${suffix}` }, { pathPrefix: suffix.replace(/\/$/, "") }))
      )
  )

  test("may be a URL object", function*() {
    yield* NutritionAdvisor.search("apple")
    expect((yield* seen("search")).length).toBe(1)
  }, advisor({ baseUrl: new URL("/proxy/", Simulator.baseUrl) }, { pathPrefix: "/proxy" }))

  plainTest("keeps its port", function*() {
    const urls = yield* urlsOf({ baseUrl: "http://127.0.0.1:3000/" })
    expect(urls.map(({ host }) => host)).toEqual(["127.0.0.1:3000", "127.0.0.1:3000"])
  })
})

describe("search", () => {
  test("gives the payload as the service sent it", function*() {
    yield* respondNext("search", { status: 200, body: { anything: [1, null, "two"] } })
    expect(yield* NutritionAdvisor.search("apple")).toEqual({ anything: [1, null, "two"] })
  })

  test.each<Sent<NutritionAdvisor.SearchOptions>>([
    ["is a GET", {}, ({ method }) => method, "GET"],
    [
      "sends further query parameters behind its term",
      { urlParams: { "page size": "2 0", tag: ["a", "b"] } },
      ({ query }) => query,
      "term=apple&page%20size=2%200&tag=a&tag=b"
    ],
    [
      "keeps its term where the query parameters name another",
      { urlParams: [["term", "pear"], ["page", "2"], ["term", "plum"]] },
      ({ query }) => query,
      "term=apple&page=2"
    ],
    [
      "sends further headers",
      { headers: { "Accept-Language": "de" } },
      ({ headers }) => headers["accept-language"],
      "de"
    ],
    [
      "keeps its two headers where the further ones name others",
      { headers: { AUTHORIZATION: "Basic own", "service-ID": "own" } },
      twoHeaders,
      ["Bearer simulated-1-1", usualId]
    ]
  ])("%s", function*([, options, look, expected]) {
    yield* NutritionAdvisor.search("apple", options)
    expect((yield* seen("search")).map(look)).toEqual([expected])
  })

  test.each(
    [
      ["greek yogurt", "greek%20yogurt"],
      ["a+b", "a%2Bb"],
      [":/?#[]@!$&'()*+,;=", "%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D"],
      ["100%", "100%25"],
      ["%2e", "%252e"],
      ["..", ".."],
      ["a\r\nb", "a%0D%0Ab"],
      ["🥑", "%F0%9F%A5%91"],
      [" apple ", "%20apple%20"]
    ] as const
  )("percent-encodes its term once (case %#)", function*([term, encoded]) {
    yield* NutritionAdvisor.search(term)
    expect((yield* seen("search")).map(({ query }) => query)).toEqual([`term=${encoded}`])
  })

  it.effect.prop(
    "brings any term to the service as it is",
    [FastCheck.string({ unit: "binary", minLength: 1, maxLength: 300 }).filter((term) => term.trim() !== "")],
    ([term]) =>
      Effect.gen(function*() {
        yield* NutritionAdvisor.search(term)
        const [request] = yield* seen("search")
        expect([...new URLSearchParams(request?.query)]).toEqual([["term", term]])
      }).pipe(Effect.provide(advisor())),
    {
      fastCheck: {
        examples: [".", "..", "%2e", "?&#+%/", "a\r\nb", "🥑", "a b", "+", "&term=other", "x".repeat(10_000)].map((
          term
        ): [string] => [term])
      }
    }
  )

  test.each(["", " ", "\t\r\n", "\u00a0\u2003", "\ud800", "a\udc00b", "\udc00\ud800"])(
    "sends nothing for a term that is blank, or holds half of a surrogate pair: %j",
    function*(term) {
      const error = yield* Effect.flip(NutritionAdvisor.search(term))
      expect(error).toMatchObject({ _tag: "BadRequest", operation: "search" })
      expect(error).not.toHaveProperty("status")
      expect(yield* counters).toEqual(nothing)
    }
  )

  test("ends in a typed error where the service finds its term of 100,000 characters too long", function*() {
    const error = yield* Effect.flip(NutritionAdvisor.search("x".repeat(100_000)))
    expect(error).toMatchObject({ _tag: "UnexpectedResponse", operation: "search", status: 414, reason: "Status" })
  })

  test("sends them each time its effect is run, also those that are iterated only once", function*() {
    const urlParams = () => new URLSearchParams({ page: "2" }).entries()
    const ofService = Effect.flatMap(
      NutritionAdvisor.NutritionAdvisor,
      ({ search }) => Effect.repeatN(search("apple", { urlParams: urlParams() }), 1)
    )
    yield* Effect.repeatN(NutritionAdvisor.search("apple", { urlParams: urlParams() }), 1)
    yield* Effect.repeatN(NutritionAdvisor.searchAs(Schema.Unknown)("apple", { urlParams: urlParams() }), 1)
    yield* ofService
    expect((yield* seen("search")).map(({ query }) => query)).toEqual(Array(6).fill("term=apple&page=2"))
  })

  test.each<readonly [string, NutritionAdvisor.SearchOptions]>([
    ["a query parameter holds half of a surrogate pair", { urlParams: { tag: "\ud800" } }],
    ["HTTP does not allow a line in a header", { headers: { "x-trace": "a\r\nx-evil: 1" } }],
    ["HTTP does not allow the end of a line in a header", { headers: { "x-trace": "a\n" } }],
    ["HTTP does not allow a NUL in a header", { headers: { "x-trace": "\u0000" } }],
    ["HTTP does not allow a picture in a header", { headers: { "x-trace": "🥑" } }],
    ["HTTP does not allow a blank in the name of a header", { headers: { "x trace": "a" } }],
    ["HTTP does not allow a line in the name of a header", { headers: { "x-trace\r\n": "a" } }],
    ["HTTP does not allow a header without a name", { headers: { "": "a" } }]
  ])("sends nothing where %s", function*([, options]) {
    const error = yield* Effect.flip(NutritionAdvisor.search("apple", options))
    expect(error).toMatchObject({ _tag: "BadRequest", operation: "search" })
    expect((yield* counters).exchanges).toBe(0)
  })

  test("is sent anew each time its effect is run", function*() {
    const search = NutritionAdvisor.search("apple")
    yield* Effect.repeatN(search, 2)
    expect(yield* counters).toMatchObject({ exchanges: 1, searches: 3 })
  })
})

describe("searchAs", () => {
  const throwing = (thrown: () => unknown) =>
    Schema.transform(Schema.Unknown, Schema.Unknown, {
      strict: false,
      decode: (): unknown => {
        throw thrown()
      },
      encode: (value) => value
    })

  const bug = new Date(Number.NaN)

  test.each<readonly [string, () => unknown]>([
    ["toISOString of no date", () => bug.toISOString()],
    ["repeat(-1)", () => "x".repeat(-1)],
    ["an array of length -1", () => new Array(-1)],
    ["a RangeError of its own", () => new RangeError("the portion is out of range")],
    ["an error that names the stack and is no RangeError", () => new Error("Maximum call stack size exceeded")],
    ["a text", () => "Maximum call stack size exceeded"]
  ])("leaves a bug of the schema a defect: %s", function*([, thrown]) {
    const exit = yield* Effect.exit(NutritionAdvisor.searchAs(throwing(thrown))("oats"))
    expect(Exit.isFailure(exit) && Cause.isDie(exit.cause) && Option.isNone(Cause.failureOption(exit.cause)))
      .toBe(true)
  })

  test.each<readonly [string, () => unknown]>([
    ["as V8 does", () => new RangeError("Maximum call stack size exceeded")],
    ["as JavaScriptCore does", () => new RangeError("Maximum call stack size exceeded.")],
    ["as SpiderMonkey does", () => Object.assign(new Error("too much recursion"), { name: "InternalError" })]
  ])("is Schema where the stack overflows, %s", function*([, thrown]) {
    expect(yield* Effect.flip(NutritionAdvisor.searchAs(throwing(thrown))("oats"))).toMatchObject({
      _tag: "UnexpectedResponse",
      reason: "Schema"
    })
  })

  const Payload = Schema.Struct({ total: Schema.NumberFromString })

  test("decodes the payload", function*() {
    yield* respondNext("search", { status: 200, body: { total: "3" } })
    expect(yield* NutritionAdvisor.searchAs(Payload)("apple")).toEqual({ total: 3 })
  })

  test.each(
    [
      ["reason Schema for a payload of another shape", { total: "three" }, "Schema"],
      ["reason NotJson for a payload that is no JSON", "<html>", "NotJson"]
    ] as const
  )("ends as UnexpectedResponse with %s", function*([, body, reason]) {
    yield* respondNext("search", { status: 200, body })
    expect(yield* Effect.flip(NutritionAdvisor.searchAs(Payload)("apple"))).toEqual(
      new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 200, reason })
    )
  })

  test("hands its options on", function*() {
    yield* respondNext("search", { status: 200, body: { total: "3" } })
    yield* NutritionAdvisor.searchAs(Payload)("apple", { urlParams: { page: 2 } })
    expect((yield* seen("search")).map(({ query }) => query)).toEqual(["term=apple&page=2"])
  })

  test("lets a schema ask for a service", function*() {
    class Factor extends Context.Tag("test/Factor")<Factor, number>() {}
    const Scaled = Schema.transformOrFail(Schema.Number, Schema.Number, {
      strict: true,
      decode: (value) => Effect.map(Factor, (factor) => value * factor),
      encode: Effect.succeed
    })
    yield* respondNext("search", { status: 200, body: 7 })
    const scaled = NutritionAdvisor.searchAs(Scaled)("apple")
    expect(yield* Effect.provideService(scaled, Factor, 6)).toBe(42)
  })
})

describe("customer identifier", () => {
  const pairs = Effect.map(seen("search"), (requests) => requests.map(twoHeaders))

  test("is sent in Service-ID next to the token it came with", function*() {
    yield* NutritionAdvisor.search("apple")
    expect(yield* pairs).toEqual([["Bearer simulated-1-1", "customer-1"]])
  }, advisor({}, { customerId: "customer-1" }))

  test("is replaced together with the token", function*() {
    const simulator = yield* Simulator.Simulator
    yield* NutritionAdvisor.search("apple")
    yield* simulator.setCustomerId("customer-2")
    yield* simulator.revoke
    yield* NutritionAdvisor.search("apple")
    expect(yield* pairs).toEqual([
      ["Bearer simulated-1-1", "customer-1"],
      ["Bearer simulated-1-1", "customer-1"],
      ["Bearer simulated-1-2", "customer-2"]
    ])
  }, advisor({}, { customerId: "customer-1" }))

  test("is the configured one where there is one", function*() {
    yield* respondNext("search", { status: 200, body: {} })
    yield* NutritionAdvisor.search("apple")
    expect(yield* pairs).toEqual([["Bearer simulated-1-1", "from-the-dashboard"]])
  }, advisor({ serviceId: "from-the-dashboard" }))

  test("is sent in the header that serviceIdHeader names", function*() {
    yield* NutritionAdvisor.search("apple")
    expect(yield* pairs).toEqual([["Bearer simulated-1-1", usualId]])
  }, advisor({ serviceIdHeader: "X-Customer" }, { serviceIdHeader: "X-Customer" }))

  test("is not sent in Service-ID where serviceIdHeader names another", function*() {
    yield* NutritionAdvisor.search("apple")
    expect((yield* seen("search")).map(({ headers }) => headers["service-id"])).toEqual([undefined])
  }, advisor({ serviceIdHeader: "X-Customer" }, { serviceIdHeader: "X-Customer" }))

  test.each([undefined, null, "", "  "])("ends a search as MissingServiceId, with no data request: %j", function*(id) {
    yield* respondAlways("token", {
      status: 200,
      body: { access_token: "token-1", expires_in: 3600, customer_id: id }
    })
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
      new NutritionAdvisorError.MissingServiceId({ operation: "token" })
    )
    expect((yield* counters).searches).toBe(0)
  })
})

describe("a rejected token", () => {
  const authorizations = Effect.map(
    seen("search"),
    (requests) => requests.map(({ authorization }) => plain(authorization))
  )

  it.effect.each(
    [[401, undefined], [403, undefined], [419, [419]]] as const
  )("is renewed once for a %d, and the search sent once more", ([status, rejectedStatuses]) =>
    Effect.gen(function*() {
      yield* respondNext("search", { status })
      yield* NutritionAdvisor.search("apple")
      expect(yield* counters).toMatchObject({ exchanges: 2, searches: 2 })
    }).pipe(Effect.provide(advisor({ rejectedStatuses }))))

  test("gives way to the new one in the second request", function*() {
    yield* respondNext("search", rejected)
    yield* NutritionAdvisor.search("apple")
    expect(yield* authorizations).toEqual(["Bearer simulated-1-1", "Bearer simulated-1-2"])
  })

  test("leaves the caller with the answer of the second request", function*() {
    yield* respondNext("search", { status: 403, body: { answer: 1 } }, { status: 200, body: { answer: 2 } })
    expect(yield* NutritionAdvisor.search("apple")).toEqual({ answer: 2 })
  })

  test("sends the same query and headers twice", function*() {
    yield* respondNext("search", rejected)
    yield* NutritionAdvisor.search("a b", { urlParams: { page: 2 }, headers: { "x-trace": "1" } })
    const [first, second] = yield* seen("search")
    expect([second?.query, second?.headers]).toEqual([first?.query, first?.headers])
  })

  test("is told by the statuses of rejectedStatuses alone", function*() {
    yield* respondNext("search", { status: 401 })
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
      new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 401, reason: "Status" })
    )
    expect(yield* counters).toMatchObject({ exchanges: 1, searches: 1 })
  }, advisor({ rejectedStatuses: [403] }))

  const forbidden = (reason: NutritionAdvisorError.Forbidden["reason"], status = 403) =>
    new NutritionAdvisorError.Forbidden({ operation: "search", status, reason })

  test.each<Ending>([
    ["after exactly two searches", [rejected, rejected, rejected], forbidden("RejectedAgain"), {
      exchanges: 2,
      searches: 2
    }],
    ["with the status of the second answer", [rejected, { status: 401 }], forbidden("RejectedAgain", 401), {}]
  ])("ends as RejectedAgain %s", function*([, answers, expected, costs]) {
    yield* respondNext("search", ...answers)
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(expected)
    expect(yield* counters).toMatchObject(costs)
  })

  test("ends as TokenUnchanged, with no second search, where the exchange hands it back", function*() {
    yield* Effect.flatMap(Simulator.Simulator, ({ setHandsBackToken }) => setHandsBackToken(true))
    yield* respondNext("search", rejected)
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(forbidden("TokenUnchanged"))
    expect(yield* counters).toMatchObject({ exchanges: 2, searches: 1 })
  })

  test("ends as CoolingDown, with no exchange, soon after a renewal that did not help", function*() {
    yield* respondAlways("search", { status: 401 })
    yield* Effect.flip(NutritionAdvisor.search("apple"))
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(forbidden("CoolingDown", 401))
    expect((yield* counters).exchanges).toBe(2)
  })

  test.each(
    [
      ["the operation of the token error", 400, { _tag: "BadRequest" }],
      ["KeyRejected where the token route refuses the key", 401, { _tag: "Forbidden", reason: "KeyRejected" }]
    ] as const
  )("keeps %s at its renewal", function*([, status, expected]) {
    yield* NutritionAdvisor.search("apple")
    yield* respondNext("search", rejected)
    yield* respondNext("token", { status })
    expect(yield* Effect.flip(NutritionAdvisor.search("apple")))
      .toMatchObject({ ...expected, operation: "token", status })
  })

  test.each([401, 403])("is no matter where the token route refuses the key with %d", function*(status) {
    yield* respondAlways("token", { status })
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
      new NutritionAdvisorError.Forbidden({ operation: "token", status, reason: "KeyRejected" })
    )
    expect(yield* counters).toMatchObject({ exchanges: 1, searches: 0 })
  })
})

describe("any other answer", () => {
  test.each([...otherRefusals, [302, "UnexpectedResponse"] as const])(
    "leaves the token alone: %d",
    function*([status]) {
      yield* respondNext("search", { status })
      yield* Effect.flip(NutritionAdvisor.search("apple"))
      yield* NutritionAdvisor.search("apple")
      expect(yield* counters).toMatchObject({ exchanges: 1, searches: 2 })
    }
  )

  test.each(otherRefusals)("has an error of its own: %d is %s", function*([status, _tag]) {
    yield* respondNext("search", { status })
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toMatchObject({ _tag, operation: "search", status })
  })

  test.each(
    [
      [429, "17", 17],
      [503, "17", 17],
      [429, "Thu, 01 Jan 2026 12:01:00 GMT", 60],
      [429, undefined, undefined]
    ] as const
  )("%d tells the seconds until Retry-After: %s", function*([status, at, retryAfter]) {
    yield* Time.set(Date.UTC(2026, 0, 1, 12, 0, 0))
    yield* respondNext("search", { status, headers: at === undefined ? {} : { "retry-after": at } })
    const error = yield* Effect.flip(NutritionAdvisor.search("apple"))
    expect({ ...error }).toMatchObject(retryAfter === undefined ? {} : { retryAfter })
    expect("retryAfter" in error).toBe(retryAfter !== undefined)
  })

  test.each(otherRefusals)("keeps what the service said, redacted: %d", function*([status]) {
    const body = "no: demo-key-7f3a simulated-1-1 3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00"
    yield* respondNext("search", { status, headers: { "content-type": "text/plain" }, body })
    const error = yield* Effect.flip(NutritionAdvisor.search("apple"))
    expect(error).toMatchObject({ body: Redacted.make(body) })
    expect(error).not.toHaveProperty("detail")
    expect(`${error.message} ${JSON.stringify(error)}`).not.toContain("demo-key-7f3a")
  })

  test("keeps what the service said of the replay that was rejected too", function*() {
    const rejecting = (body: string) => ({ status: 403, headers: { "content-type": "text/plain" }, body })
    yield* respondNext("search", rejecting("first"))
    yield* respondNext("search", rejecting("second"))
    const again = yield* Effect.flip(NutritionAdvisor.search("apple"))
    yield* respondAlways("search", rejecting("further"))
    const heldUp = yield* Effect.flip(untilHeldUp(NutritionAdvisor.search("apple")))
    expect([again, heldUp]).toMatchObject([
      { _tag: "Forbidden", reason: "RejectedAgain", body: Redacted.make("second") },
      { _tag: "Forbidden", reason: "CoolingDown", body: Redacted.make("further") }
    ])
  })

  test.each(
    (["search", "token"] as const).flatMap((operation) =>
      [301, 302, 303, 307, 308].map((status) => ({ operation, status }))
    )
  )("is not followed by $operation where it is a redirect: $status", function*({ operation, status }) {
    yield* respondNext(operation, { status, headers: { location: "https://other.example/v2/x" } })
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
      new NutritionAdvisorError.UnexpectedResponse({ operation, status, reason: "Redirect" })
    )
    expect(yield* counters).toMatchObject({ exchanges: 1, searches: operation === "search" ? 1 : 0, requests: 0 })
  })

  plainTest("is not followed by fetch where it is a redirect", function*() {
    const modes: Array<string | undefined> = []
    const fetch: typeof globalThis.fetch = (input, init) => {
      modes.push(init?.redirect)
      return Promise.resolve(
        String(input).includes("token-cache")
          ? issued()
          : new Response(null, { status: 307, headers: { location: "https://other.example/" } })
      )
    }
    const error = yield* Effect.flip(NutritionAdvisor.search("apple")).pipe(
      Effect.provide(NutritionAdvisor.layer(defaults).pipe(Layer.provide(FetchHttpClient.layer))),
      Effect.provideService(FetchHttpClient.Fetch, fetch)
    )
    expect([error._tag, ...modes]).toEqual(["UnexpectedResponse", "manual", "manual"])
  })
})

describe("the body of an answer", () => {
  test.each(
    [
      ["empty", ""],
      ["HTML", "<!doctype html>"],
      ["truncated", "{\"results\":["],
      ["not UTF-8", new Uint8Array([0x22, 0xff, 0x22])]
    ] as const
  )("is NotJson (case %#)", function*([_, body]) {
    yield* respondNext("search", { status: 200, body })
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
      new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 200, reason: "NotJson" })
    )
  })

  test("is NotJson where there is none (204)", function*() {
    yield* respondNext("search", { status: 204 })
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toMatchObject({ status: 204, reason: "NotJson" })
  })

  test("may begin with a byte order mark", function*() {
    yield* respondNext("search", { status: 200, body: "\ufeff{\"total\":1}" })
    expect(yield* NutritionAdvisor.search("apple")).toEqual({ total: 1 })
  })

  test("may have exactly maxResponseBytes", function*() {
    yield* respondNext("search", { status: 200, body: JSON.stringify("x".repeat(98)) })
    expect(yield* NutritionAdvisor.search("apple")).toBe("x".repeat(98))
  }, advisor({ maxResponseBytes: 100 }))

  test.each([
    {},
    { "content-length": "101" },
    { "content-length": "5", "content-encoding": "gzip" },
    { "content-length": "many" },
    { "content-length": "-1" }
  ])("is TooLarge above maxResponseBytes with the headers %j", function*(headers) {
    yield* respondNext("search", { status: 200, headers, body: JSON.stringify("x".repeat(99)) })
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
      new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 200, reason: "TooLarge" })
    )
  }, advisor({ maxResponseBytes: 100 }))

  test("does not bound the token answer by maxResponseBytes", function*() {
    yield* respondNext("search", { status: 200, body: 1 })
    expect(yield* NutritionAdvisor.search("apple")).toBe(1)
  }, advisor({ maxResponseBytes: 10 }))
})

describe("requestTimeout", () => {
  test("ends a search that gets no answer", function*() {
    yield* respondNext("search", "hang")
    const fiber = yield* Effect.fork(Effect.flip(NutritionAdvisor.search("apple")))
    yield* Time.pass("5 seconds")
    expect(yield* Fiber.join(fiber)).toEqual(
      new NutritionAdvisorError.TransportError({ operation: "search", reason: "Timeout" })
    )
  }, advisor({ requestTimeout: "5 seconds" }))

  test("is 30 seconds where no other is given", function*() {
    yield* respondNext("search", "hang")
    const fiber = yield* Effect.fork(Effect.flip(NutritionAdvisor.search("apple")))
    yield* Time.pass("29999 millis")
    const before = yield* Fiber.poll(fiber)
    yield* Time.pass("1 millis")
    yield* Fiber.join(fiber)
    expect(before).toEqual(Option.none())
  })

  plainTest("interrupts the request", function*() {
    const interrupted = yield* Ref.make(false)
    const client = HttpClient.make((request, url) =>
      url.pathname.includes("token-cache")
        ? Effect.succeed(HttpClientResponse.fromWeb(request, issued()))
        : Effect.onInterrupt(Effect.never, () => Ref.set(interrupted, true))
    )
    yield* settle(Effect.exit(NutritionAdvisor.search("apple"))).pipe(
      Effect.provide(NutritionAdvisor.layer(defaults)),
      Effect.provideService(HttpClient.HttpClient, client)
    )
    expect(yield* Ref.get(interrupted)).toBe(true)
  })

  test("leaves the token alone", function*() {
    yield* respondNext("search", "hang")
    yield* settle(Effect.exit(NutritionAdvisor.search("apple")))
    yield* NutritionAdvisor.search("apple")
    expect((yield* counters).exchanges).toBe(1)
  })

  test("counts from the request on, not from the wait for a token", function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.setLatency("token", "4 seconds")
    yield* simulator.setLatency("search", "4 seconds")
    yield* settle(NutritionAdvisor.search("apple"))
    expect((yield* counters).searches).toBe(1)
  }, advisor({ requestTimeout: "5 seconds" }))
})

describe("a dropped connection", () => {
  test("is a TransportError with reason Connection", function*() {
    yield* respondNext("search", "drop")
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
      new NutritionAdvisorError.TransportError({ operation: "search", reason: "Connection" })
    )
  })

  test("is not retried for a search", function*() {
    yield* respondNext("search", "drop")
    yield* Effect.exit(NutritionAdvisor.search("apple"))
    expect((yield* counters).searches).toBe(1)
  })
})

describe("httpClient", () => {
  test.each(["/v2/plan", "v2/plan", "/v2/./plan", "v2/other/../plan"])(
    "takes a path below the base URL: %s",
    function*(path) {
      yield* execute(HttpClientRequest.get(path))
      expect((yield* seen("request")).map(({ path }) => path)).toEqual(["/v2/plan"])
    },
    advisor({ baseUrl: `${Simulator.baseUrl}/proxy` }, { ...planRoutes, pathPrefix: "/proxy" })
  )

  test("takes an absolute URL below the base URL", function*() {
    yield* execute(HttpClientRequest.get(`${Simulator.baseUrl}/proxy/v2/plan`))
    expect((yield* seen("request")).map(({ path }) => path)).toEqual(["/v2/plan"])
  }, advisor({ baseUrl: `${Simulator.baseUrl}/proxy` }, { ...planRoutes, pathPrefix: "/proxy" }))

  test.each([
    "https://other.example/v2/plan",
    "http://nutrition-advisor.invalid/v2/plan",
    "https://nutrition-advisor.invalid:8443/v2/plan",
    "https://nutrition-advisor.invalid.other.example/v2/plan",
    "https://nutrition-advisor.invalid@other.example/v2/plan",
    "//other.example/v2/plan",
    "\\\\other.example/v2/plan",
    "/\\other.example/v2/plan",
    "../v2/plan",
    "/../v2/plan",
    "v2/../../plan",
    "%2e%2e/v2/plan",
    "data:text/plain,x",
    `${Simulator.baseUrl}/v2/plan`,
    `${Simulator.baseUrl}/proxy-of-another/v2/plan`,
    `blob:${Simulator.baseUrl}/proxy/v2/plan`,
    "..%2fv2/plan",
    "%2e%2e%5cv2/plan",
    "v2/..%252f..%252fplan",
    "/v2/\ud800"
  ])("sends nothing where a URL leaves the base URL: %j", function*(url) {
    const error = yield* Effect.flip(execute(HttpClientRequest.get(url)))
    expect(error).toMatchObject({ _tag: "BadRequest", operation: "request" })
    expect(error).not.toHaveProperty("status")
    expect((yield* Effect.flatMap(Simulator.Simulator, ({ requests }) => requests)).length).toBe(0)
  }, advisor({ baseUrl: `${Simulator.baseUrl}/proxy` }, { ...planRoutes, pathPrefix: "/proxy" }))

  test.each([{ "x-trace": "a\r\nx-evil: 1" }, { "x trace": "a" }, { authorization: "a\nb" }])(
    "sends nothing where HTTP does not allow a header: %j",
    function*(headers) {
      const error = yield* Effect.flip(execute(HttpClientRequest.get("/v2/plan", { headers })))
      expect(error).toMatchObject({ _tag: "BadRequest", operation: "request" })
      expect((yield* counters).exchanges).toBe(0)
    },
    advisor({}, planRoutes)
  )

  test.each<Sent<HttpClientRequest.HttpClientRequest>>([
    [
      "the query of the URL and the parameters of the request",
      HttpClientRequest.get("/v2/plan?a=1%202", { urlParams: { b: "x y+z", c: "&" } }),
      ({ query }) => query,
      "a=1%202&b=x%20y%2Bz&c=%26"
    ],
    ["both headers", HttpClientRequest.get("/v2/plan"), twoHeaders, ["Bearer simulated-1-1", "customer-1"]],
    [
      "both headers in the place of its own, and keeps the others",
      HttpClientRequest.get("/v2/plan", {
        headers: { Authorization: "Basic own", "SERVICE-ID": "own", "x-trace": "1" }
      }),
      (request) => [...twoHeaders(request), request.headers["x-trace"]],
      ["Bearer simulated-1-1", "customer-1", "1"]
    ],
    [
      "a JSON body with its type",
      HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post("/v2/plan"), { plan: "größer 🥑" }),
      ({ body, headers }) => [new TextDecoder().decode(body), headers["content-type"]],
      ["{\"plan\":\"größer 🥑\"}", "application/json"]
    ]
  ])("sends %s", function*([, request, look, expected]) {
    yield* execute(request)
    expect((yield* seen("request")).map(look)).toEqual([expected])
  }, advisor({}, { ...planRoutes, customerId: "customer-1" }))

  test("gives an answer whose body can be read", function*() {
    const response = yield* execute(HttpClientRequest.get("/v2/plan"))
    expect(yield* response.json).toEqual({ plan: "basic" })
  }, advisor({}, planRoutes))

  test("gives the headers of the answer", function*() {
    yield* respondNext("request", { status: 200, headers: { "x-left": "3" }, body: {} })
    expect((yield* execute(HttpClientRequest.get("/v2/plan"))).headers["x-left"]).toBe("3")
  }, advisor({}, planRoutes))

  test("gives an answer without a body", function*() {
    expect((yield* execute(HttpClientRequest.del("/v2/plan"))).status).toBe(204)
  }, advisor({}, planRoutes))

  test("keeps both headers out of the request on its answer", function*() {
    const { request } = yield* execute(
      HttpClientRequest.get("/v2/plan", { headers: { authorization: "own", "service-id": "own", "x-trace": "1" } })
    )
    expect(Object.keys(request.headers).sort()).toEqual(["x-trace"])
  }, advisor({}, planRoutes))

  test("keeps the token out of every text of its answer", function*() {
    const response = yield* execute(HttpClientRequest.get("/v2/plan"))
    expect(JSON.stringify([response, response.request])).not.toMatch(/simulated-1-1|customer-1|demo-key/)
  }, advisor({}, { ...planRoutes, customerId: "customer-1" }))

  test("sends the same bytes again after a renewal", function*() {
    yield* respondNext("request", rejected)
    yield* execute(HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post("/v2/plan"), { plan: "größer 🥑" }))
    const [first, second] = yield* seen("request")
    expect([first?.method, first?.body, first?.headers]).toEqual([second?.method, second?.body, second?.headers])
  }, advisor({}, planRoutes))

  test("carries the new token after a renewal", function*() {
    yield* respondNext("request", rejected)
    yield* execute(HttpClientRequest.get("/v2/plan"))
    expect((yield* seen("request")).map(({ authorization }) => plain(authorization)))
      .toEqual(["Bearer simulated-1-1", "Bearer simulated-1-2"])
  }, advisor({}, planRoutes))

  const streamed = HttpClientRequest.bodyStream(
    HttpClientRequest.post("/v2/plan"),
    Stream.make(new Uint8Array([1, 2, 3]))
  )

  test("sends a streamed body", function*() {
    expect(yield* Effect.flatMap(execute(streamed), ({ json }) => json)).toEqual({ received: 3 })
  }, advisor({}, planRoutes))

  test("does not send a streamed body twice", function*() {
    yield* respondNext("request", rejected)
    expect(yield* Effect.flip(execute(streamed))).toEqual(
      new NutritionAdvisorError.Forbidden({ operation: "request", status: 403, reason: "BodyNotReplayable" })
    )
    expect((yield* counters).requests).toBe(1)
  }, advisor({}, planRoutes))

  test.each([
    ["text", "a=1"],
    ["bytes", new TextEncoder().encode("a=1")],
    ["parameters", new URLSearchParams({ a: "1" })]
  ])("sends a raw body of %s once more after a rejection", function*([_, body]) {
    yield* respondNext("request", rejected)
    const request = HttpClientRequest.setBody(HttpClientRequest.post("/v2/plan"), HttpBody.raw(body))
    expect(yield* Effect.flatMap(execute(request), ({ json }) => json)).toEqual({ received: 3 })
    expect((yield* counters).requests).toBe(2)
  }, advisor({}, planRoutes))

  test("leaves a new token for the request after a streamed body that was rejected", function*() {
    const simulator = yield* Simulator.Simulator
    yield* execute(HttpClientRequest.get("/v2/plan"))
    yield* simulator.revoke
    yield* Effect.flip(execute(streamed))
    expect((yield* execute(streamed)).status).toBe(201)
  }, advisor({}, planRoutes))

  test.each(
    [
      ...otherRefusals.map(([status, _tag]) => [{ status }, { _tag, status }] as const),
      [{ status: 302 }, { _tag: "UnexpectedResponse", status: 302, reason: "Redirect" }],
      [{ status: 429, headers: { "retry-after": "3" } }, { _tag: "TooManyRequests", retryAfter: 3 }],
      ["drop", { _tag: "TransportError", reason: "Connection" }],
      ["hang", { _tag: "TransportError", reason: "Timeout" }]
    ] as const
  )("ends in the errors of a search (case %#)", function*([answer, expected]) {
    yield* respondNext("request", answer)
    expect(yield* settle(Effect.flip(execute(HttpClientRequest.get("/v2/plan"))))).toMatchObject({
      operation: "request",
      ...expected
    })
  }, advisor({}, planRoutes))

  test("ends as RejectedAgain after exactly two requests", function*() {
    yield* respondAlways("request", rejected)
    expect(yield* Effect.flip(execute(HttpClientRequest.get("/v2/plan")))).toEqual(
      new NutritionAdvisorError.Forbidden({ operation: "request", status: 403, reason: "RejectedAgain" })
    )
    expect(yield* counters).toMatchObject({ exchanges: 2, requests: 2 })
  }, advisor({}, planRoutes))

  test("is TooLarge above maxResponseBytes", function*() {
    yield* respondNext("request", { status: 200, body: "x".repeat(101) })
    expect(yield* Effect.flip(execute(HttpClientRequest.get("/v2/plan")))).toMatchObject({ reason: "TooLarge" })
  }, advisor({ maxResponseBytes: 100 }, planRoutes))

  test("works with the combinators of HttpClient", function*() {
    const { httpClient } = yield* NutritionAdvisor.NutritionAdvisor
    const plans = HttpClient.mapRequest(httpClient, HttpClientRequest.prependUrl("/v2"))
    const response = yield* plans.get("/plan")
    expect(yield* response.json).toEqual({ plan: "basic" })
  }, advisor({}, planRoutes))
})

describe("layerConfig", () => {
  const required = new Map([
    ["NUTRITION_ADVISOR_BASE_URL", Simulator.baseUrl],
    ["NUTRITION_ADVISOR_LICENSE_KEY", "demo-key-7f3a"]
  ])

  const configured = (more: Readonly<Record<string, string>>, without?: string) => {
    const values = new Map([...required, ...Object.entries(more)])
    if (without !== undefined) values.delete(without)
    return NutritionAdvisor.layerConfig().pipe(
      Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(values))),
      Layer.provideMerge(Simulator.layerHttpClient())
    )
  }

  it.effect.each<readonly [property: string, values: Record<string, string>, ...look: Seen]>([
    ["the base URL and the license key", {}, "search", twoHeaders, ["Bearer simulated-1-1", usualId]],
    [
      "the token route",
      { NUTRITION_ADVISOR_TOKEN_ROUTE: "unified" },
      "token",
      ({ path }) => path,
      "/v2/token-cache/unified/oauth/token/{key}"
    ],
    [
      "the customer identifier and its header",
      { NUTRITION_ADVISOR_SERVICE_ID: "from-the-dashboard", NUTRITION_ADVISOR_SERVICE_ID_HEADER: "X-Customer" },
      "search",
      ({ headers }) => headers["x-customer"],
      "from-the-dashboard"
    ],
    [
      "blank optional settings as unset",
      {
        NUTRITION_ADVISOR_TOKEN_ROUTE: "",
        NUTRITION_ADVISOR_SERVICE_ID: " ",
        NUTRITION_ADVISOR_SERVICE_ID_HEADER: "\t"
      },
      "search",
      ({ serviceId }) => plain(serviceId),
      usualId
    ]
  ])("reads %s", ([, values, operation, look, expected]) =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: {} })
      yield* NutritionAdvisor.search("apple")
      expect((yield* seen(operation)).map(look)).toEqual([expected])
    }).pipe(Effect.provide(configured(values))))

  plainTest.each(["NUTRITION_ADVISOR_BASE_URL", "NUTRITION_ADVISOR_LICENSE_KEY"])(
    "ends in a ConfigError that names %s where it is missing",
    function*(name) {
      const error = yield* Effect.flip(Effect.provide(NutritionAdvisor.search("apple"), configured({}, name)))
      const message = expect.stringContaining(`The variable ${name} is not set.`)
      expect(error).toMatchObject({ _tag: "ConfigError", message })
    }
  )

  plainTest("ends in a ConfigError for a token route that is none", function*() {
    const configuredOtherwise = configured({ NUTRITION_ADVISOR_TOKEN_ROUTE: "advisor" })
    const error = yield* Effect.flip(Effect.provide(NutritionAdvisor.search("apple"), configuredOtherwise))
    expect(error).toMatchObject({ _tag: "ConfigError", message: expect.stringContaining("Expected advisor-licence") })
    expect(String(error)).toContain("NUTRITION_ADVISOR_TOKEN_ROUTE")
  })

  plainTest.each(
    [
      [{ NUTRITION_ADVISOR_BASE_URL: "http://advisor.example" }, "baseUrl"],
      [{ NUTRITION_ADVISOR_LICENSE_KEY: "<your key>" }, "licenseKey"],
      [{ NUTRITION_ADVISOR_SERVICE_ID: "é" }, "serviceId"],
      [{ NUTRITION_ADVISOR_SERVICE_ID_HEADER: "a b" }, "serviceIdHeader"]
    ] as const
  )("ends in a ConfigurationError for a setting that can't work (case %#)", function*([values, field]) {
    const error = yield* Effect.flip(Effect.provide(NutritionAdvisor.search("apple"), configured(values)))
    expect(error).toMatchObject({ _tag: "ConfigurationError", field })
  })
})

describe("layer", () => {
  plainTest.each(
    [
      [{ baseUrl: "advisor.example" }, "baseUrl"],
      [{ licenseKey: Redacted.make("") }, "licenseKey"],
      [{ tokenRoute: "/v2/own" as "/{key}" }, "tokenRoute"],
      [{ serviceId: "a\r\nb" }, "serviceId"],
      [{ serviceIdHeader: "Authorization" }, "serviceIdHeader"],
      [{ rejectedStatuses: [200] }, "rejectedStatuses"],
      [{ tokenTimeout: 0 }, "tokenTimeout"],
      [{ requestTimeout: Number.POSITIVE_INFINITY }, "requestTimeout"],
      [{ maxResponseBytes: 0 }, "maxResponseBytes"],
      [{ refresh: { attempts: 0 } }, "refresh.attempts"]
    ] as const
  )("refuses a setting that can't work (case %#)", function*([options, field]) {
    const error = yield* Effect.flip(Effect.provide(NutritionAdvisor.search("apple"), advisor(options)))
    expect(error).toMatchObject({ _tag: "ConfigurationError", field })
  })

  test("gives the TokenProvider too", function*() {
    yield* NutritionAdvisor.search("apple")
    const tokens = yield* TokenProvider.TokenProvider
    expect((yield* tokens.status).state).toBe("fresh")
  })

  test("sends nothing while it is built", function*() {
    yield* NutritionAdvisor.NutritionAdvisor
    expect((yield* Effect.flatMap(Simulator.Simulator, ({ requests }) => requests)).length).toBe(0)
  })
})

describe("make", () => {
  it.scoped("gives the service in a scope", () =>
    Effect.gen(function*() {
      const advisor = yield* NutritionAdvisor.make(defaults)
      yield* advisor.search("apple")
      expect(yield* counters).toMatchObject({ exchanges: 1, searches: 1 })
    }).pipe(Effect.provide(Simulator.layerHttpClient())))
})

describe("layerWithoutTokens", () => {
  const token = AccessToken.make({ value: "own-token", serviceId: "own-id", receivedAt: 0, expiresAt: 3_600_000 })

  const provider = (renewed: AccessToken.AccessToken) =>
    Effect.map(Ref.make<ReadonlyArray<string>>([]), (calls) => ({
      calls,
      layer: Layer.succeed(TokenProvider.TokenProvider, {
        get: Effect.succeed(token),
        renew: () => Effect.succeed(renewed),
        settled: (used, outcome) =>
          Ref.update(calls, (calls) => [...calls, `${Redacted.value(used.value)} ${outcome}`]),
        status: Effect.succeed({ state: "fresh" as const, expiresAt: Option.none(), lastFailure: Option.none() })
      })
    }))

  const over = (tokens: Layer.Layer<TokenProvider.TokenProvider>) =>
    NutritionAdvisor.layerWithoutTokens(defaults).pipe(
      Layer.provide(tokens),
      Layer.provideMerge(Simulator.layerHttpClient())
    )

  const settledAfter = (...answers: ReadonlyArray<Simulator.Answer>) =>
    Effect.gen(function*() {
      const renewed = AccessToken.make({ ...token, value: "renewed-token", scope: undefined })
      const { calls, layer } = yield* provider(renewed)
      yield* Effect.gen(function*() {
        yield* respondNext("search", ...answers)
        yield* settle(Effect.exit(NutritionAdvisor.search("apple")))
      }).pipe(Effect.provide(over(layer)))
      return yield* Ref.get(calls)
    })

  plainTest("sends the token and the identifier of the provider in its context", function*() {
    const { layer } = yield* provider(token)
    const [request] = yield* Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: {} })
      yield* NutritionAdvisor.search("apple")
      expect((yield* counters).exchanges).toBe(0)
      return yield* seen("search")
    }).pipe(Effect.provide(over(layer)))
    expect(request && twoHeaders(request)).toEqual(["Bearer own-token", "own-id"])
  })

  plainTest.each(
    [
      [[{ status: 200, body: {} }], ["own-token Accepted"]],
      [[{ status: 400 }], ["own-token Accepted"]],
      [[{ status: 404 }], ["own-token Accepted"]],
      [[{ status: 429 }], []],
      [[{ status: 503 }], []],
      [[{ status: 302 }], []],
      [["drop"], []],
      [["hang"], []],
      [[rejected, { status: 200, body: {} }], ["renewed-token AcceptedAfterRenewal"]],
      [[rejected, rejected], ["renewed-token RejectedAgain"]],
      [[rejected, { status: 500 }], []],
      [[rejected, "drop"], []]
    ] as const
  )("tells the provider how a request ended for its token (case %#)", function*([answers, expected]) {
    expect(yield* settledAfter(...answers)).toEqual(expected)
  })
})

describe("a second layer for the same key", () => {
  const build = (licenseKey: string, baseUrl = "https://service.example") =>
    Layer.build(NutritionAdvisor.layer({ ...defaults, baseUrl, licenseKey: Redacted.make(licenseKey) })).pipe(
      Effect.provide(Simulator.layerHttpClient())
    )

  const warningsOf = (effect: Effect.Effect<unknown, NutritionAdvisorError.ConfigurationError, Scope.Scope>) =>
    Effect.gen(function*() {
      const warnings: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => {
        if (logLevel.label === "WARN") warnings.push(String(message))
      })
      yield* Effect.scoped(Effect.provide(effect, Logger.add(logger)))
      return warnings
    })

  plainTest("is warned of while the first one is open", function*() {
    const warnings = yield* warningsOf(Effect.zipRight(build("warned-of"), build("warned-of")))
    expect(warnings).toEqual([expect.stringContaining("second NutritionAdvisor layer")])
  })

  plainTest("is not warned of where the first one was closed", function*() {
    const built = Effect.scoped(build("closed"))
    expect(yield* warningsOf(Effect.zipRight(built, built))).toEqual([])
  })

  plainTest("is warned of where one of two others was closed", function*() {
    const all = Effect.gen(function*() {
      yield* build("one-closed")
      yield* Time.pass("61 seconds")
      yield* Effect.scoped(build("one-closed"))
      yield* build("one-closed")
    })
    expect(yield* warningsOf(all)).toHaveLength(1)
  })

  plainTest("is warned of once, however many follow", function*() {
    expect((yield* warningsOf(Effect.repeatN(build("warned-of-once"), 9))).length).toBe(1)
  })

  plainTest.each([Simulator.baseUrl, "http://127.0.0.1:8787", "http://localhost:8787", "http://[::1]:8787"])(
    "is not warned of over the simulator at %s",
    function*(baseUrl) {
      const built = build("simulated", baseUrl)
      expect(yield* warningsOf(Effect.zipRight(built, built))).toEqual([])
    }
  )

  plainTest("is warned of without the key", function*() {
    const warnings = yield* warningsOf(Effect.zipRight(build("marker7f3a"), build("marker7f3a")))
    expect(warnings).toHaveLength(1)
    expect(warnings.join()).not.toContain("marker7f3a")
  })

  plainTest("is not warned of for another key", function*() {
    expect(yield* warningsOf(Effect.zipRight(build("first-of-two"), build("second-of-two")))).toEqual([])
  })

  plainTest("is not warned of after more than a minute", function*() {
    const later = Effect.zipRight(Time.pass("61 seconds"), build("long-after"))
    expect(yield* warningsOf(Effect.zipRight(build("long-after"), later))).toEqual([])
  })
})
