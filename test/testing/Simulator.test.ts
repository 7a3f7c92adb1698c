import { createServer } from "node:http"
import { inspect } from "node:util"
import { runInNewContext } from "node:vm"
import { HttpBody, HttpClient, HttpClientRequest, type HttpMethod, HttpServer } from "@effect/platform"
import { NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Array, Cause, Effect, Fiber, Layer, Option, Redacted, Schema, Stream, TestClock } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { fieldsOfTokenResponse } from "../support/documents/tokenResponse.js"
import { arranged, arrangedLive, testLive } from "../support/doubles/arranged.js"
import { exchangeOf, routesWithKeyInPath, tokenRouteRows } from "../support/tables/tokenRoutes.js"

const key = Redacted.value(Simulator.licenseKey)
const licenceRoute = "/v2/token-cache/nutrition-advisor/oauth/licence"

const unifiedRoute = "/v2/token-cache/unified/oauth/token"
const searchRoute = "/v2/products/napi/food/search/semantic"

interface Call {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: HttpBody.HttpBody
}

const send = (method: HttpMethod.HttpMethod, path: string, { body = HttpBody.empty, headers = {} }: Call = {}) =>
  HttpClientRequest.make(method)(path).pipe(
    HttpClientRequest.setBody(body),
    HttpClientRequest.setHeaders(headers),
    HttpClient.execute,
    Effect.flatMap((response) =>
      Effect.map(response.text, (body) => ({ status: response.status, headers: response.headers, body }))
    )
  )

const statusOf = (method: HttpMethod.HttpMethod, path: string, call?: Call) =>
  Effect.map(send(method, path, call), ({ status }) => status)

const Token = Schema.Struct({
  access_token: Schema.String,
  customer_id: Schema.String,
  expires_in: Schema.Number,
  token_type: Schema.String,
  scope: Schema.String
})

const decodeToken = Schema.decode(Schema.parseJson(Token))

const exchangeWith = (key: string) =>
  Effect.flatMap(send("POST", `${licenceRoute}/${key}`), ({ body }) => decodeToken(body))

const exchange = exchangeWith(key)

const authorizedBy = (token: typeof Token.Type, serviceIdHeader = "Service-ID"): Call => ({
  headers: { authorization: `Bearer ${token.access_token}`, [serviceIdHeader]: token.customer_id }
})

const withoutIdentifier = ({ access_token }: typeof Token.Type): Call => ({
  headers: { authorization: `Bearer ${access_token}` }
})

const withUnknownToken = (token: typeof Token.Type) => authorizedBy({ ...token, access_token: "never-issued" })

const withAnotherIdentifier = (token: typeof Token.Type) => authorizedBy({ ...token, customer_id: "someone-else" })

const withXCustomer = (token: typeof Token.Type) => authorizedBy(token, "X-Customer")

const withAnotherScheme = ({ access_token, customer_id }: typeof Token.Type): Call => ({
  headers: { authorization: `Basic ${access_token}`, "Service-ID": customer_id }
})

const nothing = (): Call => ({})

type CallWith = typeof withoutIdentifier

const unknownKey = `POST ${licenceRoute}/another-key`

const oneSearch = `GET ${searchRoute}?term=greek%20yogurt`

const search = (call: Call) => statusOf("GET", `${searchRoute}?term=greek%20yogurt`, call)

const searchWith = (token: typeof Token.Type) => search(authorizedBy(token))

/** A client that needs no origin, as on a port. */
const withBaseUrl = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(HttpClientRequest.prependUrl(Simulator.baseUrl)))
)

const inMemory = (options?: Simulator.Options) => Layer.provideMerge(withBaseUrl, Simulator.layerHttpClient(options))

const onAPort = (options?: Simulator.Options) =>
  Layer.merge(Simulator.layerServer(options), HttpServer.layerTestClient).pipe(
    Layer.provide(NodeHttpServer.layer(createServer, { port: 0 })),
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.orDie
  )

const test = arranged(Simulator.Simulator, inMemory())

const routes: Simulator.Options["routes"] = {
  "GET /v2/plan": ({ query }) => ({ status: 200, body: { plan: "pro", query } }),
  "POST /v2/meals": ({ body }) => ({ status: 201, body })
}

