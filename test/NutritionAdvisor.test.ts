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
import * as Time from "./doubles/Time.js"

const defaults: NutritionAdvisor.Options = {
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  refresh: { background: false }
}

const setup = (options: Partial<NutritionAdvisor.Options> = {}, simulator: Simulator.Options = {}) =>
  Effect.provide(
    NutritionAdvisor.layer({ ...defaults, ...options }).pipe(Layer.provideMerge(Simulator.layerHttpClient(simulator)))
  )

const seen = (operation: Simulator.Operation) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    return (yield* simulator.requests).filter((request) => request.operation === operation)
  })

const counters = Effect.flatMap(Simulator.Simulator, (simulator) => simulator.counters)

const respondNext = (operation: Simulator.Operation, ...answers: ReadonlyArray<Simulator.Answer>) =>
  Effect.flatMap(Simulator.Simulator, (simulator) => simulator.respondNext(operation, ...answers))

const respondAlways = (operation: Simulator.Operation, answer: Simulator.Answer) =>
  Effect.flatMap(Simulator.Simulator, (simulator) => simulator.respondAlways(operation, answer))

const execute = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.execute(request))

const plain = (secret: Option.Option<Redacted.Redacted<string>>) =>
  Option.getOrUndefined(Option.map(secret, Redacted.value))

const settle = Time.settle("1 second")

const rejected: Simulator.Reply = { status: 403 }

const planRoutes: Simulator.Options = {
  routes: {
    "GET /v2/plan": () => ({ status: 200, body: { plan: "basic" } }),
    "POST /v2/plan": ({ body }) => ({ status: 201, body: { received: body.length } }),
    "DELETE /v2/plan": () => ({ status: 204 })
  }
}

describe("token routes", () => {
  it.effect.each(
    [
      [undefined, "/v2/token-cache/nutrition-advisor/oauth/licence/demo-key-7f3a"],
      ["advisor-licence", "/v2/token-cache/nutrition-advisor/oauth/licence/demo-key-7f3a"],
      ["advisor-token", "/v2/token-cache/nutrition-advisor/oauth/token/demo-key-7f3a"],
      ["unified", "/v2/token-cache/unified/oauth/token/demo-key-7f3a"],
      ["/v2/own/route/{key}", "/v2/own/route/demo-key-7f3a"]
    ] as const
  )("are called by their paths (case %#)", ([tokenRoute, path]) =>
    Effect.gen(function*() {
      const urls = yield* Ref.make<ReadonlyArray<string>>([])
      const client = HttpClient.make((request, url) =>
        Effect.as(
          Ref.update(urls, (urls) => [...urls, url.href]),
          HttpClientResponse.fromWeb(
            request,
            Response.json({ access_token: "token-1", customer_id: "customer-1", expires_in: 3600 })
          )
        )
      )
      yield* NutritionAdvisor.search("apple").pipe(
        Effect.provide(NutritionAdvisor.layer({ ...defaults, tokenRoute })),
        Effect.provideService(HttpClient.HttpClient, client)
      )
      expect((yield* Ref.get(urls))[0]).toBe(`${Simulator.baseUrl}${path}`)
    }))

  it.effect("are called with POST", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect((yield* seen("token")).map(({ method }) => method)).toEqual(["POST"])
    }).pipe(setup()))

  it.effect("are called with Accept: */*, the User-Agent and no other header", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect((yield* seen("token")).map(({ headers }) => ({ ...headers }))).toEqual([{
        accept: "*/*",
        "user-agent": `effect-nutrition-advisor/${version}`
      }])
    }).pipe(setup()))

  it.effect("are called without a body", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect((yield* seen("token")).map(({ body }) => body.length)).toEqual([0])
    }).pipe(setup()))

  it.effect("are called without the two headers of a data request", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      const [request] = yield* seen("token")
      expect([request?.authorization, request?.serviceId]).toEqual([Option.none(), Option.none()])
    }).pipe(setup({ serviceId: "3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00" })))

  it.effect("are called without a query", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect((yield* seen("token")).map(({ query }) => query)).toEqual([""])
    }).pipe(setup()))
})

describe("base URL", () => {
  it.effect.each(["", "/", "/proxy", "/proxy/", "/proxy/deep", "/proxy/deep/"])(
    "leads to the same paths with what follows its host: %j",
    (suffix) =>
      Effect.gen(function*() {
        yield* NutritionAdvisor.search("apple")
        expect((yield* seen("search")).map(({ path }) => path)).toEqual(["/v2/products/napi/food/search/semantic"])
      }).pipe(setup({ baseUrl: `${Simulator.baseUrl}${suffix}` }, { pathPrefix: suffix.replace(/\/$/, "") }))
  )

  it.effect("may be a URL object", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect((yield* seen("search")).length).toBe(1)
    }).pipe(setup({ baseUrl: new URL("/proxy/", Simulator.baseUrl) }, { pathPrefix: "/proxy" })))

  it.effect("keeps its port", () =>
    Effect.gen(function*() {
      const hosts = yield* Ref.make<ReadonlyArray<string>>([])
      const client = HttpClient.make((request, url) =>
        Effect.as(
          Ref.update(hosts, (hosts) => [...hosts, url.host]),
          HttpClientResponse.fromWeb(request, Response.json({ access_token: "t", customer_id: "c", expires_in: 3600 }))
        )
      )
      yield* NutritionAdvisor.search("apple").pipe(
        Effect.provide(NutritionAdvisor.layer({ ...defaults, baseUrl: "http://127.0.0.1:3000/" })),
        Effect.provideService(HttpClient.HttpClient, client)
      )
      expect(yield* Ref.get(hosts)).toEqual(["127.0.0.1:3000", "127.0.0.1:3000"])
    }))
})

