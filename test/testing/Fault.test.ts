import { createServer } from "node:http"
import { type HttpClient, HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
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
      attemptDelay: "1 millis",
      backoffStart: "1 millis",
      backoffCap: "1 millis",
      backoffRetryAfterCap: "1 millis",
      coolDownStart: "1 millis",
      coolDownCap: "1 millis"
    }
  })

const inMemoryFor = (fault?: Simulator.Fault) =>
  Layer.provideMerge(advisor(Simulator.baseUrl, fault), Simulator.layerHttpClient())

const inMemory = inMemoryFor()

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

type Ending = {
  readonly [E in NutritionAdvisorError.NutritionAdvisorError as E["_tag"]]:
    & { readonly _tag: E["_tag"] }
    & Partial<Pick<E, Extract<keyof E, "operation" | "reason" | "retryAfter" | "status">>>
}[NutritionAdvisorError.NutritionAdvisorError["_tag"]]

const unexpected = (reason: NutritionAdvisorError.UnexpectedResponse["reason"], status = 200): Ending => ({
  _tag: "UnexpectedResponse",
  reason,
  status
})

const ofAnyCall = {
  "bad-request": { _tag: "BadRequest", status: 400 },
  "not-found": unexpected("Status", 404),
  "too-many-requests": { _tag: "TooManyRequests", status: 429 },
  "too-many-requests-retry-after": { _tag: "TooManyRequests", status: 429, retryAfter: 30 },
  "server-error": { _tag: "ServerError", status: 500 },
  unavailable: { _tag: "ServerError", status: 503 },
  "unavailable-retry-after": { _tag: "ServerError", status: 503, retryAfter: 30 },
  redirect: unexpected("Redirect", 302),
  hang: { _tag: "TransportError", reason: "Timeout" },
  drop: { _tag: "TransportError", reason: "Connection" },
  "cut-short": { _tag: "TransportError", reason: "Aborted" },
  "too-large": unexpected("TooLarge")
} as const satisfies Record<string, Ending>

const ofDocuments = {
  html: unexpected("NotJson"),
  "broken-json": unexpected("NotJson"),
  "empty-body": unexpected("NotJson"),
  "wrong-shape": unexpected("Schema")
}

const ofTokens: Record<Simulator.Fault<"token">, Ending> = {
  ...ofAnyCall,
  ...ofDocuments,
  unauthorized: { _tag: "Forbidden", reason: "KeyRejected", status: 401 },
  forbidden: { _tag: "Forbidden", reason: "KeyRejected", status: 403 },
  "missing-token": unexpected("Schema"),
  "blank-token": unexpected("Schema"),
  "malformed-token": unexpected("Schema"),
  "missing-customer-id": { _tag: "MissingServiceId" },
  "blank-customer-id": { _tag: "MissingServiceId" },
  "malformed-customer-id": unexpected("Schema"),
  "missing-expires-in": unexpected("Schema"),
  "zero-expires-in": unexpected("Schema"),
  "negative-expires-in": unexpected("Schema"),
  "non-numeric-expires-in": unexpected("Schema"),
  "wrong-token-type": unexpected("Schema"),
  "same-token": { _tag: "Forbidden", reason: "TokenUnchanged", operation: "search", status: 403 }
}

const rejectedAgain = {
  unauthorized: { _tag: "Forbidden", reason: "RejectedAgain", status: 401 },
  forbidden: { _tag: "Forbidden", reason: "RejectedAgain", status: 403 }
} as const satisfies Record<string, Ending>

const ofSearches: Record<Simulator.Fault<"search">, Ending> = { ...ofAnyCall, ...ofDocuments, ...rejectedAgain }

const ofRequests: Record<Simulator.Fault<"request">, Ending> = { ...ofAnyCall, ...rejectedAgain }

const search = NutritionAdvisor.searchAs(Payload)("apple")

const request = Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.get("/v2/plan"))

interface Row {
  readonly operation: Simulator.Operation
  readonly fault: Simulator.Fault
  readonly call: Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError, NutritionAdvisor.NutritionAdvisor>
  readonly ending: Ending
}

const rows: ReadonlyArray<Row> = [
  ...Simulator.faults.token.map((fault) =>
    ({ operation: "token", fault, call: search, ending: ofTokens[fault] }) as const
  ),
  ...Simulator.faults.search.map((fault) =>
    ({ operation: "search", fault, call: search, ending: ofSearches[fault] }) as const
  ),
  ...Simulator.faults.request.map((fault) =>
    ({ operation: "request", fault, call: request, ending: ofRequests[fault] }) as const
  )
]

const provoke = ({ fault, operation }: Row, times?: number) =>
  Effect.flatMap(Simulator.Simulator, (simulator) => simulator.provoke(operation, fault as never, times))

const recover = Effect.flatMap(Simulator.Simulator, (simulator) => simulator.recover)

const revoke = Effect.flatMap(Simulator.Simulator, (simulator) => simulator.revoke)

const wholeEnding = ({ ending, operation }: Row) => ({ operation, ...ending })

const places = [
  { place: "in memory", layerFor: inMemoryFor, dropped: "Connection" },
  ...clients.map(({ layer, name }) => ({
    place: `on a port, over ${name},`,
    layerFor: onAPortOver(layer),
    dropped: "Aborted"
  }))
]