const ownSearch: Simulator.Options["routes"] = {
  [`GET ${searchRoute}`]: ({ searchParams }) =>
    searchParams.get("term") === "quince"
      ? { status: 200, body: { items: [{ label: "Quince" }] } }
      : { status: 422, headers: { "x-reason": "unknown" }, body: "no" }
}

const yogurt = {
  id: "yogurt",
  name: "Yogurt of the test",
  category: "dairy",
  tags: [],
  alternateNames: [],
  per100g: { energyKcal: 97, proteinG: 9, carbohydrateG: 4, sugarG: 4, fatG: 5, fiberG: 0 },
  portion: { name: "cup", grams: 150 }
}

const secret = encodeURIComponent("a real/key")

const form: Call = { body: HttpBody.text(`k=${secret}`, "application/x-www-form-urlencoded") }

const bearer: Call = { headers: { authorization: "Bearer x" } }

const withoutVersion = (path: string) => path.replace("/v2", "")

const places = [
  ["in memory", inMemory],
  ["on a port", onAPort]
] as const

describe.each(places)("Simulator %s", (_, simulated) => {
  const live = arrangedLive(Simulator.Simulator, simulated())

  live.each(tokenRouteRows)(
    "simulator: an exchange over $name decodes the key once and gets a token response",
    function*(route) {
      const { body, headers, path } = exchangeOf(route, "a/b c%25")
      const response = yield* send("POST", path, { body: HttpBody.text(body), headers })
      expect(response).toMatchObject({ status: 200, headers: { "content-type": "application/json" } })
      expect(JSON.parse(response.body)).toMatchObject({ customer_id: "c-1", expires_in: 3600.25, token_type: "Bearer" })
      expect(yield* searchWith(yield* decodeToken(response.body))).toBe(200)
    },
    simulated({ customerId: "c-1", licenseKeys: ["another", "a/b c%25"], tokenLifetime: 3600.25 })
  )

  it.live.each<readonly [what: string, status: number, request: string, CallWith, Simulator.Options?]>([
    ["an exchange with an unknown key", 400, unknownKey, nothing],
    ["an exchange with an unknown key, with unknownKeyStatus,", 401, unknownKey, nothing, { unknownKeyStatus: 401 }],
    ["an exchange with a malformed key", 400, `POST ${licenceRoute}/%E0%A4%A`, nothing, { unknownKeyStatus: 401 }],
    ["an exchange with a body", 400, `POST ${licenceRoute}/${key}`, () => ({ body: HttpBody.text("{}") })],
    ["an exchange with an Authorization header", 400, `POST ${licenceRoute}/${key}`, withoutIdentifier],
    ["a search without a token", 401, oneSearch, ({ customer_id }) => ({ headers: { "Service-ID": customer_id } })],
    ["a search without a token, with missingTokenStatus,", 403, oneSearch, nothing, { missingTokenStatus: 403 }],
    ["a search with a scheme other than Bearer", 401, oneSearch, withAnotherScheme],
    ["a search with an unknown token", 403, oneSearch, withUnknownToken],
    ["a search with an unknown token, with rejectedTokenStatus,", 401, oneSearch, withUnknownToken, {
      rejectedTokenStatus: 401
    }],
    ["a search without a customer identifier", 400, oneSearch, withoutIdentifier],
    ["a search with another customer identifier", 400, oneSearch, withAnotherIdentifier],
    ["a search without a customer identifier, with missingServiceIdStatus,", 422, oneSearch, withoutIdentifier, {
      missingServiceIdStatus: 422
    }],
    ["a search with the header of serviceIdHeader", 200, oneSearch, withXCustomer, { serviceIdHeader: "X-Customer" }],
    ["a search without the header of serviceIdHeader", 400, oneSearch, authorizedBy, { serviceIdHeader: "X-Customer" }],
    ["a search without a term", 400, `GET ${searchRoute}`, authorizedBy],
    ["a request for an unknown route", 404, "GET /v2/nothing", authorizedBy],
    ["a request for a route below the search", 404, `GET ${searchRoute}/more`, authorizedBy],
    ["a POST for a GET entry in `routes`", 404, "POST /v2/plan", authorizedBy, { routes }],
    ["a request without a token for an entry in `routes`", 401, "GET /v2/plan", nothing, { routes }]
  ])(
    "simulator: %s gets %i",
    ([, status, request, call, options]) =>
      Effect.gen(function*() {
        const { counters } = yield* Simulator.Simulator
        const [method = "", path = ""] = request.split(" ")
        expect(yield* statusOf(method as "GET" | "POST", path, call(yield* exchange))).toBe(status)
        expect((yield* counters).tokensIssued).toBe(1)
      }).pipe(Effect.provide(simulated(options)))
  )

  live.each(
    [
      ["GET", `${licenceRoute}/${key}`, "POST"],
      ["POST", `${searchRoute}?term=egg`, "GET"]
    ] as const
  )("simulator: a %s of %s gets 405 with Allow: %s", function*([method, path, allow]) {
    const call = allow === "GET" ? authorizedBy(yield* exchange) : {}
    const { headers, status } = yield* send(method, path, call)
    expect({ status, allow: headers["allow"] }).toEqual({ status: 405, allow })
  })

  live("simulator: a search requires the customer identifier of its token", function*({ setCustomerId }) {
    const before = yield* exchange
    yield* setCustomerId("c-2")
    const after = yield* exchange
    expect(after.customer_id).toBe("c-2")
    const statuses = yield* Effect.forEach([before, after, { ...before, customer_id: "c-2" }], searchWith)
    expect(statuses).toEqual([200, 200, 400])
  }, simulated({ customerId: "c-1" }))

  live("simulator: a search finds the foods set in the options", function*() {
    const { body, headers } = yield* send("GET", `${searchRoute}?term=greek%20yogurt`, authorizedBy(yield* exchange))
    expect(headers["content-type"]).toContain("application/json")
    expect(JSON.parse(body)).toMatchObject({ results: [{ name: "Yogurt of the test" }] })
  }, simulated({ foods: [yogurt] }))

  live("simulator routes: an entry for the search path can respond according to the decoded term", function*() {
    const call = authorizedBy(yield* exchange)
    expect(yield* send("GET", `${searchRoute}?term=quince`, call)).toMatchObject({
      status: 200,
      headers: { "content-type": "application/json" },
      body: "{\"items\":[{\"label\":\"Quince\"}]}"
    })
    expect(yield* send("GET", `${searchRoute}?term=greek%20yogurt`, call)).toMatchObject({
      status: 422,
      headers: { "x-reason": "unknown" },
      body: "no"
    })
  }, simulated({ routes: ownSearch, foods: [yogurt] }))

  live("simulator routes: an entry that is not a function is the response to each request", function*() {
    const call = authorizedBy(yield* exchange)
    const searches = Effect.map(send("GET", `${searchRoute}?term=egg`, call), ({ body, status }) => [status, body])
    expect(yield* Effect.all([searches, searches])).toEqual([[200, "[1]"], [200, "[1]"]])
  }, simulated({ routes: { [`GET ${searchRoute}`]: { status: 200, body: [1] } } }))

  live("simulator routes: an entry for the search path replaces only its response", function*({ counters, provoke }) {
    const path = `${searchRoute}?term=quince`
    const call = authorizedBy(yield* exchange)
    expect(yield* statusOf("GET", path)).toBe(401)
    expect(yield* statusOf("GET", path, call)).toBe(200)
    yield* provoke("search", "unavailable", 1)
    expect(yield* statusOf("GET", path, call)).toBe(503)
    expect((yield* counters).searches).toBe(3)
  }, simulated({ routes: ownSearch }))

  testLive.each<readonly [entry: string, complaint: string]>([
    [`POST ${licenceRoute}/{key}`, "is a token route: set its responses with provoke, respondNext or respondAlways"],
    [`GET ${licenceRoute}/${key}`, "is a token route"],
    ["POST /v2/oauth/{key}", "is a pattern: add one entry for each exact path"],
    ["GET /v2/foods/:id", "is a pattern"],
    ["/v2/plan", "must be an uppercase method, a space and a path without a query"],
    ["GET v2/plan", "must be an uppercase method"],
    ["GET /v2/plan?day=1", "must be an uppercase method"],
    ["GET /simulator/state", "belongs to the controls"]
  ])(
    "simulator routes: an entry that could never match is rejected: %s",
    function*([entry, complaint]) {
      const layer = simulated({ controls: true, routes: { [entry]: { status: 200 } } })
      const defect = Option.getOrThrow(Cause.dieOption(yield* Effect.cause(Layer.build(layer))))
      expect(String(defect)).toContain(`The entry "${entry}" in routes of the simulator ${complaint}`)
    }
  )

  live.each(routesWithKeyInPath)(
    "simulator requests: the path of a GET with a token is shown, although it resembles that of $name",
    function*(route, { requests }) {
      const path = `/v2/meals${withoutVersion(route.path).replace("{key}", "oats")}`
      yield* send("GET", path, bearer)
      expect((yield* requests).map((seen) => seen.path)).toEqual([path])
    }
  )

  live("simulator: pathPrefix applies to every route", function*() {
    const { body } = yield* send("POST", `/advisor${licenceRoute}/${key}`)
    const token = yield* decodeToken(body)
    const call = { ...authorizedBy(token), body: HttpBody.text("two eggs") }
    expect(yield* send("POST", "/advisor/v2/meals", call)).toMatchObject({ status: 201, body: "two eggs" })
    expect(yield* statusOf("GET", `/advisor${searchRoute}?term=egg`, authorizedBy(token))).toBe(200)
    expect(yield* statusOf("GET", `${searchRoute}?term=egg`, authorizedBy(token))).toBe(404)
  }, simulated({ pathPrefix: "/advisor", routes }))

  it.live.each<readonly [what: string, shown: string, path: string, Call?, Simulator.Options?]>([
    ["an exchange below a wrong prefix", `/api${licenceRoute}/{key}`, `/api${licenceRoute}/${secret}`],
    [
      "an exchange below another exchange",
      `${licenceRoute}/{key}`,
      `${licenceRoute}/${secret}${unifiedRoute}/${secret}`
    ],
    [
      "an exchange with another exchange below",
      `${unifiedRoute}/{key}`,
      `${unifiedRoute}/${secret}${licenceRoute}/${secret}`
    ],
    ["a request for an unknown route", "/api/{key}", `/api/${secret}`],
    ...routesWithKeyInPath.flatMap(({ path: shown }) => {
      const sent = shown.replace("{key}", secret)
      return [
        ["an exchange with a trailing slash", `/api${shown}`, `/api${sent}/`],
        ["an exchange without a version", withoutVersion(shown), withoutVersion(sent), bearer]
      ] as const
    }),
    ["an exchange with a token", `/api${licenceRoute}/{key}`, `/api${licenceRoute}/${secret}`, bearer],
    ["a request below a token route", `${licenceRoute}/{key}`, `${licenceRoute}/${secret}/more`, {
      body: HttpBody.text("a body")
    }],
    ["an exchange outside the prefix", `${licenceRoute}/{key}`, `${licenceRoute}/${secret}`, {}, {
      pathPrefix: "/api"
    }],
    ["an entry of routes", "/v2/meals", "/v2/meals", {}, { routes }],
    ["a request with a token", "/v2/dishes", "/v2/dishes", bearer]
  ])(
    "simulator requests: the path of %s is shown as %s, without a license key",
    ([, shown, path, call, options]) =>
      Effect.gen(function*() {
        const { requests } = yield* Simulator.Simulator
        yield* send("POST", path, call)
        const seen = yield* requests
        const complaint = yield* Effect.cause(Simulator.expectExchanges(99))
        expect(inspect([seen, complaint], { depth: 9 })).not.toMatch(/a real|a%20real/)
        expect(seen.map(({ path }) => path)).toEqual([shown])
      }).pipe(Effect.provide(simulated(options)))
  )

  live.each<readonly [what: string, path: string, Call, query: string, body: string]>([
    ["the query of an exchange", `${licenceRoute}/x?k=${secret}`, {}, "k={key}", ""],
    ["the body of an exchange", `${licenceRoute}/x`, form, "", "k={key}"],
    [
      "a body with characters other than ASCII",
      `${licenceRoute}/x`,
      { body: HttpBody.text("Käse a real/key") },
      "",
      "Käse {key}"
    ],
    ["the query of an exchange with a token", `${licenceRoute}/x?k=${secret}`, bearer, "k={key}", ""],
    ["the body of a request for an unknown route", "/v2/unknown", form, "", "k={key}"]
  ])("simulator requests: a license key in %s is hidden", function*([, path, call, query, body], { requests }) {
    yield* send("POST", path, call)
    const [seen] = yield* requests
    expect(seen?.query).toBe(query)
    expect(new TextDecoder().decode(seen?.body)).toBe(body)
  }, simulated({ licenseKeys: ["a real/key"] }))

  live("simulator routes: an entry gets a query and a body that contain a license key", function*() {
    const call = { ...authorizedBy(yield* exchange), body: HttpBody.text(`${key} eggs`) }
    expect(yield* send("POST", "/v2/meals", call)).toMatchObject({ body: `${key} eggs` })
    expect((yield* send("GET", `/v2/plan?k=${key}`, authorizedBy(yield* exchange))).body).toContain(`"k=${key}"`)
  }, simulated({ routes }))

  live("simulator: respondAlways applies after respondNext, until it is removed", function*(simulator) {
    const token = yield* exchange
    yield* simulator.respondAlways("search", { status: 500 })
    yield* simulator.respondNext("search", { status: 503 }, { status: 429 })
    yield* simulator.respondNext("search", { status: 502 })
    expect(yield* Effect.replicateEffect(searchWith(token), 5)).toEqual([503, 429, 502, 500, 500])
    expect(yield* statusOf("POST", `${licenceRoute}/${key}`)).toBe(200)
    yield* simulator.respondAlways("search", undefined)
    expect(yield* searchWith(token)).toBe(200)
  })

  live.each<readonly [what: string, status: number, sent: unknown, body: string]>([
    ["a JSON body", 418, { a: 1 }, "{\"a\":1}"],
    ["a string as its body", 418, "not { json", "not { json"],
    ["bytes as its body", 418, new Uint8Array([104, 105]), "hi"],
    ["bytes of another realm as its body", 418, runInNewContext("new Uint8Array([104, 105])"), "hi"],
    ["no body", 418, undefined, ""],
    ["no body if the status is 204", 204, "ignored", ""],
    ["no body if the status is 304", 304, "ignored", ""]
  ])(
    "simulator: a planned response has the given status and headers, and %s",
    function*([_, status, sent, body], { respondNext }) {
      yield* respondNext("token", { status, headers: { "retry-after": "7" }, body: sent })
      expect(yield* send("POST", `${licenceRoute}/${key}`)).toMatchObject({
        status,
        headers: { "retry-after": "7" },
        body
      })
    }
  )

  live(
    "simulator counters: each call is counted once, whatever its response",
    function*({ counters, respondNext, revoke }) {
      const token = yield* exchange
      yield* send("POST", `${licenceRoute}/another-key`)
      yield* send("GET", `${licenceRoute}/${key}`)
      yield* respondNext("token", { status: 500 })
      yield* send("POST", `${licenceRoute}/${key}`)
      yield* searchWith(token)
      yield* search({})
      yield* searchWith({ ...token, customer_id: "someone-else" })
      yield* send("GET", "/v2/nothing", authorizedBy(token))
      yield* revoke
      yield* searchWith(token)
      yield* send("GET", "/v2/nothing", authorizedBy(token))
      expect(yield* counters).toEqual({
        exchanges: 4,
        exchangesAtOnce: 1,
        rejections: 2,
        requests: 2,
        searches: 4,
        tokensIssued: 1
      })
    }
  )

  live("simulator requests: they are listed oldest first, with redacted credentials", function*({ requests }) {
    const token = yield* exchange
    const call = authorizedBy(token)
    yield* send("GET", `${searchRoute}?term=egg`, { headers: { ...call.headers, "x-note": "second" } })
    yield* send("POST", "/v2/meals", { body: HttpBody.text("two eggs") })
    const seen = (yield* requests).map(({ at: _, body, headers, ...request }) => ({
      ...request,
      note: headers["x-note"],
      body: new TextDecoder().decode(body)
    }))
    const none = { authorization: Option.none(), serviceId: Option.none(), query: "", note: undefined, body: "" }
    const redacted = (text: string) => Option.some(Redacted.make(text))
    const search = { operation: "search", method: "GET", path: searchRoute, query: "term=egg", note: "second" }
    const credentials = {
      authorization: redacted(`Bearer ${token.access_token}`),
      serviceId: redacted(token.customer_id)
    }
    expect(seen).toEqual([
      { ...none, operation: "token", method: "POST", path: `${licenceRoute}/{key}` },
      { ...none, ...search, ...credentials },
      { ...none, operation: "request", method: "POST", path: "/v2/meals", body: "two eggs" }
    ])
  })
})

