import { readFileSync } from "node:fs"
import { HttpApi, HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import { Array, Effect, Option, Redacted, Schema } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { document, ServiceApi } from "../../src/testing/ServiceApi.js"
import { arranged } from "../doubles/arranged.js"
import { inMemory, onAPort } from "../doubles/simulated.js"
import * as Time from "../doubles/Time.js"

interface Endpoint {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly schemas: ReadonlyMap<number, Schema.Schema<unknown>>
}

const endpoints: ReadonlyArray<Endpoint> = (() => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(ServiceApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { method, name, path }, errors, successes }) => {
      const schemas = [...successes, ...errors].map(([status, { ast }]) =>
        [status, Schema.make<unknown, unknown, never>(Option.getOrThrow(ast))] as const
      )
      found.push({ name, method, path, schemas: new Map(schemas) })
    }
  })
  return found
})()

const key = Redacted.value(Simulator.licenseKey)

const tokenRoutes = endpoints.filter(({ path }) => path.endsWith("/:key"))

const searchRoute = endpoints.find(({ name }) => name === "semanticSearch") as Endpoint

interface Call {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
}

const ask = ({ method }: Endpoint, { body, headers = {}, path }: Call) =>
  HttpClientRequest.make(method as "GET" | "POST")(path, { headers }).pipe(
    body === undefined ? (request) => request : HttpClientRequest.setBody(HttpBody.text(body)),
    HttpClient.execute,
    Effect.flatMap((response) =>
      Effect.map(response.text, (text) => ({ status: response.status, type: response.headers["content-type"], text }))
    )
  )

type Answered = Effect.Effect.Success<ReturnType<typeof ask>>

/** What the definition says against an answer, if anything. */
const complaint = ({ name, schemas }: Endpoint, { status, text, type }: Answered): string | undefined => {
  const schema = schemas.get(status)
  if (schema === undefined) return `${name} has no status ${status}`
  if (type !== "application/json") return `${name} answers ${status} as ${type}`
  const decoded = Schema.decodeUnknownEither(Schema.parseJson(schema), { onExcessProperty: "error" })(text)
  return decoded._tag === "Left" ? `${name} answers ${status} with another body: ${decoded.left.message}` : undefined
}

const complaints = (endpoint: Endpoint, answers: ReadonlyArray<Answered>) =>
  Array.filterMap(answers, (answer) => Option.fromNullable(complaint(endpoint, answer)))

const Token = Schema.parseJson(Schema.Struct({ access_token: Schema.String, customer_id: Schema.String }))

const exchange = Effect.flatMap(
  ask(tokenRoutes[0] as Endpoint, { path: (tokenRoutes[0] as Endpoint).path.replace(":key", key) }),
  ({ text }) => Schema.decode(Token)(text)
)

const test = arranged(Effect.void, inMemory())

const long = "a".repeat(20_000)

const exchanges = (endpoint: Endpoint) =>
  Effect.forEach(
    Array.cartesian(
      Array.cartesian([key, "another-key", "%E0%A4%A", "a%2Fb", long], [undefined, "{}"]),
      [{}, { authorization: "Bearer x" }, { "Service-ID": "c-1" }]
    ),
    ([[segment, body], headers]) => ask(endpoint, { path: endpoint.path.replace(":key", segment), body, headers })
  )

const queries = [
  "",
  "?term=",
  "?term=%20",
  "?term=apple",
  "?term=%FF",
  "?term=qqqq",
  "?term=egg&page=2",
  `?term=${long}`
]

/** Searches with each combination of a token in each state, an identifier and a query. */
const searches = Effect.gen(function*() {
  const { revoke, setTokenLifetime } = yield* Simulator.Simulator
  const revoked = yield* exchange
  yield* revoke
  yield* setTokenLifetime(1)
  const expired = yield* exchange
  yield* Time.pass("2 seconds")
  yield* setTokenLifetime(3600)
  const valid = yield* exchange
  const authorizations = [
    {},
    { authorization: "Basic x" },
    { authorization: "Bearer never-issued" },
    ...[revoked, expired, valid].map(({ access_token }) => ({ authorization: `Bearer ${access_token}` }))
  ]
  const identifiers = [{}, { "Service-ID": "someone-else" }, { "Service-ID": valid.customer_id }]
  return yield* Effect.forEach(
    Array.cartesian(Array.cartesian(authorizations, identifiers), queries),
    ([[authorization, identifier], query]) =>
      ask(searchRoute, { path: searchRoute.path + query, headers: { ...authorization, ...identifier } })
  )
})

