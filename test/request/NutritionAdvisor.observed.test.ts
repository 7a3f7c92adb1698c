import { expect } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import { advisor, after, getPlan } from "../support/doubles/simulatedAdvisor.js"
import { recordSpans } from "../support/doubles/spans.js"
import { errorStatuses } from "../support/tables/errors.js"
import { arrange, failures, forbiddenCalls, responseOf } from "../support/tables/forbiddenCalls.js"

const observing = advisor({ observeHeaders: ["X-Request-Id", "x-trace", "x-none"], maxResponseBytes: 1_000 })

const test = arranged(Simulator.Simulator, observing)

const search = NutritionAdvisor.search("apple")

const headersOf = (error: NutritionAdvisorError.NutritionAdvisorError) => "headers" in error ? error.headers : undefined

const identified = { "x-request-id": "request-1", "x-other": "not listed" }

const shown = { "x-request-id": "request-1" }

test.each(errorStatuses)(
  "observeHeaders: after status %i, %s has only the listed header",
  function*([status, tag], { respondAlways }) {
    yield* respondAlways("search", { status, headers: identified })
    const error = yield* Effect.flip(search)
    expect(error._tag).toBe(tag)
    expect(headersOf(error)).toEqual(shown)
  }
)

test.each<readonly [title: string, response: Simulator.Reply, call: typeof search | typeof getPlan, expected: object]>([
  ["a search above maxResponseBytes", { status: 200, body: ["x".repeat(1_000)] }, search, { reason: "TooLarge" }],
  ["a search that is not JSON", { status: 200, body: "<html>" }, search, { reason: "NotJson" }],
  [
    "a search that doesn't match the schema",
    { status: 200, body: {} },
    NutritionAdvisor.searchAs(Schema.Struct({ total: Schema.Number }))("apple"),
    { reason: "Schema" }
  ],
  ["a request of httpClient", { status: 500 }, getPlan, { _tag: "ServerError" }]
])("observeHeaders: the error of %s has the header", function*([, response, call, expected], { respondAlways }) {
  yield* respondAlways("search", { ...response, headers: identified })
  yield* respondAlways("request", { ...response, headers: identified })
  expect(yield* Effect.flip(call)).toMatchObject({ ...expected, headers: shown })
})

test("observeHeaders: an empty or missing header is left out", function*({ respondNext }) {
  yield* respondNext("search", { status: 500, headers: { "x-request-id": "request-1", "x-trace": "" } })
  expect(headersOf(yield* Effect.flip(search))).toEqual(shown)
})

test("observeHeaders: a header is truncated to 256 characters", function*({ respondNext }) {
  yield* respondNext("search", { status: 500, headers: { "x-request-id": "x".repeat(300) } })
  expect(headersOf(yield* Effect.flip(search))).toEqual({ "x-request-id": "x".repeat(256) })
})

test("observeHeaders: headers of the token route are never observed", function*({ respondNext }) {
  yield* respondNext("token", { status: 400, headers: identified })
  const error = yield* Effect.flip(search)
  expect(error._tag).toBe("BadRequest")
  expect(headersOf(error)).toBeUndefined()
})

/** The status and the header in the span of each call that an effect makes. */
const spansOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(recordSpans(effect), ({ result, spans }) => ({
    result,
    spans: spans.map(({ attributes, name }) => [
      name,
      attributes.get("http.response.status_code"),
      attributes.get("http.response.header.x-request-id")
    ])
  }))

test("span: only the request's span has the listed header, even on success", function*() {
  const searched = after(
    ({ respondNext }) => respondNext("search", { status: 200, body: {}, headers: identified }),
    search
  )
  // The exchange uses the tracer of the layer.
  const { spans } = yield* spansOf(Effect.provide(searched, observing))
  expect(spans.sort()).toEqual([
    ["NutritionAdvisor.search", 200, "request-1"],
    ["TokenIssuer.issue", 200, undefined]
  ])
})

test(
  "after two rejections, the error and the span have the status and the header of the last response",
  function*(simulator) {
    yield* simulator.respondNext("search", { status: 401 }, { status: 403, headers: identified })
    const { result, spans } = yield* spansOf(Effect.flip(search))
    expect(result).toMatchObject({ reason: "RejectedAgain", status: 403, headers: shown })
    expect(spans).toContainEqual(["NutritionAdvisor.search", 403, "request-1"])
  }
)

test.each(Object.entries(forbiddenCalls))(
  "span: it has the status and the listed header of the rejection if the call fails with the reason %s",
  function*([reason, forbiddenCall], simulator) {
    const { headers, ...others } = responseOf(forbiddenCall)
    yield* arrange(simulator, forbiddenCall, { ...others, headers: { ...headers, ...identified } })
    const { result, spans } = yield* spansOf(failures(forbiddenCall))
    const last = result.at(-1)
    expect(last).toMatchObject({ _tag: "Forbidden", reason })
    expect(last && headersOf(last)).toEqual(shown)
    expect(spans.map(([, ...attributes]) => attributes)).toEqual(result.map(() => [others.status, "request-1"]))
  }
)