describe("search", () => {
  it.effect("gives the payload as the service sent it", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: { anything: [1, null, "two"] } })
      expect(yield* NutritionAdvisor.search("apple")).toEqual({ anything: [1, null, "two"] })
    }).pipe(setup()))

  it.effect("is a GET", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect((yield* seen("search")).map(({ method }) => method)).toEqual(["GET"])
    }).pipe(setup()))

  it.effect.each(
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
  )("percent-encodes its term once (case %#)", ([term, encoded]) =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search(term)
      expect((yield* seen("search")).map(({ query }) => query)).toEqual([`term=${encoded}`])
    }).pipe(setup()))

  it.effect.prop(
    "brings any term to the service as it is",
    [FastCheck.string({ unit: "binary", minLength: 1, maxLength: 300 }).filter((term) => term.trim() !== "")],
    ([term]) =>
      Effect.gen(function*() {
        yield* NutritionAdvisor.search(term)
        const [request] = yield* seen("search")
        expect([...new URLSearchParams(request?.query)]).toEqual([["term", term]])
      }).pipe(setup()),
    {
      fastCheck: {
        examples: [".", "..", "%2e", "?&#+%/", "a\r\nb", "🥑", "a b", "+", "&term=other", "x".repeat(10_000)].map((
          term
        ): [string] => [term])
      }
    }
  )

  it.effect.each(["", " ", "\t\r\n", "\u00a0\u2003"])(
    "sends nothing for a blank term: %j",
    (term) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(NutritionAdvisor.search(term))
        expect(error).toMatchObject({ _tag: "BadRequest", operation: "search" })
        expect(error).not.toHaveProperty("status")
        expect((yield* Effect.flatMap(Simulator.Simulator, ({ requests }) => requests)).length).toBe(0)
      }).pipe(setup())
  )

  it.effect.each(["\ud800", "a\udc00b", "\udc00\ud800"])(
    "sends nothing for half of a surrogate pair: %j",
    (term) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(NutritionAdvisor.search(term))
        expect(error).toMatchObject({ _tag: "BadRequest", operation: "search" })
        expect(error).not.toHaveProperty("status")
        expect((yield* Effect.flatMap(Simulator.Simulator, ({ requests }) => requests)).length).toBe(0)
      }).pipe(setup())
  )

  it.effect("ends in a typed error where the service finds its term of 100,000 characters too long", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(NutritionAdvisor.search("x".repeat(100_000)))
      expect(error).toMatchObject({ _tag: "UnexpectedResponse", operation: "search", status: 414, reason: "Status" })
    }).pipe(setup()))

  it.effect("sends further query parameters behind its term", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple", { urlParams: { "page size": "2 0", tag: ["a", "b"] } })
      expect((yield* seen("search")).map(({ query }) => query)).toEqual(["term=apple&page%20size=2%200&tag=a&tag=b"])
    }).pipe(setup()))

  it.effect("sends them each time its effect is run, also those that are iterated only once", () =>
    Effect.gen(function*() {
      const urlParams = () => new URLSearchParams({ page: "2" }).entries()
      const ofService = Effect.flatMap(
        NutritionAdvisor.NutritionAdvisor,
        ({ search }) => Effect.repeatN(search("apple", { urlParams: urlParams() }), 1)
      )
      yield* Effect.repeatN(NutritionAdvisor.search("apple", { urlParams: urlParams() }), 1)
      yield* Effect.repeatN(NutritionAdvisor.searchAs(Schema.Unknown)("apple", { urlParams: urlParams() }), 1)
      yield* ofService
      expect((yield* seen("search")).map(({ query }) => query)).toEqual(Array(6).fill("term=apple&page=2"))
    }).pipe(setup()))

  it.effect("keeps its term where the query parameters name another", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple", { urlParams: [["term", "pear"], ["page", "2"], ["term", "plum"]] })
      expect((yield* seen("search")).map(({ query }) => query)).toEqual(["term=apple&page=2"])
    }).pipe(setup()))

  it.effect("sends nothing where a query parameter holds half of a surrogate pair", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(NutritionAdvisor.search("apple", { urlParams: { tag: "\ud800" } }))
      expect(error).toMatchObject({ _tag: "BadRequest", operation: "search" })
      expect((yield* counters).exchanges).toBe(0)
    }).pipe(setup()))

  it.effect("sends further headers", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple", { headers: { "Accept-Language": "de" } })
      expect((yield* seen("search")).map(({ headers }) => headers["accept-language"])).toEqual(["de"])
    }).pipe(setup()))

  it.effect("keeps its two headers where the further ones name others", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple", { headers: { AUTHORIZATION: "Basic own", "service-ID": "own" } })
      const [request] = yield* seen("search")
      expect([plain(request?.authorization ?? Option.none()), plain(request?.serviceId ?? Option.none())]).toEqual([
        "Bearer simulated-1-1",
        "3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00"
      ])
    }).pipe(setup()))

  it.effect.each([
    { "x-trace": "a\r\nx-evil: 1" },
    { "x-trace": "a\n" },
    { "x-trace": "\u0000" },
    { "x-trace": "🥑" },
    { "x trace": "a" },
    { "x-trace\r\n": "a" },
    { "": "a" }
  ])("sends nothing where HTTP does not allow a header: %j", (headers) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(NutritionAdvisor.search("apple", { headers }))
      expect(error).toMatchObject({ _tag: "BadRequest", operation: "search" })
      expect((yield* counters).exchanges).toBe(0)
    }).pipe(setup()))

  it.effect("is sent anew each time its effect is run", () =>
    Effect.gen(function*() {
      const search = NutritionAdvisor.search("apple")
      yield* Effect.repeatN(search, 2)
      expect(yield* counters).toMatchObject({ exchanges: 1, searches: 3 })
    }).pipe(setup()))
})

