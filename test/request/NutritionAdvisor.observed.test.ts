import { describe, expect } from "@effect/vitest"
import { Effect, Schema, Tracer } from "effect"
import type { NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { test } from "../support/doubles/arranged.js"
import { advisor } from "../support/doubles/simulatedAdvisor.js"
import { refusals } from "../support/doubles/statuses.js"

const found: Simulator.Reply = { status: 200, body: { results: [] } }

/** The error where calls of an operation are answered so, the last answer for ever. */
const failureOf = (
  [first, second = first]: readonly [Simulator.Reply, Simulator.Reply?],
  names: ReadonlyArray<string> = ["X-Request-Id"],
  search: Effect.Effect<
    unknown,
    NutritionAdvisorError.NutritionAdvisorError,
    NutritionAdvisor.NutritionAdvisor | Simulator.Simulator
  > = NutritionAdvisor.search("apple"),
  operation: Simulator.Operation = "search"
) =>
  Effect.flatMap(
    Simulator.Simulator,
    ({ respondAlways, respondNext }) => Effect.zip(respondNext(operation, first), respondAlways(operation, second))
  ).pipe(
    Effect.zipRight(Effect.flip(search)),
    Effect.provide(advisor({ observeHeaders: names }))
  )

const headersOf = (error: NutritionAdvisorError.NutritionAdvisorError | NutritionAdvisorError.ConfigurationError) =>
  "headers" in error ? error.headers : undefined

const identified = { "x-request-id": "request-1", "x-other": "not listed" }

const shown = { "x-request-id": "request-1" }

/** A tracer, and the spans that it has made. */
const tracing = Effect.map(Effect.tracer, (own) => {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    ...own,
    span: (...args) => {
      const span = own.span(...args)
      spans.push(span)
      return span
    }
  })
  return { spans, tracer }
})

describe("observeHeaders", () => {
  test.each(refusals)("only the listed header of a response with status %i is on %s", function*([status, tag]) {
    const error = yield* failureOf([{ status, headers: identified }])
    expect([error._tag, headersOf(error)]).toEqual([tag, shown])
  })

  test("the error of a response that is not JSON has it", function*() {
    const error = yield* failureOf([{ status: 200, body: "<html>", headers: identified }])
    expect(error).toMatchObject({ reason: "NotJson", headers: shown })
  })

  test("the error of a response with another shape has it", function*() {
    const search = NutritionAdvisor.searchAs(Schema.Struct({ total: Schema.Number }))("apple")
    expect(yield* failureOf([{ ...found, headers: identified }], undefined, search))
      .toMatchObject({ reason: "Schema", headers: shown })
  })

  test("errors of httpClient have it, too", function*() {
    const request = Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.get("/v2/plan"))
    expect(headersOf(yield* failureOf([{ status: 500, headers: identified }], undefined, request, "request")))
      .toEqual(shown)
  })

  test("after a renewal, it is the header of the second response", function*() {
    const error = yield* failureOf([
      { status: 403, headers: { "x-request-id": "request-1" } },
      { status: 403, headers: { "x-request-id": "request-2" } }
    ])
    expect([error._tag, headersOf(error)]).toEqual(["Forbidden", { "x-request-id": "request-2" }])
  })

  test("an empty or missing header is left out", function*() {
    const headers = { "x-request-id": "request-1", "x-trace": "" }
    const error = yield* failureOf([{ status: 500, headers }], ["x-request-id", "x-trace", "x-none"])
    expect(headersOf(error)).toEqual(shown)
  })

  test("a header is cut at 256 characters", function*() {
    const error = yield* failureOf([{ status: 500, headers: { "x-request-id": "x".repeat(300) } }])
    expect(headersOf(error)).toEqual({ "x-request-id": "x".repeat(256) })
  })

  test("no header is on an error if none is listed", function*() {
    expect(headersOf(yield* failureOf([{ status: 500, headers: identified }], []))).toBeUndefined()
  })

  test("headers of the token route are never observed", function*() {
    const error = yield* failureOf([{ status: 400, headers: identified }], undefined, undefined, "token")
    expect([error._tag, headersOf(error)]).toEqual(["BadRequest", undefined])
  })

  test("only the request's span has it as an attribute, even if the request succeeds", function*() {
    const { spans, tracer } = yield* tracing
    yield* Effect.flatMap(
      Simulator.Simulator,
      ({ respondNext }) => respondNext("search", { ...found, headers: identified })
    ).pipe(
      Effect.zipRight(NutritionAdvisor.search("apple")),
      Effect.provide(advisor({ observeHeaders: ["X-Request-Id"] })),
      Effect.withTracer(tracer)
    )
    const observed = spans.map(({ attributes, name }) => [name, attributes.get("http.response.header.x-request-id")])
    expect(Object.fromEntries(observed)).toEqual({
      "TokenIssuer.issue": undefined,
      "NutritionAdvisor.search": "request-1"
    })
  })
  test.each<readonly [reason: string, rejections: readonly [Simulator.Reply, Simulator.Reply?], shown: object]>([
    ["RejectedAgain", [{ status: 401 }, { status: 403, headers: identified }], { status: 403, header: "request-1" }],
    ["TokenUnchanged", [{ status: 403, headers: identified }], { status: 403, header: "request-1" }]
  ])("span of a search that fails with Forbidden %s: it has the status code and the observed header", function*(
    [reason, rejections, shown]
  ) {
    const { spans, tracer } = yield* tracing
    const again = { status: 200, body: { access_token: "t", customer_id: "c", expires_in: 3_600 } }
    const search = Effect.zipRight(
      Effect.flatMap(
        Simulator.Simulator,
        ({ respondAlways }) => reason === "TokenUnchanged" ? respondAlways("token", again) : Effect.void
      ),
      NutritionAdvisor.search("apple")
    )
    expect(yield* Effect.withTracer(failureOf(rejections, undefined, search), tracer)).toMatchObject({ reason })
    const { attributes } = spans.find(({ name }) => name === "NutritionAdvisor.search") ?? {}
    expect({
      status: attributes?.get("http.response.status_code"),
      header: attributes?.get("http.response.header.x-request-id")
    }).toEqual(shown)
  })
})
