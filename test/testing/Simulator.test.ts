import { inspect } from "node:util"
import { HttpBody, HttpClient, HttpClientRequest, type HttpMethod } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Array, Context, Effect, Fiber, Layer, Option, Redacted, Schema } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged, arrangedLive } from "../doubles/arranged.js"
import { inMemory, onAPort } from "../doubles/simulated.js"
import * as Time from "../doubles/Time.js"

const key = Redacted.value(Simulator.licenseKey)
const licenceRoute = "/v2/token-cache/nutrition-advisor/oauth/licence"
const searchRoute = "/v2/products/napi/food/search/semantic"

interface Call {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: HttpBody.HttpBody
}

const ask = (method: HttpMethod.HttpMethod, path: string, { body = HttpBody.empty, headers = {} }: Call = {}) =>
  HttpClientRequest.make(method)(path).pipe(
    HttpClientRequest.setBody(body),
    HttpClientRequest.setHeaders(headers),
    HttpClient.execute,
    Effect.flatMap((response) =>
      Effect.map(response.text, (body) => ({ status: response.status, headers: response.headers, body }))
    )
  )

const statusOf = (method: HttpMethod.HttpMethod, path: string, call?: Call) =>
  Effect.map(ask(method, path, call), ({ status }) => status)

const Token = Schema.Struct({
  access_token: Schema.String,
  customer_id: Schema.String,
  expires_in: Schema.Number,
  token_type: Schema.String,
  scope: Schema.String
})

const decodeToken = Schema.decode(Schema.parseJson(Token))

const exchange = Effect.flatMap(ask("POST", `${licenceRoute}/${key}`), ({ body }) => decodeToken(body))

const authorizedBy = (token: typeof Token.Type, serviceIdHeader = "Service-ID"): Call => ({
  headers: { authorization: `Bearer ${token.access_token}`, [serviceIdHeader]: token.customer_id }
})

const withoutIdentifier = ({ access_token }: typeof Token.Type): Call => ({
  headers: { authorization: `Bearer ${access_token}` }
})

const withAnotherIdentifier = (token: typeof Token.Type) => authorizedBy({ ...token, customer_id: "someone-else" })

const withAnotherScheme = ({ access_token, customer_id }: typeof Token.Type): Call => ({
  headers: { authorization: `Basic ${access_token}`, "Service-ID": customer_id }
})

const nothing = (): Call => ({})

type Asked = typeof withoutIdentifier

const unknownKey = `POST ${licenceRoute}/another-key`

const oneSearch = `GET ${searchRoute}?term=greek%20yogurt`

const search = (call: Call) => statusOf("GET", `${searchRoute}?term=greek%20yogurt`, call)

const searchWith = (token: typeof Token.Type) => search(authorizedBy(token))

const test = arranged(Simulator.Simulator, inMemory())

const routes: Simulator.Options["routes"] = {
  "GET /v2/plan": ({ query }) => ({ status: 200, body: { plan: "pro", query } }),
  "POST /v2/meals": ({ body }) => ({ status: 201, body })
}

const places = [
  ["in memory", inMemory],
  ["on a port", onAPort]
] as const