describe("searchAs", () => {
  const throwing = (thrown: () => unknown) =>
    Schema.transform(Schema.Unknown, Schema.Unknown, {
      strict: false,
      decode: () => {
        throw thrown()
      },
      encode: (value) => value
    })

  const bug = new Date(Number.NaN)

  it.effect.each<readonly [string, () => unknown]>([
    ["toISOString of no date", () => bug.toISOString()],
    ["repeat(-1)", () => "x".repeat(-1)],
    ["an array of length -1", () => new Array(-1)],
    ["a RangeError of its own", () => new RangeError("the portion is out of range")],
    ["an error that names the stack and is no RangeError", () => new Error("Maximum call stack size exceeded")],
    ["a text", () => "Maximum call stack size exceeded"]
  ])("leaves a bug of the schema a defect: %s", ([, thrown]) =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(NutritionAdvisor.searchAs(throwing(thrown))("oats"))
      expect(Exit.isFailure(exit) && Cause.isDie(exit.cause) && Option.isNone(Cause.failureOption(exit.cause)))
        .toBe(true)
    }).pipe(setup()))

  it.effect.each<readonly [string, () => unknown]>([
    ["as V8 does", () => new RangeError("Maximum call stack size exceeded")],
    ["as JavaScriptCore does", () => new RangeError("Maximum call stack size exceeded.")],
    ["as SpiderMonkey does", () => Object.assign(new Error("too much recursion"), { name: "InternalError" })]
  ])("is Schema where the stack overflows, %s", ([, thrown]) =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(NutritionAdvisor.searchAs(throwing(thrown))("oats"))).toMatchObject({
        _tag: "UnexpectedResponse",
        reason: "Schema"
      })
    }).pipe(setup()))

  const Payload = Schema.Struct({ total: Schema.NumberFromString })

  it.effect("decodes the payload", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: { total: "3" } })
      expect(yield* NutritionAdvisor.searchAs(Payload)("apple")).toEqual({ total: 3 })
    }).pipe(setup()))

  it.effect("ends as UnexpectedResponse with reason Schema for a payload of another shape", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: { total: "three" } })
      expect(yield* Effect.flip(NutritionAdvisor.searchAs(Payload)("apple"))).toEqual(
        new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 200, reason: "Schema" })
      )
    }).pipe(setup()))

  it.effect("is NotJson for a payload that is no JSON", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: "<html>" })
      expect(yield* Effect.flip(NutritionAdvisor.searchAs(Payload)("apple"))).toMatchObject({ reason: "NotJson" })
    }).pipe(setup()))

  it.effect("hands its options on", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: { total: "3" } })
      yield* NutritionAdvisor.searchAs(Payload)("apple", { urlParams: { page: 2 } })
      expect((yield* seen("search")).map(({ query }) => query)).toEqual(["term=apple&page=2"])
    }).pipe(setup()))

  it.effect("lets a schema ask for a service", () =>
    Effect.gen(function*() {
      class Factor extends Context.Tag("test/Factor")<Factor, number>() {}
      const Scaled = Schema.transformOrFail(Schema.Number, Schema.Number, {
        strict: true,
        decode: (value) => Effect.map(Factor, (factor) => value * factor),
        encode: Effect.succeed
      })
      yield* respondNext("search", { status: 200, body: 7 })
      const scaled = NutritionAdvisor.searchAs(Scaled)("apple")
      expect(yield* Effect.provideService(scaled, Factor, 6)).toBe(42)
    }).pipe(setup()))
})

describe("customer identifier", () => {
  const pairs = Effect.map(
    seen("search"),
    (requests) => requests.map(({ authorization, serviceId }) => [plain(authorization), plain(serviceId)])
  )

  it.effect("is sent in Service-ID next to the token it came with", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect(yield* pairs).toEqual([["Bearer simulated-1-1", "customer-1"]])
    }).pipe(setup({}, { customerId: "customer-1" })))

  it.effect("is replaced together with the token", () =>
    Effect.gen(function*() {
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
    }).pipe(setup({}, { customerId: "customer-1" })))

  it.effect("is the configured one where there is one", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: {} })
      yield* NutritionAdvisor.search("apple")
      expect(yield* pairs).toEqual([["Bearer simulated-1-1", "from-the-dashboard"]])
    }).pipe(setup({ serviceId: "from-the-dashboard" })))

  it.effect("is sent in the header that serviceIdHeader names", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect(yield* pairs).toEqual([["Bearer simulated-1-1", "3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00"]])
    }).pipe(setup({ serviceIdHeader: "X-Customer" }, { serviceIdHeader: "X-Customer" })))

  it.effect("is not sent in Service-ID where serviceIdHeader names another", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect((yield* seen("search")).map(({ headers }) => headers["service-id"])).toEqual([undefined])
    }).pipe(setup({ serviceIdHeader: "X-Customer" }, { serviceIdHeader: "X-Customer" })))

  it.effect.each([undefined, null, "", "  "])(
    "ends a search as MissingServiceId, with no data request: %j",
    (id) =>
      Effect.gen(function*() {
        yield* respondAlways("token", {
          status: 200,
          body: { access_token: "token-1", expires_in: 3600, customer_id: id }
        })
        expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
          new NutritionAdvisorError.MissingServiceId({ operation: "token" })
        )
        expect((yield* counters).searches).toBe(0)
      }).pipe(setup())
  )
})