const provoked = <O extends "token" | "search">(
  operation: O,
  endpoint: Endpoint,
  faults: ReadonlyArray<Simulator.Fault<O>>
) =>
  Effect.gen(function*() {
    const { provoke } = yield* Simulator.Simulator
    return yield* Effect.forEach(faults, (fault) =>
      Effect.zipRight(
        provoke(operation, fault),
        ask(endpoint, { path: endpoint.path.replace(":key", key) })
      ))
  })

const withinTheDefinition = [
  "bad-request",
  "unauthorized",
  "forbidden",
  "too-many-requests",
  "too-many-requests-retry-after",
  "server-error",
  "unavailable",
  "unavailable-retry-after"
] as const

const withoutAnswer = ["hang", "drop", "cut-short"]

describe("the definition of the service", () => {
  it("has the routes of SERVICE.md", () => {
    expect(endpoints.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /v2/token-cache/nutrition-advisor/oauth/licence/:key",
      "POST /v2/token-cache/nutrition-advisor/oauth/token/:key",
      "POST /v2/token-cache/unified/oauth/token/:key",
      "GET /v2/products/napi/food/search/semantic"
    ])
  })

  test.each(tokenRoutes)("has each answer that the simulator gives at $name, and no other status", function*(endpoint) {
    const answers = [...yield* exchanges(endpoint), ...yield* provoked("token", endpoint, withinTheDefinition)]
    expect(complaints(endpoint, answers)).toEqual([])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(endpoint.schemas.keys()))
  })

  test("has each answer that the simulator gives to a search, and no other status", function*() {
    const answers = [...yield* searches, ...yield* provoked("search", searchRoute, withinTheDefinition)]
    expect(complaints(searchRoute, answers)).toEqual([])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(searchRoute.schemas.keys()))
  })

  const isBreaking = (fault: string) => ![...withinTheDefinition, ...withoutAnswer, "same-token"].includes(fault)

  test.each(Simulator.faults.token.filter(isBreaking))(
    "lacks the answer of a token route with the fault %s",
    function*(fault) {
      const endpoint = tokenRoutes[0] as Endpoint
      expect(complaints(endpoint, yield* provoked("token", endpoint, [fault]))).toHaveLength(1)
    }
  )

  test.each(Simulator.faults.search.filter(isBreaking))("lacks a search's answer with the fault %s", function*(fault) {
    expect(complaints(searchRoute, yield* provoked("search", searchRoute, [fault]))).toHaveLength(1)
  })
})

describe("the OpenAPI document", () => {
  const committed = new URL("../../docs/openapi.json", import.meta.url)

  it("is the one that is committed; npx tsx scripts/openapi.ts writes it", () => {
    expect(readFileSync(committed, "utf8")).toBe(`${JSON.stringify(document(), undefined, 2)}\n`)
  })

  it("is valid by an independent validator", async () => {
    const validator = new Validator()
    expect(await validator.validate(readFileSync(committed, "utf8"))).toEqual({ valid: true })
    expect(validator.version).toBe("3.1")
  })

  it.live.each([
    { place: "in memory", simulated: inMemory },
    { place: "on a port", simulated: onAPort }
  ])(
    "is served $place at /openapi.json, without a token and without a trace in the log",
    ({ simulated }) =>
      Effect.gen(function*() {
        const { counters, requests } = yield* Simulator.Simulator
        const { status, text, type } = yield* ask(searchRoute, { path: "/openapi.json" })
        expect({ status, type }).toEqual({ status: 200, type: "application/json" })
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(document())))
        expect([(yield* counters).requests, yield* requests]).toEqual([0, []])
      }).pipe(Effect.provide(simulated()))
  )

  test("is served below the path prefix, which it names as its server", function*() {
    const { text } = yield* ask(searchRoute, { path: "/advisor/openapi.json" })
    expect(JSON.parse(text)).toMatchObject({ servers: [{ url: "/advisor" }] })
    expect((yield* ask(searchRoute, { path: "/openapi.json" })).status).toBe(404)
  }, inMemory({ pathPrefix: "/advisor" }))

  test("is not in the way of another method", function*() {
    expect((yield* ask(tokenRoutes[0] as Endpoint, { path: "/openapi.json" })).status).toBe(401)
  })
})
