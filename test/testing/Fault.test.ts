import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Schema, TestClock } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import { advisor, getPlan } from "../support/doubles/simulatedAdvisor.js"
import { tokenRouteRows } from "../support/tables/tokenRoutes.js"

const test = arranged(Simulator.Simulator, advisor())

const Payload = Schema.Struct({ results: Schema.Array(Schema.Struct({ name: Schema.String })) })

const search = NutritionAdvisor.searchAs(Payload)("apple")

/** The error of a call, after enough time for its retries and its timeout. */
const endingOf = <E, R>(call: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.flip(call))
    yield* TestClock.adjust("40 seconds")
    return yield* Fiber.join(fiber)
  })

type Ending = Readonly<Record<string, string | number>>

const schema: Ending = { _tag: "UnexpectedResponse", reason: "Schema", status: 200 }

const notJson: Ending = { _tag: "UnexpectedResponse", reason: "NotJson", status: 200 }

const ofAnyCall = {
  "bad-request": { _tag: "BadRequest", status: 400 },
  unauthorized: { _tag: "Forbidden", reason: "RejectedAgain", status: 401 },
  forbidden: { _tag: "Forbidden", reason: "RejectedAgain", status: 403 },
  "not-found": { _tag: "UnexpectedResponse", reason: "Status", status: 404 },
  "too-many-requests": { _tag: "TooManyRequests", status: 429 },
  "too-many-requests-retry-after": { _tag: "TooManyRequests", status: 429, retryAfter: 30 },
  "server-error": { _tag: "ServerError", status: 500 },
  unavailable: { _tag: "ServerError", status: 503 },
  "unavailable-retry-after": { _tag: "ServerError", status: 503, retryAfter: 30 },
  redirect: { _tag: "UnexpectedResponse", reason: "Redirect", status: 302 },
  hang: { _tag: "TransportError", reason: "Timeout" },
  drop: { _tag: "TransportError", reason: "Connection" },
  "cut-short": { _tag: "TransportError", reason: "Aborted" },
  "too-large": { _tag: "UnexpectedResponse", reason: "TooLarge", status: 200 }
} satisfies Record<Simulator.Fault<"request">, Ending>

const ofSearch = {
  ...ofAnyCall,
  html: notJson,
  "broken-json": notJson,
  "empty-body": notJson,
  "wrong-shape": schema
} satisfies Record<Simulator.Fault<"search">, Ending>

const ofToken = {
  ...ofSearch,
  unauthorized: { _tag: "Forbidden", reason: "KeyRejected", status: 401 },
  forbidden: { _tag: "Forbidden", reason: "KeyRejected", status: 403 },
  "missing-token": schema,
  "blank-token": schema,
  "malformed-token": schema,
  "missing-customer-id": { _tag: "MissingServiceId" },
  "blank-customer-id": { _tag: "MissingServiceId" },
  "malformed-customer-id": schema,
  "missing-expires-in": schema,
  "zero-expires-in": schema,
  "negative-expires-in": schema,
  "non-numeric-expires-in": schema,
  "wrong-token-type": schema,
  "same-token": { _tag: "Forbidden", reason: "TokenUnchanged", operation: "search" }
} satisfies Record<Simulator.Fault<"token">, Ending>

const rows = Object.entries({ token: ofToken, search: ofSearch, request: ofAnyCall }).flatMap(([operation, endings]) =>
  Object.entries(endings).map(([fault, ending]) => ({
    operation: operation as Simulator.Operation,
    fault: fault as never,
    ending: { operation, ...ending }
  }))
)

const isOfToken = ({ operation }: (typeof rows)[number]) => operation === "token"

test.each(rows.filter((row) => !isOfToken(row)))(
  "simulator faults: with $fault, a call of $operation fails with $ending._tag",
  function*({ ending, fault, operation }, simulator) {
    yield* search
    yield* simulator.provoke(operation, fault)
    expect(yield* endingOf(operation === "request" ? getPlan : search)).toMatchObject(ending)
  }
)

describe.each(tokenRouteRows)("simulator faults at the token route $name", ({ name }) => {
  test.each(rows.filter(isOfToken))(
    "with $fault, a search that needs a new token fails with $ending._tag",
    function*({ ending, fault }, simulator) {
      yield* search
      yield* simulator.revoke
      yield* simulator.provoke("token", fault)
      expect(yield* endingOf(search)).toMatchObject(ending)
    },
    advisor({ tokenRoute: name })
  )
})

it("simulator faults: their names are listed by operation", () => {
  const names = Object.entries(Simulator.faults).flatMap(([operation, names]) =>
    names.map((fault) => `${fault} of ${operation}`)
  )
  expect(names.sort()).toEqual(rows.map(({ fault, operation }) => `${fault} of ${operation}`).sort())
})

test(
  "simulator faults: an exchange that the simulator rejects stays rejected, even with a fault in the token response",
  function*(simulator) {
    yield* simulator.provoke("token", "blank-customer-id")
    expect(yield* Effect.flip(search)).toMatchObject({
      _tag: "BadRequest",
      operation: "token",
      body: Redacted.make("{\"error\":\"unknown license key\"}")
    })
  },
  advisor({}, { licenseKeys: ["another-key"] })
)

test("simulator faults: an unknown name dies with the list of names", function*(simulator) {
  const exit = yield* Effect.exit(simulator.provoke("request", "constructor" as never))
  expect(String(exit)).toMatch(/no fault constructor for request calls\. It has bad-request, unauthorized/)
})

test("simulator faults: recover removes faults and planned responses of every operation", function*(simulator) {
  yield* simulator.provoke("token", "server-error")
  yield* simulator.provoke("search", "redirect", 3)
  yield* simulator.respondNext("request", { status: 418 })
  yield* simulator.respondAlways("request", "hang")
  yield* simulator.recover
  yield* search
  expect(yield* Effect.flip(getPlan)).toMatchObject({ status: 404 })
})