describe("a rejected token", () => {
  const authorizations = Effect.map(
    seen("search"),
    (requests) => requests.map(({ authorization }) => plain(authorization))
  )

  it.effect.each([401, 403])(
    "is renewed once for a %d, and the search sent once more",
    (status) =>
      Effect.gen(function*() {
        yield* respondNext("search", { status })
        yield* NutritionAdvisor.search("apple")
        expect(yield* counters).toMatchObject({ exchanges: 2, searches: 2 })
      }).pipe(setup())
  )

  it.effect("gives way to the new one in the second request", () =>
    Effect.gen(function*() {
      yield* respondNext("search", rejected)
      yield* NutritionAdvisor.search("apple")
      expect(yield* authorizations).toEqual(["Bearer simulated-1-1", "Bearer simulated-1-2"])
    }).pipe(setup()))

  it.effect("leaves the caller with the answer of the second request", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 403, body: { answer: 1 } }, { status: 200, body: { answer: 2 } })
      expect(yield* NutritionAdvisor.search("apple")).toEqual({ answer: 2 })
    }).pipe(setup()))

  it.effect("sends the same query and headers twice", () =>
    Effect.gen(function*() {
      yield* respondNext("search", rejected)
      yield* NutritionAdvisor.search("a b", { urlParams: { page: 2 }, headers: { "x-trace": "1" } })
      const [first, second] = yield* seen("search")
      expect([second?.query, second?.headers]).toEqual([first?.query, first?.headers])
    }).pipe(setup()))

  it.effect("is told by the statuses of rejectedStatuses alone", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 401 })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
        new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 401, reason: "Status" })
      )
      expect(yield* counters).toMatchObject({ exchanges: 1, searches: 1 })
    }).pipe(setup({ rejectedStatuses: [403] })))

  it.effect("may be told by a status that is not in the default", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 419 })
      yield* NutritionAdvisor.search("apple")
      expect(yield* counters).toMatchObject({ exchanges: 2, searches: 2 })
    }).pipe(setup({ rejectedStatuses: [419] })))

  it.effect("ends as RejectedAgain after exactly two searches", () =>
    Effect.gen(function*() {
      yield* respondAlways("search", rejected)
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
        new NutritionAdvisorError.Forbidden({ operation: "search", status: 403, reason: "RejectedAgain" })
      )
      expect(yield* counters).toMatchObject({ exchanges: 2, searches: 2 })
    }).pipe(setup()))

  it.effect("ends as RejectedAgain with the status of the second answer", () =>
    Effect.gen(function*() {
      yield* respondNext("search", rejected, { status: 401 })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toMatchObject({ status: 401 })
    }).pipe(setup()))

  it.effect("ends as TokenUnchanged, with no second search, where the exchange hands it back", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.setHandsBackToken(true)
      yield* respondNext("search", rejected)
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
        new NutritionAdvisorError.Forbidden({ operation: "search", status: 403, reason: "TokenUnchanged" })
      )
      expect(yield* counters).toMatchObject({ exchanges: 2, searches: 1 })
    }).pipe(setup()))

  it.effect("ends as CoolingDown, with no exchange, soon after a renewal that did not help", () =>
    Effect.gen(function*() {
      yield* respondAlways("search", { status: 401 })
      yield* Effect.flip(NutritionAdvisor.search("apple"))
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
        new NutritionAdvisorError.Forbidden({ operation: "search", status: 401, reason: "CoolingDown" })
      )
      expect((yield* counters).exchanges).toBe(2)
    }).pipe(setup()))

  it.effect("keeps the operation of the token error that ends its renewal", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      yield* respondNext("search", rejected)
      yield* respondAlways("token", { status: 400 })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toMatchObject({
        _tag: "BadRequest",
        operation: "token",
        status: 400
      })
    }).pipe(setup()))

  it.effect.each([401, 403])(
    "is no matter where the token route refuses the key with %d",
    (status) =>
      Effect.gen(function*() {
        yield* respondAlways("token", { status })
        expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
          new NutritionAdvisorError.Forbidden({ operation: "token", status, reason: "KeyRejected" })
        )
        expect(yield* counters).toMatchObject({ exchanges: 1, searches: 0 })
      }).pipe(setup())
  )

  it.effect("keeps KeyRejected where the token route refuses the key at its renewal", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      yield* respondNext("search", rejected)
      yield* respondNext("token", { status: 401 })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
        new NutritionAdvisorError.Forbidden({ operation: "token", status: 401, reason: "KeyRejected" })
      )
    }).pipe(setup()))

  it.effect("costs one exchange for a hundred searches at once", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* NutritionAdvisor.search("apple")
      yield* simulator.revoke
      yield* settle(Effect.all(Effect.replicate(NutritionAdvisor.search("apple"), 100), { concurrency: "unbounded" }))
      expect((yield* counters).exchanges).toBe(2)
    }).pipe(setup()))
})

describe("any other answer", () => {
  it.effect.each([400, 402, 404, 409, 422, 429, 500, 502, 503, 302])(
    "leaves the token alone: %d",
    (status) =>
      Effect.gen(function*() {
        yield* respondNext("search", { status })
        yield* Effect.flip(NutritionAdvisor.search("apple"))
        yield* NutritionAdvisor.search("apple")
        expect(yield* counters).toMatchObject({ exchanges: 1, searches: 2 })
      }).pipe(setup())
  )

  it.effect.each(
    [
      [400, { _tag: "BadRequest", operation: "search", status: 400 }],
      [404, { _tag: "UnexpectedResponse", operation: "search", status: 404, reason: "Status" }],
      [422, { _tag: "UnexpectedResponse", operation: "search", status: 422, reason: "Status" }],
      [429, { _tag: "TooManyRequests", operation: "search", status: 429 }],
      [500, { _tag: "ServerError", operation: "search", status: 500 }],
      [503, { _tag: "ServerError", operation: "search", status: 503 }]
    ] as const
  )("has an error of its own (case %#)", ([status, expected]) =>
    Effect.gen(function*() {
      yield* respondNext("search", { status })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toMatchObject(expected)
    }).pipe(setup()))

  it.effect.each([429, 503])("tells the seconds of Retry-After: %d", (status) =>
    Effect.gen(function*() {
      yield* respondNext("search", { status, headers: { "retry-after": "17" } })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toMatchObject({ retryAfter: 17 })
    }).pipe(setup()))

  it.effect("tells the seconds until the date of Retry-After", () =>
    Effect.gen(function*() {
      yield* Time.set(Date.UTC(2026, 0, 1, 12, 0, 0))
      yield* respondNext("search", { status: 429, headers: { "retry-after": "Thu, 01 Jan 2026 12:01:00 GMT" } })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toMatchObject({ retryAfter: 60 })
    }).pipe(setup()))

  it.effect("has no retryAfter where the service names no time", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 429 })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).not.toHaveProperty("retryAfter")
    }).pipe(setup()))

  it.effect.each([400, 404, 409, 422, 429, 500])(
    "keeps what the service said, redacted: %d",
    (status) =>
      Effect.gen(function*() {
        const body = "no: demo-key-7f3a simulated-1-1 3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00"
        yield* respondNext("search", { status, headers: { "content-type": "text/plain" }, body })
        const error = yield* Effect.flip(NutritionAdvisor.search("apple"))
        expect(error).toMatchObject({ body: Redacted.make(body) })
        expect(error).not.toHaveProperty("detail")
        expect(`${error.message} ${JSON.stringify(error)}`).not.toContain("demo-key-7f3a")
      }).pipe(setup())
  )

  it.effect("keeps what the service said of the replay that was rejected too", () =>
    Effect.gen(function*() {
      const rejecting = (body: string) => ({ status: 403, headers: { "content-type": "text/plain" }, body })
      yield* respondNext("search", rejecting("first"))
      yield* respondNext("search", rejecting("second"))
      yield* respondNext("search", rejecting("third"))
      const errors = yield* Effect.replicateEffect(Effect.flip(NutritionAdvisor.search("apple")), 2)
      expect(errors).toMatchObject([
        { _tag: "Forbidden", reason: "RejectedAgain", body: Redacted.make("second") },
        { _tag: "Forbidden", reason: "CoolingDown", body: Redacted.make("third") }
      ])
    }).pipe(setup()))

  it.effect.each(
    (["search", "token"] as const).flatMap((operation) =>
      [301, 302, 303, 307, 308].map((status) => ({ operation, status }))
    )
  )("is not followed by $operation where it is a redirect: $status", ({ operation, status }) =>
    Effect.gen(function*() {
      yield* respondNext(operation, { status, headers: { location: "https://other.example/v2/x" } })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
        new NutritionAdvisorError.UnexpectedResponse({ operation, status, reason: "Redirect" })
      )
      expect(yield* counters).toMatchObject({ exchanges: 1, searches: operation === "search" ? 1 : 0, requests: 0 })
    }).pipe(setup()))

  it.effect("is not followed by fetch where it is a redirect", () =>
    Effect.gen(function*() {
      const modes: Array<string | undefined> = []
      const fetch: typeof globalThis.fetch = (input, init) => {
        modes.push(init?.redirect)
        return Promise.resolve(
          String(input).includes("token-cache")
            ? Response.json({ access_token: "token-1", customer_id: "customer-1", expires_in: 3600 })
            : new Response(null, { status: 307, headers: { location: "https://other.example/" } })
        )
      }
      const error = yield* Effect.flip(NutritionAdvisor.search("apple")).pipe(
        Effect.provide(NutritionAdvisor.layer(defaults).pipe(Layer.provide(FetchHttpClient.layer))),
        Effect.provideService(FetchHttpClient.Fetch, fetch)
      )
      expect([error._tag, ...modes]).toEqual(["UnexpectedResponse", "manual", "manual"])
    }))
})