describe.each(places)("a fault $place", ({ dropped, layerFor }) => {
  const expected = (row: Row) => row.fault === "drop" ? { ...wholeEnding(row), reason: dropped } : wholeEnding(row)

  it.live.each(rows)(
    "$fault of $operation ends in $ending._tag, as the error table says",
    (row) =>
      Effect.gen(function*() {
        yield* search
        if (row.operation === "token") yield* revoke
        yield* provoke(row)
        expect(yield* Effect.flip(row.call)).toMatchObject(expected(row))
      }).pipe(Effect.provide(layerFor(row.fault)))
  )
})

describe("a fault", () => {
  const coldRows = rows.filter(({ fault, operation }) => operation === "token" && fault !== "same-token")

  it.live.each(coldRows)("$fault of the first exchange ends in $ending._tag", (row) =>
    Effect.gen(function*() {
      yield* provoke(row)
      expect(yield* Effect.flip(search)).toMatchObject(wholeEnding(row))
    }).pipe(Effect.provide(inMemoryFor(row.fault))))

  it.live.each(rows.filter(({ operation }) => operation !== "request"))(
    "$fault of $operation is over once the simulator recovers",
    (row) =>
      Effect.gen(function*() {
        yield* search
        yield* revoke
        yield* provoke(row)
        yield* Effect.flip(search)
        yield* recover
        yield* Effect.sleep("5 millis")
        expect((yield* search).results).not.toEqual([])
      }).pipe(Effect.provide(inMemoryFor(row.fault)))
  )

  it.effect("says in its body what it is", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.provoke("search", "bad-request")
      expect(yield* Effect.flip(search)).toMatchObject({ body: Redacted.make("{\"error\":\"bad request\"}") })
    }).pipe(Effect.provide(inMemory)))

  it.effect("meets the next calls alone where their number is given", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.provoke("search", "server-error", 2)
      const answers = yield* Effect.replicateEffect(Effect.option(search), 3)
      expect(answers.map(({ _tag }) => _tag)).toEqual(["None", "None", "Some"])
    }).pipe(Effect.provide(inMemory)))

  it.effect("waits behind the answers that were planned before", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.respondNext("search", { status: 429 })
      yield* simulator.provoke("search", "server-error", 1)
      const errors = yield* Effect.replicateEffect(Effect.flip(search), 2)
      expect(errors.map(({ _tag }) => _tag)).toEqual(["TooManyRequests", "ServerError"])
    }).pipe(Effect.provide(inMemory)))

  it.effect("is taken back by respondAlways with undefined", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.provoke("search", "server-error")
      yield* simulator.respondAlways("search", undefined)
      expect((yield* search).results).not.toEqual([])
    }).pipe(Effect.provide(inMemory)))

  it.effect("of one operation leaves the others alone", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.provoke("request", "server-error")
      expect((yield* search).results).not.toEqual([])
    }).pipe(Effect.provide(inMemory)))

  it.effect("of the token response leaves a refusal of the service as it is", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.provoke("token", "blank-customer-id")
      expect(yield* Effect.flip(search)).toMatchObject({
        _tag: "BadRequest",
        operation: "token",
        body: Redacted.make("{\"error\":\"unknown license key\"}")
      })
    }).pipe(
      Effect.provide(
        Layer.provideMerge(advisor(Simulator.baseUrl), Simulator.layerHttpClient({ licenseKeys: ["another-key"] }))
      )
    ))

  it.effect("keeps the other fields of a token response, so that a client with a service id of its own goes on", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.provoke("token", "missing-customer-id")
      expect((yield* search).results).not.toEqual([])
    }).pipe(
      Effect.provide(
        NutritionAdvisor.layer({
          baseUrl: Simulator.baseUrl,
          licenseKey: Simulator.licenseKey,
          serviceId: "from-the-dashboard"
        }).pipe(Layer.provideMerge(Simulator.layerHttpClient({ customerId: "from-the-dashboard" })))
      )
    ))

  it.effect("same-token issues a token where there is none to hand back", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.provoke("token", "same-token")
      yield* search
      expect(yield* simulator.counters).toMatchObject({ exchanges: 1, tokensIssued: 1 })
    }).pipe(Effect.provide(inMemory)))

  it.effect("same-token hands back a token that was revoked and issues no other", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* search
      yield* simulator.revoke
      yield* simulator.provoke("token", "same-token")
      yield* Effect.flip(search)
      expect(yield* simulator.counters).toMatchObject({ exchanges: 2, tokensIssued: 1 })
    }).pipe(Effect.provide(inMemory)))

  it.effect("that has no such name dies with the names that there are", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const exit = yield* Effect.exit(simulator.provoke("request", "constructor" as never))
      expect(String(exit)).toMatch(/no fault constructor of request: bad-request, unauthorized/)
    }).pipe(Effect.provide(inMemory)))
})

describe("recover", () => {
  it.effect("takes back the faults and the planned answers of every operation", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.provoke("token", "server-error")
      yield* simulator.provoke("search", "redirect", 3)
      yield* simulator.respondNext("request", { status: 418 })
      yield* simulator.respondAlways("request", "hang")
      yield* simulator.recover
      yield* search
      expect(yield* Effect.flip(request)).toMatchObject({ status: 404 })
    }).pipe(Effect.provide(inMemory)))
})