test("simulator: a token response has the fields that docs/SERVICE.md lists", function*() {
  const { body } = yield* send("POST", `${licenceRoute}/${key}`)
  expect(new Set(Object.keys(JSON.parse(body)))).toEqual(new Set(fieldsOfTokenResponse))
})

test.each<readonly [string, HttpBody.HttpBody]>([
  ["URLSearchParams", HttpBody.raw(new URLSearchParams({ food: "two eggs" }))],
  ["a stream", HttpBody.stream(Stream.make("food=", "two+eggs").pipe(Stream.encodeText))]
])("simulator routes: an entry gets a body of %s as it was sent", function*([_, sent]) {
  const { body } = yield* send("POST", "/v2/meals", { ...authorizedBy(yield* exchange), body: sent })
  expect(body).toBe("food=two+eggs")
}, inMemory({ routes }))

test("simulator: a token is accepted until the millisecond of its expiry", function*() {
  const token = yield* exchange
  yield* TestClock.adjust("59999 millis")
  expect(yield* searchWith(token)).toBe(200)
  yield* TestClock.adjust("1 millis")
  expect(yield* searchWith(token)).toBe(403)
}, inMemory({ tokenLifetime: 60 }))

test("simulator latency: a token is checked at the time of the response", function*({ revoke, setLatency }) {
  const token = yield* exchange
  yield* setLatency("search", "2 seconds")
  const response = yield* Effect.fork(searchWith(token))
  yield* TestClock.adjust("1 seconds")
  yield* revoke
  yield* TestClock.adjust("1 seconds")
  expect(yield* Fiber.join(response)).toBe(403)
})

