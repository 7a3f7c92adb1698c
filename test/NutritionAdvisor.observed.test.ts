import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, Layer, Schema, Tracer } from "effect"
import type { NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { test } from "./doubles/arranged.js"
import { refusals } from "./doubles/statuses.js"

const token = "se+cret/to~ken"
const customer = "cust:omer-1"

interface Answer {
  readonly status?: number
  readonly body?: string
  readonly headers?: ConstructorParameters<typeof Headers>[0]
}

const found: Answer = { body: "{\"results\":[]}" }

/** A service of which each call of a route gets the next answer, the last one for ever. */
const client = (data: ReadonlyArray<Answer>, exchange?: Answer) => {
  let calls = 0
  const issued = JSON.stringify({ access_token: token, customer_id: customer, expires_in: 3600 })
  return HttpClient.make((request, url) =>
    Effect.sync(() => {
      const isExchange = url.pathname.includes("/oauth/")
      const { body = "", headers = {}, status = 200 } = isExchange
        ? exchange ?? { body: issued.replace(token, `${token}${calls}`) }
        : data[Math.min(calls++, data.length - 1)] ?? found
      return HttpClientResponse.fromWeb(request, new Response(body, { status, headers }))
    })
  )
}

const observing = (observeHeaders: ReadonlyArray<string>, serviceIdHeader?: string) =>
  NutritionAdvisor.layer({
    baseUrl: Simulator.baseUrl,
    licenseKey: Simulator.licenseKey,
    refresh: { background: false },
    serviceIdHeader,
    observeHeaders
  })

const failureOf = (
  data: ReadonlyArray<Answer>,
  names: ReadonlyArray<string> = ["X-Request-Id"],
  search: Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError, NutritionAdvisor.NutritionAdvisor> =
    NutritionAdvisor.search("apple")
) =>
  Effect.flip(search).pipe(
    Effect.provide(observing(names)),
    Effect.provideService(HttpClient.HttpClient, client(data))
  )

const headersOf = (error: NutritionAdvisorError.NutritionAdvisorError | NutritionAdvisorError.ConfigurationError) =>
  "headers" in error ? error.headers : undefined

const identified = { "x-request-id": "request-1", "x-other": "not listed" }

const shown = { "x-request-id": "request-1" }

describe("a header that is observed", () => {
  test.each([...refusals, [302, "UnexpectedResponse"] as const])(
    "of an answer of %i is on %s, and no other header",
    function*([status, tag]) {
      const error = yield* failureOf([{ status, headers: identified }])
      expect([error._tag, headersOf(error)]).toEqual([tag, shown])
    }
  )

  test("is on the error of an answer that is not JSON", function*() {
    const error = yield* failureOf([{ body: "<html>", headers: identified }])
    expect(error).toMatchObject({ reason: "NotJson", headers: shown })
  })

  test("is on the error of an answer of another shape", function*() {
    const search = NutritionAdvisor.searchAs(Schema.Struct({ total: Schema.Number }))("apple")
    expect(yield* failureOf([{ ...found, headers: identified }], undefined, search))
      .toMatchObject({ reason: "Schema", headers: shown })
  })

  test("is on the errors of httpClient too", function*() {
    const request = Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.get("/v2/plan"))
    expect(headersOf(yield* failureOf([{ status: 500, headers: identified }], undefined, request))).toEqual(shown)
  })

  test("is that of the second answer after a renewal", function*() {
    const error = yield* failureOf([
      { status: 403, headers: { "x-request-id": "request-1" } },
      { status: 403, headers: { "x-request-id": "request-2" } }
    ])
    expect([error._tag, headersOf(error)]).toEqual(["Forbidden", { "x-request-id": "request-2" }])
  })

  test("is there with all values that it came with, and not there where they are empty", function*() {
    const twice = new Headers([["x-request-id", "request-1"], ["x-request-id", "request-2"], ["x-trace", ""]])
    const error = yield* failureOf([{ status: 500, headers: twice }], ["x-request-id", "x-trace", "x-none"])
    expect(headersOf(error)).toEqual({ "x-request-id": "request-1, request-2" })
  })

  test("is cut at 256 characters", function*() {
    const error = yield* failureOf([{ status: 500, headers: { "x-request-id": "x".repeat(300) } }])
    expect(headersOf(error)).toEqual({ "x-request-id": "x".repeat(256) })
  })

  test("is absent where none is listed", function*() {
    expect(headersOf(yield* failureOf([{ status: 500, headers: identified }], []))).toBeUndefined()
  })

  test("is never one of the token route", function*() {
    const error = yield* Effect.flip(NutritionAdvisor.search("apple")).pipe(
      Effect.provide(observing(["x-request-id"])),
      Effect.provideService(HttpClient.HttpClient, client([found], { status: 400, headers: identified }))
    )
    expect([error._tag, headersOf(error)]).toEqual(["BadRequest", undefined])
  })

  test("is an attribute of the request's span, also of one that succeeds, and of no other span", function*() {
    const spans: Array<Tracer.Span> = []
    const own = yield* Effect.tracer
    const tracer = Tracer.make({
      ...own,
      span: (...args) => {
        const span = own.span(...args)
        spans.push(span)
        return span
      }
    })
    yield* NutritionAdvisor.search("apple").pipe(
      Effect.provide(observing(["X-Request-Id"])),
      Effect.provideService(HttpClient.HttpClient, client([{ ...found, headers: identified }])),
      Effect.withTracer(tracer)
    )
    const observed = spans.map(({ attributes, name }) => [name, attributes.get("http.response.header.x-request-id")])
    expect(Object.fromEntries(observed)).toEqual({
      "TokenIssuer.issue": undefined,
      "NutritionAdvisor.search": "request-1"
    })
  })

  test.each<readonly [names: ReadonlyArray<unknown>, serviceIdHeader?: string]>([
    [["authorization"]],
    [["X-Request-Id", "Set-Cookie"]],
    [["www-authenticate"]],
    [["cookie"]],
    [["service-id"]],
    [["x-customer"], "X-Customer"],
    [["x request"]],
    [[""]]
  ])("can't be one that carries secrets or no header at all: %j", function*([names, serviceIdHeader]) {
    const layer = observing(names as ReadonlyArray<string>, serviceIdHeader)
    const error = yield* Effect.flip(Layer.build(layer)).pipe(
      Effect.provideService(HttpClient.HttpClient, client([]))
    )
    expect(error).toMatchObject({ _tag: "ConfigurationError", field: "observeHeaders" })
  })
})