describe("the body of an answer", () => {
  it.effect.each(
    [
      ["empty", ""],
      ["HTML", "<!doctype html>"],
      ["truncated", "{\"results\":["],
      ["not UTF-8", new Uint8Array([0x22, 0xff, 0x22])]
    ] as const
  )("is NotJson (case %#)", ([_, body]) =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
        new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 200, reason: "NotJson" })
      )
    }).pipe(setup()))

  it.effect("is NotJson where there is none (204)", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 204 })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toMatchObject({ status: 204, reason: "NotJson" })
    }).pipe(setup()))

  it.effect("may begin with a byte order mark", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: "\ufeff{\"total\":1}" })
      expect(yield* NutritionAdvisor.search("apple")).toEqual({ total: 1 })
    }).pipe(setup()))

  it.effect("may have exactly maxResponseBytes", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: JSON.stringify("x".repeat(98)) })
      expect(yield* NutritionAdvisor.search("apple")).toBe("x".repeat(98))
    }).pipe(setup({ maxResponseBytes: 100 })))

  it.effect.each([
    {},
    { "content-length": "101" },
    { "content-length": "5", "content-encoding": "gzip" },
    { "content-length": "many" },
    { "content-length": "-1" }
  ])("is TooLarge above maxResponseBytes with the headers %j", (headers) =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, headers, body: JSON.stringify("x".repeat(99)) })
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
        new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 200, reason: "TooLarge" })
      )
    }).pipe(setup({ maxResponseBytes: 100 })))

  it.effect("does not bound the token answer by maxResponseBytes", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: 1 })
      expect(yield* NutritionAdvisor.search("apple")).toBe(1)
    }).pipe(setup({ maxResponseBytes: 10 })))
})

describe("requestTimeout", () => {
  it.effect("ends a search that gets no answer", () =>
    Effect.gen(function*() {
      yield* respondNext("search", "hang")
      const fiber = yield* Effect.fork(Effect.flip(NutritionAdvisor.search("apple")))
      yield* Time.pass("5 seconds")
      expect(yield* Fiber.join(fiber)).toEqual(
        new NutritionAdvisorError.TransportError({ operation: "search", reason: "Timeout" })
      )
    }).pipe(setup({ requestTimeout: "5 seconds" })))

  it.effect("is 30 seconds where no other is given", () =>
    Effect.gen(function*() {
      yield* respondNext("search", "hang")
      const fiber = yield* Effect.fork(Effect.flip(NutritionAdvisor.search("apple")))
      yield* Time.pass("29999 millis")
      const before = yield* Fiber.poll(fiber)
      yield* Time.pass("1 millis")
      yield* Fiber.join(fiber)
      expect(before).toEqual(Option.none())
    }).pipe(setup()))

  it.effect("interrupts the request", () =>
    Effect.gen(function*() {
      const interrupted = yield* Ref.make(false)
      const client = HttpClient.make((request, url) =>
        url.pathname.includes("token-cache")
          ? Effect.succeed(
            HttpClientResponse.fromWeb(
              request,
              Response.json({ access_token: "token-1", customer_id: "customer-1", expires_in: 3600 })
            )
          )
          : Effect.onInterrupt(Effect.never, () => Ref.set(interrupted, true))
      )
      yield* settle(Effect.exit(NutritionAdvisor.search("apple"))).pipe(
        Effect.provide(NutritionAdvisor.layer(defaults)),
        Effect.provideService(HttpClient.HttpClient, client)
      )
      expect(yield* Ref.get(interrupted)).toBe(true)
    }))

  it.effect("leaves the token alone", () =>
    Effect.gen(function*() {
      yield* respondNext("search", "hang")
      yield* settle(Effect.exit(NutritionAdvisor.search("apple")))
      yield* NutritionAdvisor.search("apple")
      expect((yield* counters).exchanges).toBe(1)
    }).pipe(setup()))

  it.effect("counts from the request on, not from the wait for a token", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.setLatency("token", "4 seconds")
      yield* simulator.setLatency("search", "4 seconds")
      yield* settle(NutritionAdvisor.search("apple"))
      expect((yield* counters).searches).toBe(1)
    }).pipe(setup({ requestTimeout: "5 seconds" })))
})

describe("a dropped connection", () => {
  it.effect("is a TransportError with reason Connection", () =>
    Effect.gen(function*() {
      yield* respondNext("search", "drop")
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
        new NutritionAdvisorError.TransportError({ operation: "search", reason: "Connection" })
      )
    }).pipe(setup()))

  it.effect("is not retried for a search", () =>
    Effect.gen(function*() {
      yield* respondNext("search", "drop")
      yield* Effect.exit(NutritionAdvisor.search("apple"))
      expect((yield* counters).searches).toBe(1)
    }).pipe(setup()))
})

