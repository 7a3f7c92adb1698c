import { HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect, expectTypeOf } from "@effect/vitest"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { Cause, Context, Effect, Exit, Layer, Logger, Option, Redacted, Schema } from "effect"
import {
  AccessToken,
  NutritionAdvisor,
  NutritionAdvisorError,
  SharedTokenCache,
  TokenProvider
} from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import * as v from "valibot"
import { z } from "zod"
import { arranged } from "../support/doubles/arranged.js"
import { fromPeer } from "../support/doubles/IssuerDouble.js"
import { advisor, execute, requestsOf, settings } from "../support/doubles/simulatedAdvisor.js"
import * as Time from "../support/doubles/Time.js"

const test = arranged(Simulator.Simulator, advisor())

const rejected: Simulator.Reply = { status: 403 }

const planRoutes: Simulator.Options = { routes: { "GET /v2/plan": { status: 200, body: { plan: "basic" } } } }

describe("search", () => {
  test("a second parameter named term is ignored", function*() {
    yield* NutritionAdvisor.search("apple", { urlParams: { term: "rice", page: "2" } })
    expect((yield* requestsOf("search")).map(({ query }) => query)).toEqual(["term=apple&page=2"])
  })

  test("a search is sent below the path of the base URL", function*() {
    yield* NutritionAdvisor.search("apple")
    expect(yield* requestsOf("search")).toHaveLength(1)
  }, advisor({ baseUrl: `${Simulator.baseUrl}/proxy/` }, { pathPrefix: "/proxy" }))

  test("the service receives every character of the term", function*() {
    const term = "?&#+%/ a\r\nb 🥑&term=other"
    yield* NutritionAdvisor.search(term)
    expect((yield* requestsOf("search")).map(({ query }) => [...new URLSearchParams(query)])).toEqual([[[
      "term",
      term
    ]]])
  })

  test.each<readonly [detail: string, term: unknown]>([
    ...["", " ", "\t\r\n", "\u00a0\u2003"].map((term) => ["the search term is blank", term] as const),
    ...["\ud800", "a\udc00b", "\udc00\ud800"].map((term) =>
      ["the search term or a query parameter contains a lone surrogate", term] as const
    ),
    ...[undefined, ["a", "b"]].map((term) => ["the search term is not a string", term] as const)
  ])(
    "nothing is sent if %s: %j",
    function*([detail, term], { counters }) {
      const error = yield* Effect.flip(NutritionAdvisor.search(term as string))
      expect(error).toMatchObject({ _tag: "BadRequest", operation: "search", detail })
      expect(error).not.toHaveProperty("status")
      expect(yield* counters).toMatchObject({ exchanges: 0, searches: 0, requests: 0 })
    }
  )

  test.each([{ page: "\ud800" }, { "\udc00": "1" }])(
    "nothing is sent if a query parameter contains a lone surrogate: %j",
    function*(urlParams, { counters }) {
      const request = execute(HttpClientRequest.get("/v2/plan", { urlParams }))
      const search = NutritionAdvisor.search("apple", { urlParams })
      expect(yield* Effect.flip(search)).toMatchObject({ _tag: "BadRequest", operation: "search" })
      expect(yield* Effect.flip(request)).toMatchObject({ _tag: "BadRequest", operation: "request" })
      expect(yield* counters).toMatchObject({ exchanges: 0, searches: 0, requests: 0 })
    }
  )
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

  test.each<readonly [string, () => unknown]>([
    ["a RangeError that is not a stack overflow", () => new RangeError("the portion is out of range")],
    ["an Error that mentions the stack", () => new Error("Maximum call stack size exceeded")]
  ])("a schema that throws is a defect: %s", function*([, thrown]) {
    const exit = yield* Effect.exit(NutritionAdvisor.searchAs(throwing(thrown))("oats"))
    expect(Exit.isFailure(exit) && Cause.isDie(exit.cause) && Option.isNone(Cause.failureOption(exit.cause)))
      .toBe(true)
  })

  test.each<readonly [string, () => unknown]>([
    ["of V8", () => new RangeError("Maximum call stack size exceeded")],
    ["of JavaScriptCore", () => new RangeError("Maximum call stack size exceeded.")]
  ])("a schema that overflows the stack fails with reason Schema (the RangeError %s)", function*([, thrown]) {
    expect(yield* Effect.flip(NutritionAdvisor.searchAs(throwing(thrown))("oats"))).toMatchObject({
      _tag: "UnexpectedResponse",
      reason: "Schema"
    })
  })

  const Results = Schema.Struct({ results: Schema.Array(Schema.Struct({ name: Schema.String })) })

  const issueOf = (error: NutritionAdvisorError.NutritionAdvisorError) =>
    error._tag === "UnexpectedResponse" && error.issue !== undefined ? Redacted.value(error.issue) : undefined

  test("`issue` says where and why a payload does not match an Effect Schema", function*({ respondNext }) {
    yield* respondNext("search", { status: 200, body: { results: [{ name: 7 }] } })
    const issue = issueOf(yield* Effect.flip(NutritionAdvisor.searchAs(Results)("oats")))
    expect(issue).toContain("[\"results\"]")
    expect(issue).toContain("[\"name\"]")
    expect(issue).toContain("Expected string")
  })

  test.each<readonly [what: string, issues: ReadonlyArray<StandardSchemaV1.Issue>, issue: string]>([
    [
      "a line for each issue of a Standard Schema",
      [{ path: ["results", { key: 0 }, "name"], message: "expected a string" }, { message: "one food at least" }],
      "results.0.name: expected a string\none food at least"
    ],
    ["at most 4,096 characters", [{ message: "x".repeat(10_000) }], "x".repeat(4_096)]
  ])("`issue` has %s", function*([, issues, issue]) {
    const refusing: StandardSchemaV1 = { "~standard": { version: 1, vendor: "test", validate: () => ({ issues }) } }
    expect(issueOf(yield* Effect.flip(NutritionAdvisor.searchAs(refusing)("oats")))).toBe(issue)
  })

  test("a schema can come from effect, zod or valibot", function*({ respondAlways }) {
    yield* respondAlways("search", { status: 200, body: { total: "3" } })
    const ofEffect = Schema.Struct({ total: Schema.NumberFromString })
    const ofZod = z.object({ total: z.string().transform(Number) })
    const ofValibot = v.object({ total: v.pipe(v.string(), v.transform(Number)) })
    const searchAsAny = <A>(schema: NutritionAdvisor.AnySchema<A>) => NutritionAdvisor.searchAs<A>(schema)("oats")
    const totals = yield* Effect.all([
      NutritionAdvisor.searchAs(Schema.standardSchemaV1(ofEffect))("oats"),
      NutritionAdvisor.searchAs(ofZod)("oats"),
      NutritionAdvisor.searchAs(ofValibot)("oats"),
      searchAsAny(ofEffect),
      searchAsAny(ofZod)
    ])
    expect(totals).toEqual(Array(5).fill({ total: 3 }))
    type Total = { total: number }
    expectTypeOf(totals).toEqualTypeOf<[Readonly<Total>, Total, Total, Readonly<Total>, Total]>()
    expectTypeOf<{ parse: (value: unknown) => Total }>().not.toExtend<NutritionAdvisor.AnySchema<Total>>()
  })

  test("a Standard Schema can return a promise", function*({ respondNext }) {
    const validate = async (value: unknown) => Array.isArray(value) ? { value: value.length } : { issues: [] }
    const Length: StandardSchemaV1<unknown, number> = { "~standard": { version: 1, vendor: "of-ones-own", validate } }
    yield* respondNext("search", { status: 200, body: ["oats"] }, { status: 200, body: {} })
    expect(yield* NutritionAdvisor.searchAs(Length)("oats")).toBe(1)
    expect(yield* Effect.flip(NutritionAdvisor.searchAs(Length)("oats"))).toMatchObject({ reason: "Schema" })
  })

  test("a schema can require a service", function*({ respondNext }) {
    class Factor extends Context.Tag("test/Factor")<Factor, number>() {}
    const Scaled = Schema.transformOrFail(Schema.Number, Schema.Number, {
      strict: true,
      decode: (value) => Effect.map(Factor, (factor) => value * factor),
      encode: Effect.succeed
    })
    yield* respondNext("search", { status: 200, body: 7 })
    const scaled = NutritionAdvisor.searchAs(Scaled)("apple")
    expect(yield* Effect.provideService(scaled, Factor, 6)).toBe(42)
    expectTypeOf<Effect.Effect.Context<typeof scaled>>().toEqualTypeOf<Factor | NutritionAdvisor.NutritionAdvisor>()
  })
})

