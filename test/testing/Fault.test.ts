import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { type HttpClient, HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../doubles/arranged.js"
import { clients } from "../leaks/clients.js"

const Payload = Schema.Struct({ results: Schema.Array(Schema.Struct({ name: Schema.String })) })

/** Only a call that hangs is to be timed out: 16 MiB take their time on a slow machine. */
const patienceFor = (fault?: Simulator.Fault) => fault === "hang" ? "1 second" : "30 seconds"

const advisor = (baseUrl: string, fault?: Simulator.Fault) =>
  NutritionAdvisor.layer({
    baseUrl,
    licenseKey: Simulator.licenseKey,
    tokenTimeout: patienceFor(fault),
    requestTimeout: patienceFor(fault),
    refresh: {
      background: false,
      backoffStart: "1 millis",
      backoffCap: "1 millis",
      coolDownStart: "1 millis",
      coolDownCap: "1 millis"
    }
  })

const inMemoryFor = (fault?: Simulator.Fault) =>
  Layer.provideMerge(advisor(Simulator.baseUrl, fault), Simulator.layerHttpClient())

const inMemory = inMemoryFor()

const test = arranged(Simulator.Simulator, inMemory)

const onAPortOver = (client: Layer.Layer<HttpClient.HttpClient>) => (fault: Simulator.Fault) =>
  Layer.unwrapEffect(
    Effect.map(
      HttpServer.HttpServer,
      ({ address }) => advisor(`http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`, fault)
    )
  ).pipe(
    Layer.provideMerge(Simulator.layerServer()),
    Layer.provide([NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }), client])
  )

type Ending = Readonly<Record<string, string | number>>

const operations = ["token", "search", "request"] as const

const document = readFileSync(new URL("../../docs/testing.md", import.meta.url), "utf8")

/** In docs/testing.md the sentence above each table of faults names its operations, or says that they are faults of any call. */
const tables = [...document.matchAll(/^(.+)\n\n\| fault \|.*\n.*\n((?:\|.*\n)+)/gm)].map(
  ([, sentence = "", rows = ""]) => ({
    rows: rows.matchAll(/^\| (`.*`) \| (.*) \| (.*) \|$/gm),
    operations: sentence.includes("any call")
      ? operations
      : operations.filter((operation) => sentence.includes(`\`"${operation}"\``))
  })
)

const documented = new Map(
  tables.flatMap(({ operations, rows }) =>
    [...rows].flatMap(([, names = "", answer = "", end = ""]) => {
      const [, _tag = "", reason] = /`([A-Z]\w+)`(?:: `(\w+)`)?/.exec(end) ?? []
      const retryAfter = /`retryAfter` (\d+)/.exec(end)?.[1]
      const status = _tag === "MissingServiceId" ? undefined : /^\d{3}/.exec(answer)?.[0]
      const ending: Ending = {
        _tag,
        ...(reason === undefined ? {} : { reason }),
        ...(status === undefined ? {} : { status: Number(status) }),
        ...(retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) })
      }
      return [...names.matchAll(/`([a-z-]+)`/g)].flatMap(([, fault]) =>
        operations.map((operation) => [`${fault} of ${operation}`, ending] as const)
      )
    })
  )
)

const search = NutritionAdvisor.searchAs(Payload)("apple")

const request = Effect.flatMap(
  NutritionAdvisor.NutritionAdvisor,
  ({ httpClient }) => Effect.asVoid(httpClient.get("/v2/plan"))
)

interface Row {
  readonly operation: Simulator.Operation
  readonly fault: Simulator.Fault
  readonly ending: Ending
}

/** The exchange succeeds, and the search is rejected. */
const sameToken: Ending = { operation: "search", status: 403 }

const rows = operations.flatMap((operation): ReadonlyArray<Row> =>
  Simulator.faults[operation].map((fault) => ({
    operation,
    fault,
    ending: {
      operation,
      ...documented.get(`${fault} of ${operation}`),
      ...fault === "same-token" ? sameToken : {}
    }
  }))
)

const provoke = ({ fault, operation }: Row) =>
  Effect.flatMap(Simulator.Simulator, (simulator) => simulator.provoke(operation, fault as never))

const revoke = Effect.flatMap(Simulator.Simulator, (simulator) => simulator.revoke)