describe("httpClient", () => {
  it.effect.each(["/v2/plan", "v2/plan", "/v2/./plan", "v2/other/../plan"])(
    "takes a path below the base URL: %s",
    (path) =>
      Effect.gen(function*() {
        yield* execute(HttpClientRequest.get(path))
        expect((yield* seen("request")).map(({ path }) => path)).toEqual(["/v2/plan"])
      }).pipe(setup({ baseUrl: `${Simulator.baseUrl}/proxy` }, { ...planRoutes, pathPrefix: "/proxy" }))
  )

  it.effect("takes an absolute URL below the base URL", () =>
    Effect.gen(function*() {
      yield* execute(HttpClientRequest.get(`${Simulator.baseUrl}/proxy/v2/plan`))
      expect((yield* seen("request")).map(({ path }) => path)).toEqual(["/v2/plan"])
    }).pipe(setup({ baseUrl: `${Simulator.baseUrl}/proxy` }, { ...planRoutes, pathPrefix: "/proxy" })))

  it.effect.each([
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
  ])("sends nothing where a URL leaves the base URL: %j", (url) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(execute(HttpClientRequest.get(url)))
      expect(error).toMatchObject({ _tag: "BadRequest", operation: "request" })
      expect(error).not.toHaveProperty("status")
      expect((yield* Effect.flatMap(Simulator.Simulator, ({ requests }) => requests)).length).toBe(0)
    }).pipe(setup({ baseUrl: `${Simulator.baseUrl}/proxy` }, { ...planRoutes, pathPrefix: "/proxy" })))

  it.effect.each([{ "x-trace": "a\r\nx-evil: 1" }, { "x trace": "a" }, { authorization: "a\nb" }])(
    "sends nothing where HTTP does not allow a header: %j",
    (headers) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(execute(HttpClientRequest.get("/v2/plan", { headers })))
        expect(error).toMatchObject({ _tag: "BadRequest", operation: "request" })
        expect((yield* counters).exchanges).toBe(0)
      }).pipe(setup({}, planRoutes))
  )

  it.effect("sends the query of the URL and the parameters of the request", () =>
    Effect.gen(function*() {
      yield* execute(HttpClientRequest.get("/v2/plan?a=1%202", { urlParams: { b: "x y+z", c: "&" } }))
      expect((yield* seen("request")).map(({ query }) => query)).toEqual(["a=1%202&b=x%20y%2Bz&c=%26"])
    }).pipe(setup({}, planRoutes)))

  it.effect("sends both headers", () =>
    Effect.gen(function*() {
      yield* execute(HttpClientRequest.get("/v2/plan"))
      const [request] = yield* seen("request")
      expect([plain(request?.authorization ?? Option.none()), plain(request?.serviceId ?? Option.none())]).toEqual([
        "Bearer simulated-1-1",
        "customer-1"
      ])
    }).pipe(setup({}, { ...planRoutes, customerId: "customer-1" })))

  it.effect("replaces both headers where the request has its own", () =>
    Effect.gen(function*() {
      yield* execute(
        HttpClientRequest.get("/v2/plan", {
          headers: { Authorization: "Basic own", "SERVICE-ID": "own", "x-trace": "1" }
        })
      )
      const [request] = yield* seen("request")
      expect([
        plain(request?.authorization ?? Option.none()),
        plain(request?.serviceId ?? Option.none()),
        request?.headers["x-trace"]
      ]).toEqual(["Bearer simulated-1-1", "customer-1", "1"])
    }).pipe(setup({}, { ...planRoutes, customerId: "customer-1" })))

  it.effect("gives an answer whose body can be read", () =>
    Effect.gen(function*() {
      const response = yield* execute(HttpClientRequest.get("/v2/plan"))
      expect(yield* response.json).toEqual({ plan: "basic" })
    }).pipe(setup({}, planRoutes)))

  it.effect("gives the headers of the answer", () =>
    Effect.gen(function*() {
      yield* respondNext("request", { status: 200, headers: { "x-left": "3" }, body: {} })
      expect((yield* execute(HttpClientRequest.get("/v2/plan"))).headers["x-left"]).toBe("3")
    }).pipe(setup({}, planRoutes)))

  it.effect("gives an answer without a body", () =>
    Effect.gen(function*() {
      expect((yield* execute(HttpClientRequest.del("/v2/plan"))).status).toBe(204)
    }).pipe(setup({}, planRoutes)))

  it.effect("keeps both headers out of the request on its answer", () =>
    Effect.gen(function*() {
      const { request } = yield* execute(
        HttpClientRequest.get("/v2/plan", { headers: { authorization: "own", "service-id": "own", "x-trace": "1" } })
      )
      expect(Object.keys(request.headers).sort()).toEqual(["x-trace"])
    }).pipe(setup({}, planRoutes)))

  it.effect("keeps the token out of every text of its answer", () =>
    Effect.gen(function*() {
      const response = yield* execute(HttpClientRequest.get("/v2/plan"))
      expect(JSON.stringify([response, response.request])).not.toMatch(/simulated-1-1|customer-1|demo-key/)
    }).pipe(setup({}, { ...planRoutes, customerId: "customer-1" })))

  it.effect("sends a JSON body with its type", () =>
    Effect.gen(function*() {
      const request = yield* HttpClientRequest.bodyJson(HttpClientRequest.post("/v2/plan"), { plan: "größer 🥑" })
      yield* execute(request)
      const [sent] = yield* seen("request")
      expect([new TextDecoder().decode(sent?.body), sent?.headers["content-type"]]).toEqual([
        "{\"plan\":\"größer 🥑\"}",
        "application/json"
      ])
    }).pipe(setup({}, planRoutes)))

  it.effect("sends the same bytes again after a renewal", () =>
    Effect.gen(function*() {
      yield* respondNext("request", rejected)
      const request = yield* HttpClientRequest.bodyJson(HttpClientRequest.post("/v2/plan"), { plan: "größer 🥑" })
      yield* execute(request)
      const [first, second] = yield* seen("request")
      expect([first?.method, first?.body, first?.headers]).toEqual([second?.method, second?.body, second?.headers])
    }).pipe(setup({}, planRoutes)))

  it.effect("carries the new token after a renewal", () =>
    Effect.gen(function*() {
      yield* respondNext("request", rejected)
      yield* execute(HttpClientRequest.get("/v2/plan"))
      expect((yield* seen("request")).map(({ authorization }) => plain(authorization))).toEqual([
        "Bearer simulated-1-1",
        "Bearer simulated-1-2"
      ])
    }).pipe(setup({}, planRoutes)))

  const streamed = HttpClientRequest.bodyStream(
    HttpClientRequest.post("/v2/plan"),
    Stream.make(new Uint8Array([1, 2, 3]))
  )

  it.effect("sends a streamed body", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flatMap(execute(streamed), ({ json }) => json)).toEqual({ received: 3 })
    }).pipe(setup({}, planRoutes)))

  it.effect("does not send a streamed body twice", () =>
    Effect.gen(function*() {
      yield* respondNext("request", rejected)
      expect(yield* Effect.flip(execute(streamed))).toEqual(
        new NutritionAdvisorError.Forbidden({ operation: "request", status: 403, reason: "BodyNotReplayable" })
      )
      expect((yield* counters).requests).toBe(1)
    }).pipe(setup({}, planRoutes)))

  it.effect.each([
    ["text", "a=1"],
    ["bytes", new TextEncoder().encode("a=1")],
    ["parameters", new URLSearchParams({ a: "1" })]
  ])("sends a raw body of %s once more after a rejection", ([_, body]) =>
    Effect.gen(function*() {
      yield* respondNext("request", rejected)
      const request = HttpClientRequest.setBody(HttpClientRequest.post("/v2/plan"), HttpBody.raw(body))
      expect(yield* Effect.flatMap(execute(request), ({ json }) => json)).toEqual({ received: 3 })
      expect((yield* counters).requests).toBe(2)
    }).pipe(setup({}, planRoutes)))

  it.effect("leaves a new token for the request after a streamed body that was rejected", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* execute(HttpClientRequest.get("/v2/plan"))
      yield* simulator.revoke
      yield* Effect.flip(execute(streamed))
      expect((yield* execute(streamed)).status).toBe(201)
    }).pipe(setup({}, planRoutes)))

  it.effect.each(
    [
      [{ status: 400 }, { _tag: "BadRequest", status: 400 }],
      [{ status: 404 }, { _tag: "UnexpectedResponse", status: 404, reason: "Status" }],
      [{ status: 302 }, { _tag: "UnexpectedResponse", status: 302, reason: "Redirect" }],
      [{ status: 429, headers: { "retry-after": "3" } }, { _tag: "TooManyRequests", retryAfter: 3 }],
      [{ status: 500 }, { _tag: "ServerError", status: 500 }],
      ["drop", { _tag: "TransportError", reason: "Connection" }],
      ["hang", { _tag: "TransportError", reason: "Timeout" }]
    ] as const
  )("ends in the errors of a search (case %#)", ([answer, expected]) =>
    Effect.gen(function*() {
      yield* respondNext("request", answer)
      expect(yield* settle(Effect.flip(execute(HttpClientRequest.get("/v2/plan"))))).toMatchObject({
        operation: "request",
        ...expected
      })
    }).pipe(setup({}, planRoutes)))

  it.effect("ends as RejectedAgain after exactly two requests", () =>
    Effect.gen(function*() {
      yield* respondAlways("request", rejected)
      expect(yield* Effect.flip(execute(HttpClientRequest.get("/v2/plan")))).toEqual(
        new NutritionAdvisorError.Forbidden({ operation: "request", status: 403, reason: "RejectedAgain" })
      )
      expect(yield* counters).toMatchObject({ exchanges: 2, requests: 2 })
    }).pipe(setup({}, planRoutes)))

  it.effect("is TooLarge above maxResponseBytes", () =>
    Effect.gen(function*() {
      yield* respondNext("request", { status: 200, body: "x".repeat(101) })
      expect(yield* Effect.flip(execute(HttpClientRequest.get("/v2/plan")))).toMatchObject({ reason: "TooLarge" })
    }).pipe(setup({ maxResponseBytes: 100 }, planRoutes)))

  it.effect("works with the combinators of HttpClient", () =>
    Effect.gen(function*() {
      const { httpClient } = yield* NutritionAdvisor.NutritionAdvisor
      const plans = HttpClient.mapRequest(httpClient, HttpClientRequest.prependUrl("/v2"))
      const response = yield* plans.get("/plan")
      expect(yield* response.json).toEqual({ plan: "basic" })
    }).pipe(setup({}, planRoutes)))
})