describe.each(places)("Simulator %s", (_, simulated) => {
  const live = arrangedLive(Simulator.Simulator, simulated())

  describe("token routes", () => {
    live.each([
      licenceRoute,
      "/v2/token-cache/nutrition-advisor/oauth/token",
      "/v2/token-cache/unified/oauth/token"
    ])("exchanges a license key at %s", function*(route) {
      const answer = yield* ask("POST", `${route}/${key}`)
      expect(answer.status).toBe(200)
      expect(yield* searchWith(yield* decodeToken(answer.body))).toBe(200)
    })

    live("answers with exactly the fields of a token response", function*() {
      const answer = yield* ask("POST", `${licenceRoute}/${key}`)
      expect(answer.headers["content-type"]).toContain("application/json")
      expect(JSON.parse(answer.body)).toEqual({
        access_token: expect.stringMatching(/^\S+$/),
        customer_id: "c-1",
        expires_in: 3600.25,
        token_type: "Bearer",
        scope: "read:search"
      })
    }, simulated({ customerId: "c-1", tokenLifetime: 3600.25 }))

    live("decodes the key of the path once", function*() {
      expect(yield* statusOf("POST", `${licenceRoute}/a%2Fb%20c%2525`)).toBe(200)
    }, simulated({ licenseKeys: ["a/b c%25"] }))

    live("knows every key that is given and no other", function*() {
      const statuses = yield* Effect.forEach(
        ["one", "two", key],
        (known) => statusOf("POST", `${licenceRoute}/${known}`)
      )
      expect(statuses).toEqual([200, 200, 400])
    }, simulated({ licenseKeys: ["one", "two"] }))
  })

  describe("a call", () => {
    it.live.each<readonly [what: string, status: number, request: string, Asked, Simulator.Options?]>([
      ["an unknown key", 400, unknownKey, nothing],
      ["an unknown key, with the status that is set", 401, unknownKey, nothing, { unknownKeyStatus: 401 }],
      ["a key that is no percent-encoded text", 400, `POST ${licenceRoute}/%E0%A4%A`, nothing],
      ["an exchange with a body", 400, `POST ${licenceRoute}/${key}`, () => ({ body: HttpBody.text("{}") })],
      ["an exchange with an Authorization header", 400, `POST ${licenceRoute}/${key}`, withoutIdentifier],
      ["the token and its customer identifier", 200, oneSearch, authorizedBy],
      ["no Authorization", 401, oneSearch, ({ customer_id }) => ({ headers: { "Service-ID": customer_id } })],
      ["no Authorization, with the status that is set", 403, oneSearch, nothing, { missingTokenStatus: 403 }],
      ["a scheme that is not Bearer", 401, oneSearch, withAnotherScheme],
      ["an unknown token", 403, oneSearch, (token) => authorizedBy({ ...token, access_token: "never-issued" })],
      ["no customer identifier", 400, oneSearch, withoutIdentifier],
      ["another customer identifier", 400, oneSearch, withAnotherIdentifier],
      ["none, with the status that is set", 422, oneSearch, withoutIdentifier, { missingServiceIdStatus: 422 }],
      ["no term", 400, `GET ${searchRoute}`, authorizedBy],
      ["a blank term", 400, `GET ${searchRoute}?term=%20`, authorizedBy],
      ["another parameter than term", 400, `GET ${searchRoute}?terms=yogurt`, authorizedBy],
      ["a route that there is not", 404, "GET /v2/nothing", authorizedBy],
      ["a route below the search", 404, `GET ${searchRoute}/more`, authorizedBy],
      ["a route of another version", 404, "GET /v1/products/napi/food/search/semantic", authorizedBy],
      ["another method of a route that is given", 404, "POST /v2/plan", authorizedBy, { routes }],
      ["a route that is given, without Authorization", 401, "GET /v2/plan", nothing, { routes }],
      ["a route that is given, without customer identifier", 400, "GET /v2/plan", withoutIdentifier, { routes }]
    ])("with %s is answered as the service does", ([, status, asked, call, options]) =>
      Effect.gen(function*() {
        const { counters } = yield* Simulator.Simulator
        const [method = "", path = ""] = asked.split(" ")
        expect(yield* statusOf(method as "GET" | "POST", path, call(yield* exchange))).toBe(status)
        expect((yield* counters).tokensIssued).toBe(1)
      }).pipe(Effect.provide(simulated(options))))

    live.each(
      [
        ["GET", `${licenceRoute}/${key}`, "POST"],
        ["DELETE", `${licenceRoute}/${key}`, "POST"],
        ["POST", `${searchRoute}?term=egg`, "GET"]
      ] as const
    )("with %s at %s is refused with 405, which names %s", function*([method, path, allow]) {
      const call = allow === "GET" ? authorizedBy(yield* exchange) : {}
      const { headers, status } = yield* ask(method, path, call)
      expect({ status, allow: headers["allow"] }).toEqual({ status: 405, allow })
    })
  })

  describe("authorization", () => {
    it.live.each<readonly [status: number, Simulator.Options]>([[403, {}], [401, { rejectedTokenStatus: 401 }]])(
      "refuses every token that was revoked with %i, and none that was issued after",
      ([status, options]) =>
        Effect.gen(function*() {
          const { revoke } = yield* Simulator.Simulator
          const tokens = yield* Effect.all([exchange, exchange])
          yield* revoke
          expect(yield* Effect.forEach([...tokens, yield* exchange], searchWith)).toEqual([status, status, 200])
        }).pipe(Effect.provide(simulated(options)))
    )

    live("reads the customer identifier from the header that is set", function*() {
      const token = yield* exchange
      const statuses = yield* Effect.forEach(
        ["X-Customer", "Service-ID"],
        (header) => search(authorizedBy(token, header))
      )
      expect(statuses).toEqual([200, 400])
    }, simulated({ serviceIdHeader: "X-Customer" }))

    live("asks for the customer identifier that its token was issued with", function*({ setCustomerId }) {
      const before = yield* exchange
      yield* setCustomerId("c-2")
      const after = yield* exchange
      expect(after.customer_id).toBe("c-2")
      expect(yield* Effect.forEach([before, after, { ...before, customer_id: "c-2" }], searchWith)).toEqual([
        200,
        200,
        400
      ])
    }, simulated({ customerId: "c-1" }))
  })

  describe("search", () => {
    live(
      "answers in JSON with the foods that the term means",
      function*() {
        const { body, headers } = yield* ask("GET", `${searchRoute}?term=greek%20yogurt`, authorizedBy(yield* exchange))
        expect(headers["content-type"]).toContain("application/json")
        expect(JSON.parse(body)).toMatchObject({ results: [{ name: expect.stringMatching(/greek yogurt/i) }] })
      },
      simulated({
        foods: [{
          id: "greek-yogurt",
          name: "Greek yogurt",
          category: "dairy",
          tags: [],
          alternateNames: [],
          per100g: { energyKcal: 97, proteinG: 9, carbohydrateG: 4, sugarG: 4, fatG: 5, fiberG: 0 },
          portion: { name: "cup", grams: 150 }
        }]
      })
    )

    live("has foods of its own", function*() {
      const { body } = yield* ask("GET", `${searchRoute}?term=apple`, authorizedBy(yield* exchange))
      expect(JSON.parse(body).results).not.toHaveLength(0)
    })
  })

  describe("other routes", () => {
    live("answers a route that is given", function*() {
      const { body, status } = yield* ask("GET", "/v2/plan?for=today", authorizedBy(yield* exchange))
      expect({ status, body: JSON.parse(body) }).toEqual({ status: 200, body: { plan: "pro", query: "for=today" } })
    }, simulated({ routes }))

    live("hands the body of a request to its route", function*() {
      const call = { ...authorizedBy(yield* exchange), body: HttpBody.text("two eggs") }
      const { body, status } = yield* ask("POST", "/v2/meals", call)
      expect({ status, body }).toEqual({ status: 201, body: "two eggs" })
    }, simulated({ routes }))
  })

  describe("pathPrefix", () => {
    const prefixed = { pathPrefix: "/advisor", routes: { "GET /v2/plan": () => ({ status: 200 }) } }

    live("puts every route below the prefix", function*() {
      const answer = yield* ask("POST", `/advisor${licenceRoute}/${key}`)
      const call = authorizedBy(yield* decodeToken(answer.body))
      const statuses = yield* Effect.forEach(
        [`${searchRoute}?term=egg`, "/v2/plan"],
        (path) => statusOf("GET", `/advisor${path}`, call)
      )
      expect(statuses).toEqual([200, 200])
    }, simulated(prefixed))
  })

  describe("a key that it does not know", () => {
    const unknown = "a real/key"
    const segment = encodeURIComponent(unknown)
    const routes = { "POST /v2/meals": () => ({ status: 201 }) }

    /** The paths that were seen, after the failure of expectExchanges and the rest was searched for the key. */
    const shown = (...paths: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        yield* Effect.forEach(paths, (path) => ask("POST", path))
        const requests = yield* simulator.requests
        const complaint = yield* Effect.cause(Simulator.expectExchanges(99))
        expect(inspect([requests, complaint], { depth: 9 })).not.toMatch(/a real|a%20real/)
        return requests.map(({ path }) => path)
      })

    live("does not show below a wrong prefix", function*() {
      expect(yield* shown(`/api${licenceRoute}/${segment}`, `/api${licenceRoute}/${segment}/`, `/api/${segment}`))
        .toEqual([`/api${licenceRoute}/{key}`, `/api${licenceRoute}/{key}`, "/api/{key}"])
    })

    live("does not show behind a token route, whatever else is wrong with the request", function*() {
      yield* ask("GET", `/api${licenceRoute}/${segment}`)
      yield* ask("POST", `/api${licenceRoute}/${segment}`, { headers: { authorization: "Bearer x" } })
      yield* ask("POST", `${licenceRoute}/${segment}/more`, { body: HttpBody.text("a body") })
      expect(yield* shown()).toEqual([
        `/api${licenceRoute}/{key}`,
        `/api${licenceRoute}/{key}`,
        `${licenceRoute}/{key}`
      ])
    })

    live("does not show outside the prefix", function*() {
      expect(yield* shown(`${licenceRoute}/${segment}`)).toEqual([`${licenceRoute}/{key}`])
    }, simulated({ pathPrefix: "/api" }))

    live("is not looked for in a request to a route of one's own, or in one with a token", function*() {
      yield* ask("POST", "/v2/dishes", { headers: { authorization: "Bearer x" } })
      expect(yield* shown("/v2/meals")).toEqual(["/v2/dishes", "/v2/meals"])
    }, simulated({ routes }))
  })

  describe("planned answers", () => {
    live("gives the next answers in their order before it answers by itself", function*({ respondNext }) {
      const token = yield* exchange
      yield* respondNext("search", { status: 503 }, { status: 429 })
      yield* respondNext("search", { status: 500 })
      expect(yield* Effect.replicateEffect(searchWith(token), 4)).toEqual([503, 429, 500, 200])
    })

    live.each(
      [
        { operation: "token", expected: [503, 200, 404] },
        { operation: "search", expected: [200, 503, 404] },
        { operation: "request", expected: [200, 200, 503] }
      ] as const
    )("gives an answer for $operation to that operation alone", function*({ expected, operation }, { respondNext }) {
      const token = yield* exchange
      yield* respondNext(operation, { status: 503 })
      const statuses = yield* Effect.all([
        statusOf("POST", `${licenceRoute}/${key}`),
        searchWith(token),
        statusOf("GET", "/v2/nothing", authorizedBy(token))
      ])
      expect(statuses).toEqual(expected)
    })

    live("gives a constant answer until it is taken back", function*({ respondAlways }) {
      const token = yield* exchange
      yield* respondAlways("search", { status: 503 })
      const before = yield* Effect.replicateEffect(searchWith(token), 3)
      yield* respondAlways("search", undefined)
      expect([...before, yield* searchWith(token)]).toEqual([503, 503, 503, 200])
    })

    live("gives the next answers before the constant one", function*({ respondAlways, respondNext }) {
      yield* respondAlways("token", { status: 503 })
      yield* respondNext("token", { status: 429 })
      expect(yield* Effect.replicateEffect(statusOf("POST", `${licenceRoute}/${key}`), 3)).toEqual([429, 503, 503])
    })

    live.each([
      { kind: "JSON", reply: { a: 1 }, text: "{\"a\":1}" },
      { kind: "text", reply: "not { json", text: "not { json" },
      { kind: "bytes", reply: new Uint8Array([104, 105]), text: "hi" },
      { kind: "nothing", reply: undefined, text: "" }
    ])("sends the status, the headers and a body of $kind", function*({ reply, text }, { respondNext }) {
      yield* respondNext("token", { status: 418, headers: { "retry-after": "7" }, body: reply })
      const { body, headers, status } = yield* ask("POST", `${licenceRoute}/${key}`)
      expect({ status, retryAfter: headers["retry-after"], body }).toEqual({
        status: 418,
        retryAfter: "7",
        body: text
      })
    })

    live.each([204, 205, 304])("sends %i without a body", function*(status, { respondNext }) {
      yield* respondNext("token", { status, body: "ignored" })
      expect(yield* ask("POST", `${licenceRoute}/${key}`)).toMatchObject({ status, body: "" })
    })

    live.each(["token", "search"] as const)(
      "breaks the connection of a %s call at once with \"drop\"",
      function*(operation, { respondNext }) {
        const token = yield* exchange
        yield* respondNext(operation, "drop")
        const call = operation === "token"
          ? statusOf("POST", `${licenceRoute}/${key}`)
          : searchWith(token)
        // The keep-alive of a Node server is 5 seconds.
        const failure = yield* Effect.flip(Effect.timeout(call, "2 seconds"))
        expect(["RequestError", "ResponseError"]).toContain(failure._tag)
      }
    )
  })

  describe("counters", () => {
    live("counts every call once, whatever the answer", function*({ counters, respondNext, revoke }) {
      const token = yield* exchange
      yield* ask("POST", `${licenceRoute}/another-key`)
      yield* ask("GET", `${licenceRoute}/${key}`)
      yield* respondNext("token", { status: 500 })
      yield* ask("POST", `${licenceRoute}/${key}`)
      yield* searchWith(token)
      yield* search({})
      yield* searchWith({ ...token, customer_id: "someone-else" })
      yield* ask("GET", "/v2/nothing", authorizedBy(token))
      yield* revoke
      yield* searchWith(token)
      yield* ask("GET", "/v2/nothing", authorizedBy(token))
      expect(yield* counters).toEqual({
        exchanges: 4,
        exchangesAtOnce: 1,
        rejections: 2,
        requests: 2,
        searches: 4,
        tokensIssued: 1
      })
    })

    live("counts an exchange that hangs among those that run at once", function*({ counters, requests, respondNext }) {
      yield* respondNext("token", "hang")
      const hanging = yield* Effect.fork(exchange)
      yield* Effect.repeat(Effect.delay(requests, "5 millis"), { until: Array.isNonEmptyReadonlyArray })
      yield* exchange
      // A server that closes waits for its connections.
      yield* Fiber.interrupt(hanging)
      expect((yield* counters).exchangesAtOnce).toBe(2)
    })
  })

  describe("log of requests", () => {
    live("holds what each request carried, oldest first", function*({ requests }) {
      yield* exchange
      yield* ask("GET", `${searchRoute}?term=egg`, { headers: { "x-note": "second" } })
      yield* ask("POST", "/v2/meals", { body: HttpBody.text("two eggs") })
      const seen = (yield* requests).map(({ body, headers, method, operation, path, query }) => ({
        operation,
        method,
        path,
        query,
        note: headers["x-note"],
        body: new TextDecoder().decode(body)
      }))
      expect(seen).toEqual([
        { operation: "token", method: "POST", path: `${licenceRoute}/{key}`, query: "", note: undefined, body: "" },
        { operation: "search", method: "GET", path: searchRoute, query: "term=egg", note: "second", body: "" },
        { operation: "request", method: "POST", path: "/v2/meals", query: "", note: undefined, body: "two eggs" }
      ])
    })

    live("holds the two credentials as redacted values", function*({ requests }) {
      const token = yield* exchange
      yield* searchWith(token)
      const seen = (yield* requests)[1]
      expect(Option.map(seen?.authorization ?? Option.none(), Redacted.value))
        .toEqual(Option.some(`Bearer ${token.access_token}`))
      expect(Option.map(seen?.serviceId ?? Option.none(), Redacted.value)).toEqual(Option.some(token.customer_id))
    })

    live("holds no credential of a request that carries none", function*({ requests }) {
      yield* exchange
      expect((yield* requests)[0]).toMatchObject({ authorization: Option.none(), serviceId: Option.none() })
    })

    live.each([
      { rendering: "inspect", render: (value: unknown) => inspect(value, { depth: null }) },
      { rendering: "JSON", render: (value: unknown) => JSON.stringify(value) }
    ])("shows neither key, token nor customer identifier as $rendering", function*({ render }, { requests }) {
      const token = yield* Effect.flatMap(
        ask("POST", `${licenceRoute}/a%2Fsecret%20key`),
        ({ body }) => decodeToken(body)
      )
      yield* ask("GET", `${licenceRoute}/a%2Fsecret%20key`)
      yield* searchWith(token)
      const rendered = render(yield* requests)
      const secrets = ["a/secret key", "a%2Fsecret%20key", token.access_token, token.customer_id]
      expect(secrets.filter((secret) => rendered.includes(secret))).toEqual([])
    }, simulated({ licenseKeys: ["a/secret key"] }))
  })

  describe("two simulators", () => {
    const both = Effect.all([Layer.build(simulated()), Layer.build(simulated())])

    it.live("share neither token nor revocation nor planned answer, nor what they count and log", () =>
      Effect.gen(function*() {
        const [one, other] = yield* both
        const { respondAlways, revoke } = Context.get(one, Simulator.Simulator)
        const { counters, requests } = Context.get(other, Simulator.Simulator)
        const token = yield* Effect.provide(exchange, one)
        expect([(yield* counters).exchanges, yield* requests]).toEqual([0, []])
        expect(yield* Effect.provide(searchWith(token), other)).toBe(403)
        const others = yield* Effect.provide(exchange, other)
        yield* revoke
        yield* respondAlways("token", { status: 500 })
        expect(yield* Effect.provide(searchWith(others), other)).toBe(200)
        expect(yield* Effect.provide(statusOf("POST", `${licenceRoute}/${key}`), other)).toBe(200)
      }).pipe(Effect.scoped))
  })
})