const places = [
  { place: "in memory", layerFor: inMemoryFor, dropped: "Connection" },
  ...clients.map(({ layer, name }) => ({
    place: `on a port, over ${name},`,
    layerFor: onAPortOver(layer),
    dropped: "Aborted"
  }))
]

describe.each(places)("a fault $place", ({ dropped, layerFor }) => {
  const expected = ({ ending, fault }: Row) => fault === "drop" ? { ...ending, reason: dropped } : ending

  it.live.each(rows)(
    "$fault of $operation ends in $ending._tag, as docs/testing.md says",
    (row) =>
      Effect.gen(function*() {
        yield* search
        if (row.operation === "token") yield* revoke
        yield* provoke(row)
        expect(yield* Effect.flip(row.operation === "request" ? request : Effect.asVoid(search))).toMatchObject(
          expected(row)
        )
      }).pipe(Effect.provide(layerFor(row.fault)))
  )
})

describe("a fault", () => {
  it("has a row in docs/testing.md, and a row has its fault", () => {
    expect([...documented.keys()].sort()).toEqual(rows.map(({ fault, operation }) => `${fault} of ${operation}`).sort())
  })

  test("says in its body what it is", function*(simulator) {
    yield* simulator.provoke("search", "bad-request")
    expect(yield* Effect.flip(search)).toMatchObject({ body: Redacted.make("{\"error\":\"bad request\"}") })
  })

  test("waits behind the answers that were planned before", function*(simulator) {
    yield* simulator.respondNext("search", { status: 429 })
    yield* simulator.provoke("search", "server-error", 1)
    const errors = yield* Effect.replicateEffect(Effect.flip(search), 2)
    expect(errors.map(({ _tag }) => _tag)).toEqual(["TooManyRequests", "ServerError"])
  })

  test("of one operation leaves the others alone", function*(simulator) {
    yield* simulator.provoke("request", "server-error")
    expect((yield* search).results).not.toEqual([])
  })

  test("of the token response leaves a refusal of the service as it is", function*(simulator) {
    yield* simulator.provoke("token", "blank-customer-id")
    expect(yield* Effect.flip(search)).toMatchObject({
      _tag: "BadRequest",
      operation: "token",
      body: Redacted.make("{\"error\":\"unknown license key\"}")
    })
  }, Layer.provideMerge(advisor(Simulator.baseUrl), Simulator.layerHttpClient({ licenseKeys: ["another-key"] })))

  const { baseUrl, licenseKey } = Simulator
  const serviceId = "from-the-dashboard"
  const withServiceId = NutritionAdvisor.layer({ baseUrl, licenseKey, serviceId })

  test(
    "keeps the other fields of a token response, so that a client with a service id of its own goes on",
    function*(simulator) {
      yield* simulator.provoke("token", "missing-customer-id")
      expect((yield* search).results).not.toEqual([])
    },
    Layer.provideMerge(withServiceId, Simulator.layerHttpClient({ customerId: serviceId }))
  )

  test("same-token issues a token where there is none to hand back", function*(simulator) {
    yield* simulator.provoke("token", "same-token")
    yield* search
    expect(yield* simulator.counters).toMatchObject({ exchanges: 1, tokensIssued: 1 })
  })

  test("same-token hands back a token that was revoked and issues no other", function*(simulator) {
    yield* search
    yield* simulator.revoke
    yield* simulator.provoke("token", "same-token")
    yield* Effect.flip(search)
    expect(yield* simulator.counters).toMatchObject({ exchanges: 2, tokensIssued: 1 })
  })

  test("that has no such name dies with the names that there are", function*(simulator) {
    const exit = yield* Effect.exit(simulator.provoke("request", "constructor" as never))
    expect(String(exit)).toMatch(/no fault constructor of request: bad-request, unauthorized/)
  })
})

describe("recover", () => {
  test("takes back the faults and the planned answers of every operation", function*(simulator) {
    yield* simulator.provoke("token", "server-error")
    yield* simulator.provoke("search", "redirect", 3)
    yield* simulator.respondNext("request", { status: 418 })
    yield* simulator.respondAlways("request", "hang")
    yield* simulator.recover
    yield* search
    expect(yield* Effect.flip(request)).toMatchObject({ status: 404 })
  })
})