describe("layerConfig", () => {
  const required = new Map([
    ["NUTRITION_ADVISOR_BASE_URL", Simulator.baseUrl],
    ["NUTRITION_ADVISOR_LICENSE_KEY", "demo-key-7f3a"]
  ])

  const configured = (more: Readonly<Record<string, string>>, without?: string) => {
    const values = new Map([...required, ...Object.entries(more)])
    if (without !== undefined) values.delete(without)
    return Effect.provide(
      NutritionAdvisor.layerConfig().pipe(
        Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(values))),
        Layer.provideMerge(Simulator.layerHttpClient())
      )
    )
  }

  it.effect("reads the base URL and the license key", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect(yield* counters).toMatchObject({ exchanges: 1, searches: 1 })
    }).pipe(configured({})))

  it.effect("reads the token route", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect((yield* seen("token")).map(({ path }) => path)).toEqual(["/v2/token-cache/unified/oauth/token/{key}"])
    }).pipe(configured({ NUTRITION_ADVISOR_TOKEN_ROUTE: "unified" })))

  it.effect("reads the customer identifier and its header", () =>
    Effect.gen(function*() {
      yield* respondNext("search", { status: 200, body: {} })
      yield* NutritionAdvisor.search("apple")
      expect((yield* seen("search")).map(({ headers }) => headers["x-customer"])).toEqual(["from-the-dashboard"])
    }).pipe(configured({
      NUTRITION_ADVISOR_SERVICE_ID: "from-the-dashboard",
      NUTRITION_ADVISOR_SERVICE_ID_HEADER: "X-Customer"
    })))

  it.effect("counts blank optional settings as unset", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      expect((yield* seen("search")).map(({ serviceId }) => plain(serviceId))).toEqual([
        "3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00"
      ])
    }).pipe(configured({
      NUTRITION_ADVISOR_TOKEN_ROUTE: "",
      NUTRITION_ADVISOR_SERVICE_ID: " ",
      NUTRITION_ADVISOR_SERVICE_ID_HEADER: "\t"
    })))

  it.effect.each(["NUTRITION_ADVISOR_BASE_URL", "NUTRITION_ADVISOR_LICENSE_KEY"])(
    "ends in a ConfigError that names %s where it is missing",
    (name) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(configured({}, name)(NutritionAdvisor.search("apple")))
        const message = expect.stringContaining(`The variable ${name} is not set.`)
        expect(error).toMatchObject({ _tag: "ConfigError", message })
      })
  )

  it.effect("ends in a ConfigError for a token route that is none", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        configured({ NUTRITION_ADVISOR_TOKEN_ROUTE: "advisor" })(NutritionAdvisor.search("apple"))
      )
      expect(error).toMatchObject({ _tag: "ConfigError", message: expect.stringContaining("Expected advisor-licence") })
      expect(String(error)).toContain("NUTRITION_ADVISOR_TOKEN_ROUTE")
    }))

  it.effect.each(
    [
      [{ NUTRITION_ADVISOR_BASE_URL: "http://advisor.example" }, "baseUrl"],
      [{ NUTRITION_ADVISOR_LICENSE_KEY: "" }, "licenseKey"],
      [{ NUTRITION_ADVISOR_LICENSE_KEY: "<your key>" }, "licenseKey"],
      [{ NUTRITION_ADVISOR_SERVICE_ID: "é" }, "serviceId"],
      [{ NUTRITION_ADVISOR_SERVICE_ID_HEADER: "a b" }, "serviceIdHeader"]
    ] as const
  )(
    "ends in a ConfigurationError for a setting that can't work (case %#)",
    ([values, field]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(configured(values)(NutritionAdvisor.search("apple")))
        expect(error).toMatchObject({ _tag: "ConfigurationError", field })
      })
  )
})