test(
  "simulator counters: exchangesAtOnce is the highest number of simultaneous exchanges",
  function*({ counters, setLatency }) {
    yield* setLatency("token", "1 seconds")
    const three = yield* Effect.fork(Effect.all([exchange, exchange, exchange], { concurrency: "unbounded" }))
    yield* TestClock.adjust("1 seconds")
    yield* Fiber.join(three)
    const one = yield* Effect.fork(exchange)
    yield* TestClock.adjust("1 seconds")
    yield* Fiber.join(one)
    expect((yield* counters).exchangesAtOnce).toBe(3)
  }
)

test(
  "simulator: with setHandsBackToken, an exchange returns the current token with its remaining lifetime",
  function*(simulator) {
    yield* simulator.setHandsBackToken(true)
    const first = yield* exchange
    yield* TestClock.adjust("25500 millis")
    expect(yield* exchange).toEqual({ ...first, expires_in: 34.5 })
    expect(yield* simulator.counters).toMatchObject({ exchanges: 2, tokensIssued: 1 })
  },
  inMemory({ tokenLifetime: 60 })
)

test("simulator requests: only the last 1,000 are kept", function*({ requests }) {
  yield* Effect.forEach(Array.range(1, 2_345), (number) => send("GET", `/v2/${number}`), { discard: true })
  const seen = yield* requests
  expect(seen).toHaveLength(1_000)
  expect(seen[0]?.path).toBe("/v2/1346")
  expect(seen.at(-1)?.path).toBe("/v2/2345")
})