test("serviceIdHeader: it replaces Service-ID, and a caller's own Service-ID is dropped", function*() {
  yield* NutritionAdvisor.search("oats", { headers: { "service-id": "another", "x-own": "1" } })
  const [sent] = yield* requestsOf("search")
  expect(sent?.headers).toMatchObject({ "x-own": "1" })
  expect(sent?.headers).not.toHaveProperty("service-id")
}, advisor({ serviceIdHeader: "X-Customer" }, { serviceIdHeader: "X-Customer" }))

describe("rejected token", () => {
  test("only the status codes in rejectedStatuses count as a rejection", function*({ counters, respondNext }) {
    yield* respondNext("search", { status: 419 }, { status: 200, body: {} }, { status: 401 })
    yield* NutritionAdvisor.search("apple")
    expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toEqual(
      new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 401, reason: "Status" })
    )
    expect(yield* counters).toMatchObject({ exchanges: 2, searches: 3 })
  }, advisor({ rejectedStatuses: [403, 419] }))
})

test("requestTimeout: it starts with the request, not with the wait for a token", function*({ counters, setLatency }) {
  yield* setLatency("token", "4 seconds")
  yield* setLatency("search", "4 seconds")
  yield* Time.runToEnd("1 second")(NutritionAdvisor.search("apple"))
  expect((yield* counters).searches).toBe(1)
}, advisor({ requestTimeout: "5 seconds" }))