describe("Simulator in memory alone", () => {
  test("refuses a form as the body with 400", function*() {
    const form = new FormData()
    form.set("grant_type", "licence")
    expect(yield* statusOf("POST", `${licenceRoute}/${key}`, { body: HttpBody.formData(form) })).toBe(400)
  })

  test("hands a body of search parameters to its route as they are sent", function*() {
    const parameters = HttpBody.raw(new URLSearchParams({ food: "two eggs" }))
    const { body } = yield* ask("POST", "/v2/meals", { ...authorizedBy(yield* exchange), body: parameters })
    expect(body).toBe("food=two+eggs")
  }, inMemory({ routes: { "POST /v2/meals": ({ body }) => ({ status: 201, body }) } }))
})

describe("Simulator under TestClock", () => {
  test("stamps requests with the time of the Clock", function*({ requests }) {
    yield* exchange
    yield* Time.pass("90 seconds")
    yield* exchange
    expect((yield* requests).map(({ at }) => at)).toEqual([0, 90_000])
  })

  test("accepts a token until the millisecond in which it expires", function*() {
    const token = yield* exchange
    yield* Time.pass("59999 millis")
    expect(yield* searchWith(token)).toBe(200)
    yield* Time.pass("1 millis")
    expect(yield* searchWith(token)).toBe(403)
  }, inMemory({ tokenLifetime: 60 }))

  test("refuses an expired token with the status that is set, and counts a rejection", function*({ counters }) {
    const token = yield* exchange
    yield* Time.pass("60 seconds")
    expect(yield* searchWith(token)).toBe(401)
    expect((yield* counters).rejections).toBe(1)
  }, inMemory({ tokenLifetime: 60, rejectedTokenStatus: 401 }))

  test("gives the next tokens the lifetime that is set and leaves earlier ones alone", function*({ setTokenLifetime }) {
    const long = yield* exchange
    yield* setTokenLifetime(1.5)
    const short = yield* exchange
    expect([long.expires_in, short.expires_in]).toEqual([86_155.482, 1.5])
    yield* Time.pass("1500 millis")
    expect(yield* Effect.forEach([long, short], searchWith)).toEqual([200, 403])
  })

  test.each(
    [
      { operation: "token", path: `${licenceRoute}/${key}`, method: "POST" },
      { operation: "search", path: `${searchRoute}?term=egg`, method: "GET" },
      { operation: "request", path: "/v2/nothing", method: "GET" }
    ] as const
  )("answers $operation after the latency that is set for it", function*({ method, operation, path }, { setLatency }) {
    yield* setLatency(operation, "2 seconds")
    const answer = yield* Effect.fork(ask(method, path))
    yield* Time.pass("1999 millis")
    expect(yield* Fiber.poll(answer)).toEqual(Option.none())
    yield* Time.pass("1 millis")
    expect(Option.isSome(yield* Fiber.poll(answer))).toBe(true)
  })

  test("gives one operation's latency to no other", function*({ setLatency }) {
    yield* setLatency("token", "2 seconds")
    expect(yield* search({})).toBe(401)
  })

  test("delays planned answers by the latency too", function*({ respondNext, setLatency }) {
    yield* setLatency("token", "2 seconds")
    yield* respondNext("token", { status: 503 })
    const answer = yield* Effect.fork(statusOf("POST", `${licenceRoute}/${key}`))
    yield* Time.pass("1999 millis")
    expect(yield* Fiber.poll(answer)).toEqual(Option.none())
    yield* Time.pass("1 millis")
    expect(yield* Fiber.join(answer)).toBe(503)
  })

  test("judges a token at the time of the answer", function*({ revoke, setLatency }) {
    const token = yield* exchange
    yield* setLatency("search", "2 seconds")
    const answer = yield* Effect.fork(searchWith(token))
    yield* Time.pass("1 seconds")
    yield* revoke
    yield* Time.pass("1 seconds")
    expect(yield* Fiber.join(answer)).toBe(403)
  })

  test("counts the most exchanges that ran at the same time", function*({ counters, setLatency }) {
    yield* setLatency("token", "1 seconds")
    const three = yield* Effect.fork(Effect.all([exchange, exchange, exchange], { concurrency: "unbounded" }))
    yield* Time.pass("1 seconds")
    yield* Fiber.join(three)
    const one = yield* Effect.fork(exchange)
    yield* Time.pass("1 seconds")
    yield* Fiber.join(one)
    expect((yield* counters).exchangesAtOnce).toBe(3)
  })

  test("counts an exchange whose caller left as ended", function*({ counters, setLatency }) {
    yield* setLatency("token", "1 seconds")
    const left = yield* Effect.fork(exchange)
    yield* Time.pass("500 millis")
    yield* Fiber.interrupt(left)
    yield* setLatency("token", 0)
    yield* exchange
    expect((yield* counters).exchangesAtOnce).toBe(1)
  })

  test("never answers with \"hang\", however long one waits", function*({ respondNext }) {
    yield* respondNext("token", "hang")
    const answer = yield* Effect.fork(exchange)
    yield* Time.pass("365 days")
    expect(yield* Fiber.poll(answer)).toEqual(Option.none())
  })

  test("fails with a transport error with \"drop\"", function*({ respondNext }) {
    yield* respondNext("token", "drop")
    expect(yield* Effect.flip(exchange)).toMatchObject({ _tag: "RequestError", reason: "Transport" })
  })

  test("hands back the token that is still valid with what is left of its life", function*({ setHandsBackToken }) {
    yield* setHandsBackToken(true)
    const first = yield* exchange
    yield* Time.pass("25500 millis")
    const second = yield* exchange
    yield* Time.pass("34 seconds")
    const third = yield* exchange
    expect([first, second, third]).toEqual([
      first,
      { ...first, expires_in: 34.5 },
      { ...first, expires_in: 0.5 }
    ])
  }, inMemory({ tokenLifetime: 60 }))

  test("hands back no token that has expired", function*({ setHandsBackToken }) {
    yield* setHandsBackToken(true)
    const first = yield* exchange
    yield* Time.pass("60 seconds")
    const second = yield* exchange
    expect(second.access_token).not.toBe(first.access_token)
    expect(second.expires_in).toBe(60)
  }, inMemory({ tokenLifetime: 60 }))

  test("hands back no token that was revoked", function*({ revoke, setHandsBackToken }) {
    yield* setHandsBackToken(true)
    const first = yield* exchange
    yield* revoke
    expect((yield* exchange).access_token).not.toBe(first.access_token)
  })

  test("hands back no token of another key", function*({ setHandsBackToken }) {
    yield* setHandsBackToken(true)
    const tokens = yield* Effect.forEach(
      ["one", "two"],
      (known) => Effect.flatMap(ask("POST", `${licenceRoute}/${known}`), ({ body }) => decodeToken(body))
    )
    expect(
      new Set(tokens.map(({ access_token }) => access_token)).size
    ).toBe(2)
  }, inMemory({ licenseKeys: ["one", "two"] }))

  test("counts a token handed back as an exchange and not as an issue", function*({ counters, setHandsBackToken }) {
    yield* setHandsBackToken(true)
    yield* exchange
    yield* exchange
    expect(yield* counters).toMatchObject({ exchanges: 2, tokensIssued: 1 })
  })

  test("keeps the last 1,000 requests", function*({ requests }) {
    yield* Effect.forEach(Array.range(1, 2_345), (number) => ask("GET", `/v2/${number}`), { discard: true })
    const seen = yield* requests
    expect([seen.length, seen[0]?.path, seen.at(-1)?.path]).toEqual([1_000, "/v2/1346", "/v2/2345"])
  })
})