describe("layer", () => {
  it.effect.each(
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
  )("refuses a setting that can't work (case %#)", ([options, field]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(setup(options)(NutritionAdvisor.search("apple")))
      expect(error).toMatchObject({ _tag: "ConfigurationError", field })
    }))

  it.effect("gives the TokenProvider too", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      const tokens = yield* TokenProvider.TokenProvider
      expect((yield* tokens.status).state).toBe("fresh")
    }).pipe(setup()))

  it.effect("sends nothing while it is built", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.NutritionAdvisor
      expect((yield* Effect.flatMap(Simulator.Simulator, ({ requests }) => requests)).length).toBe(0)
    }).pipe(setup()))
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

  const settledAfter = (...answers: ReadonlyArray<Simulator.Answer>) =>
    Effect.gen(function*() {
      const renewed = AccessToken.make({ ...token, value: "renewed-token", scope: undefined })
      const { calls, layer } = yield* provider(renewed)
      yield* Effect.gen(function*() {
        yield* respondNext("search", ...answers)
        yield* settle(Effect.exit(NutritionAdvisor.search("apple")))
      }).pipe(
        Effect.provide(
          NutritionAdvisor.layerWithoutTokens(defaults).pipe(
            Layer.provide(layer),
            Layer.provideMerge(Simulator.layerHttpClient())
          )
        )
      )
      return yield* Ref.get(calls)
    })

  it.effect("sends the token and the identifier of the provider in its context", () =>
    Effect.gen(function*() {
      const { layer } = yield* provider(token)
      const [request] = yield* Effect.gen(function*() {
        yield* respondNext("search", { status: 200, body: {} })
        yield* NutritionAdvisor.search("apple")
        expect((yield* counters).exchanges).toBe(0)
        return yield* seen("search")
      }).pipe(
        Effect.provide(
          NutritionAdvisor.layerWithoutTokens(defaults).pipe(
            Layer.provide(layer),
            Layer.provideMerge(Simulator.layerHttpClient())
          )
        )
      )
      expect([plain(request?.authorization ?? Option.none()), plain(request?.serviceId ?? Option.none())]).toEqual([
        "Bearer own-token",
        "own-id"
      ])
    }))

  it.effect.each(
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
  )("tells the provider how a request ended for its token (case %#)", ([answers, expected]) =>
    Effect.gen(function*() {
      expect(yield* settledAfter(...answers)).toEqual(expected)
    }))
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

  it.effect("is warned of while the first one is open", () =>
    Effect.gen(function*() {
      const warnings = yield* warningsOf(Effect.zipRight(build("warned-of"), build("warned-of")))
      expect(warnings).toEqual([expect.stringContaining("second NutritionAdvisor layer")])
    }))

  it.effect("is not warned of where the first one was closed", () =>
    Effect.gen(function*() {
      const built = Effect.scoped(build("closed"))
      expect(yield* warningsOf(Effect.zipRight(built, built))).toEqual([])
    }))

  it.effect("is warned of where one of two others was closed", () =>
    Effect.gen(function*() {
      const all = Effect.gen(function*() {
        yield* build("one-closed")
        yield* Time.pass("61 seconds")
        yield* Effect.scoped(build("one-closed"))
        yield* build("one-closed")
      })
      expect(yield* warningsOf(all)).toHaveLength(1)
    }))

  it.effect("is warned of once, however many follow", () =>
    Effect.gen(function*() {
      expect((yield* warningsOf(Effect.repeatN(build("warned-of-once"), 9))).length).toBe(1)
    }))

  it.effect.each([Simulator.baseUrl, "http://127.0.0.1:8787", "http://localhost:8787", "http://[::1]:8787"])(
    "is not warned of over the simulator at %s",
    (baseUrl) =>
      Effect.gen(function*() {
        const built = build("simulated", baseUrl)
        expect(yield* warningsOf(Effect.zipRight(built, built))).toEqual([])
      })
  )

  it.effect("is warned of without the key", () =>
    Effect.gen(function*() {
      const warnings = yield* warningsOf(Effect.zipRight(build("marker7f3a"), build("marker7f3a")))
      expect(warnings).toHaveLength(1)
      expect(warnings.join()).not.toContain("marker7f3a")
    }))

  it.effect("is not warned of for another key", () =>
    Effect.gen(function*() {
      expect(yield* warningsOf(Effect.zipRight(build("first-of-two"), build("second-of-two")))).toEqual([])
    }))

  it.effect("is not warned of after more than a minute", () =>
    Effect.gen(function*() {
      const later = Effect.zipRight(Time.pass("61 seconds"), build("long-after"))
      expect(yield* warningsOf(Effect.zipRight(build("long-after"), later))).toEqual([])
    }))
})