describe("httpClient", () => {
  test.each(["/v2/plan", "v2/plan", "v2/other/../plan", `${Simulator.baseUrl}/proxy/v2/plan`])(
    "a path or a URL below the base URL is accepted: %s",
    function*(path) {
      yield* execute(HttpClientRequest.get(path))
      expect((yield* requestsOf("request")).map(({ path }) => path)).toEqual(["/v2/plan"])
    },
    advisor({ baseUrl: `${Simulator.baseUrl}/proxy` }, { ...planRoutes, pathPrefix: "/proxy" })
  )

  test.each(["https://other.example/v2/plan", "/v2/\ud800"])(
    "a URL outside the base URL is not sent: %j",
    function*(url, { requests }) {
      const error = yield* Effect.flip(execute(HttpClientRequest.get(url)))
      expect(error).toMatchObject({ _tag: "BadRequest", operation: "request" })
      expect(error).not.toHaveProperty("status")
      expect((yield* requests).length).toBe(0)
    },
    advisor({ baseUrl: `${Simulator.baseUrl}/proxy` }, { ...planRoutes, pathPrefix: "/proxy" })
  )

  test("httpClient sends the query of the URL and the parameters of the request", function*() {
    yield* execute(HttpClientRequest.get("/v2/plan?a=1%202", { urlParams: { b: "x y+z", c: "&" } }))
    expect((yield* requestsOf("request")).map(({ query }) => query)).toEqual(["a=1%202&b=x%20y%2Bz&c=%26"])
  }, advisor({}, planRoutes))

  test("the response's request does not contain the two token headers", function*() {
    const { request } = yield* execute(
      HttpClientRequest.get("/v2/plan", { headers: { authorization: "own", "service-id": "own", "x-trace": "1" } })
    )
    expect(Object.keys(request.headers).sort()).toEqual(["x-trace"])
  }, advisor({}, planRoutes))

  test("httpClient works with HttpClient.mapRequest", function*() {
    const { httpClient } = yield* NutritionAdvisor.NutritionAdvisor
    const plans = HttpClient.mapRequest(httpClient, HttpClientRequest.prependUrl("/v2"))
    const response = yield* plans.get("/plan")
    expect(yield* response.json).toEqual({ plan: "basic" })
  }, advisor({}, planRoutes))
})

