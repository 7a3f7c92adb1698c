import { describe, expect } from "@effect/vitest"
import { Effect, Schema, Tracer } from "effect"
import type { NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import { test } from "../support/doubles/arranged.js"
import { advisor } from "../support/doubles/simulatedAdvisor.js"
import { respondAlways, respondNext } from "../support/doubles/simulator.js"
import { refusals } from "../support/doubles/statuses.js"

const found: Simulator.Reply = { status: 200, body: { results: [] } }

interface Failing {
  readonly observeHeaders?: ReadonlyArray<string>
  readonly operation?: Simulator.Operation
  readonly program?: Effect.Effect<
    unknown,
    NutritionAdvisorError.NutritionAdvisorError,
    NutritionAdvisor.NutritionAdvisor | Simulator.Simulator
  >
}

/** The error of a program if an operation gets these responses, and the last of them again and again. */
const failureOf = (
  [first, last = first]: readonly [Simulator.Reply, Simulator.Reply?],
  { observeHeaders = ["X-Request-Id"], operation = "search", program = NutritionAdvisor.search("apple") }: Failing = {}
) =>
  respondNext(operation, first).pipe(
    Effect.zipRight(respondAlways(operation, last)),
    Effect.zipRight(Effect.flip(program)),
    Effect.provide(advisor({ observeHeaders }))
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
  test.each(refusals)("after status %i, %s has only the listed header", function*([status, tag]) {
    const error = yield* failureOf([{ status, headers: identified }])
    expect([error._tag, headersOf(error)]).toEqual([tag, shown])
  })

  test("the error of a response that is not JSON has the header", function*() {
    const error = yield* failureOf([{ status: 200, body: "<html>", headers: identified }])
    expect(error).toMatchObject({ reason: "NotJson", headers: shown })
  })

  test("the error of a response that doesn't match the schema has the header", function*() {
    const search = NutritionAdvisor.searchAs(Schema.Struct({ total: Schema.Number }))("apple")
    expect(yield* failureOf([{ ...found, headers: identified }], { program: search }))
      .toMatchObject({ reason: "Schema", headers: shown })
  })

  test("errors of httpClient also have the header", function*() {
    const program = Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.get("/v2/plan"))
    const error = yield* failureOf([{ status: 500, headers: identified }], { operation: "request", program })
    expect(headersOf(error)).toEqual(shown)
  })

  test("after a renewal, the error has the header of the second response", function*() {
    const error = yield* failureOf([
      { status: 403, headers: { "x-request-id": "request-1" } },
      { status: 403, headers: { "x-request-id": "request-2" } }
    ])
    expect([error._tag, headersOf(error)]).toEqual(["Forbidden", { "x-request-id": "request-2" }])
  })

  test("an empty or missing header is left out", function*() {
    const headers = { "x-request-id": "request-1", "x-trace": "" }
    const error = yield* failureOf([{ status: 500, headers }], {
      observeHeaders: ["x-request-id", "x-trace", "x-none"]
    })
    expect(headersOf(error)).toEqual(shown)
  })

  test("a header is truncated to 256 characters", function*() {
    const error = yield* failureOf([{ status: 500, headers: { "x-request-id": "x".repeat(300) } }])
    expect(headersOf(error)).toEqual({ "x-request-id": "x".repeat(256) })
  })

  test("no header is on an error if none is listed", function*() {
    const error = yield* failureOf([{ status: 500, headers: identified }], { observeHeaders: [] })
    expect(headersOf(error)).toBeUndefined()
  })

  test("headers of the token route are never observed", function*() {
    const error = yield* failureOf([{ status: 400, headers: identified }], { operation: "token" })
    expect([error._tag, headersOf(error)]).toEqual(["BadRequest", undefined])
  })

  test("only the span of the request has the header as an attribute, even on success", function*() {
    const { spans, tracer } = yield* tracing
    yield* respondNext("search", { ...found, headers: identified }).pipe(
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

  const spanOf = (failure: ReturnType<typeof failureOf>) =>
    Effect.gen(function*() {
      const { spans, tracer } = yield* tracing
      const error = yield* Effect.withTracer(failure, tracer)
      const { attributes } = spans.find(({ name }) => name === "NutritionAdvisor.search") ?? {}
      return {
        reason: "reason" in error && error.reason,
        status: attributes?.get("http.response.status_code"),
        header: attributes?.get("http.response.header.x-request-id")
      }
    })

  test("the span of a search that is rejected twice has the status and header of the last response", function*() {
    const failure = failureOf([{ status: 401 }, { status: 403, headers: identified }])
    expect(yield* spanOf(failure)).toEqual({ reason: "RejectedAgain", status: 403, header: "request-1" })
  })

  test("the span of a search whose renewal returns the same token has the status and header of the rejection", function*() {
    const sameToken = { status: 200, body: { access_token: "t", customer_id: "c", expires_in: 3_600 } }
    const program = Effect.zipRight(respondAlways("token", sameToken), NutritionAdvisor.search("apple"))
    const failure = failureOf([{ status: 403, headers: identified }], { program })
    expect(yield* spanOf(failure)).toEqual({ reason: "TokenUnchanged", status: 403, header: "request-1" })
  })
})