/** Tests that build their own clients. */
const buildingTest = arranged(Simulator.Simulator, Simulator.layerHttpClient())

buildingTest(
  "NutritionAdvisor.layer: a layer provided in two places is one client with one token",
  function*({ counters }) {
    const layer = NutritionAdvisor.layer(settings)
    const searching = () => Layer.provide(Layer.effectDiscard(NutritionAdvisor.search("apple")), layer)
    yield* Layer.build(Layer.merge(searching(), searching()))
    expect(yield* counters).toMatchObject({ exchanges: 1, searches: 2 })
  }
)

const ownToken = AccessToken.make({ value: "own-token", serviceId: "own-id", receivedAt: 0, expiresAt: 3_600_000 })

const tokenOfPeer = fromPeer(ownToken)

test(
  "layerWithoutTokens: a request is sent at most three times, even if each renewal returns a peer's rejected token",
  function*({ counters, respondNext }) {
    yield* respondNext("search", rejected, rejected, rejected, { status: 200, body: {} })
    const error = yield* Effect.flip(NutritionAdvisor.search("apple"))
    expect(error).toMatchObject({ reason: "RejectedAgain" })
    expect(yield* counters).toMatchObject({ exchanges: 0, searches: 3 })
  },
  NutritionAdvisor.layerWithoutTokens({ baseUrl: settings.baseUrl }).pipe(
    Layer.provideMerge(Layer.succeed(TokenProvider.TokenProvider, {
      get: Effect.succeed(ownToken),
      renew: () => Effect.succeed(tokenOfPeer),
      status: Effect.never
    })),
    Layer.provideMerge(Simulator.layerHttpClient())
  )
)

describe("warning about a second layer for the same key", () => {
  const build = (licenseKey: string, options?: Partial<NutritionAdvisor.Options>) =>
    Layer.build(
      NutritionAdvisor.layer({ baseUrl: "https://service.example", licenseKey: Redacted.make(licenseKey), ...options })
    )

  type Built = ReturnType<typeof build>

  const warningsOf = (effect: Built) =>
    Effect.gen(function*() {
      const warnings: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => {
        if (logLevel.label === "WARN") warnings.push(String(message))
      })
      yield* Effect.scoped(Effect.provide(effect, Logger.add(logger)))
      return warnings
    })

  buildingTest("the warning is logged without the key while the first layer is open", function*() {
    const warnings = yield* warningsOf(Effect.zipRight(build("marker7f3a"), build("marker7f3a")))
    expect(warnings).toEqual([expect.stringContaining("second NutritionAdvisor layer")])
    expect(warnings.join()).not.toContain("marker7f3a")
  })

  const builtShared = Effect.provide(
    Layer.build(NutritionAdvisor.layerShared({ ...settings, baseUrl: "https://service.example" })),
    SharedTokenCache.layerMemory
  )

  const both = (first: Built, second: Built) => Effect.zipRight(first, second)

  const opened = (licenseKey: string) => Effect.scoped(both(build(licenseKey), build(licenseKey)))

  buildingTest.each<readonly [times: number, condition: string, built: Built]>([
    [1, "more layers follow", Effect.repeatN(build("warned-of-once"), 9)],
    [
      1,
      "other layers are opened and closed while the first is open",
      Effect.zipLeft(build("long-lived"), Effect.repeatN(Effect.scoped(build("long-lived")), 4))
    ],
    [2, "two layers are opened again after all others are closed", both(opened("again"), opened("again"))],
    [0, "the first layer is closed", both(Effect.scoped(build("closed")), build("closed"))],
    [0, "the keys differ", both(build("first-of-two"), build("second-of-two"))],
    [0, "both layers share their token", both(builtShared, builtShared)],
    [0, "the identifiers differ", both(build("two", { serviceId: "first" }), build("two", { serviceId: "second" }))],
    [0, "both layers use the simulator in memory", both(build("simulated", settings), build("simulated", settings))]
  ])("the number of warnings is %i if %s", function*([times, , built]) {
    expect(yield* warningsOf(built)).toHaveLength(times)
  })
})
