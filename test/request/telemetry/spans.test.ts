import { NodeSdk } from "@effect/opentelemetry"
import { expect, it } from "@effect/vitest"
import { SpanStatusCode } from "@opentelemetry/api"
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Effect, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { serverAttributes } from "../../../src/internal/telemetry/span.js"
import { testLive } from "../../support/doubles/arranged.js"
import { advisor, after, getPlan } from "../../support/doubles/simulatedAdvisor.js"

const searches = (count: number) =>
  Effect.replicateEffect(Effect.exit(NutritionAdvisor.search("rice")), count, { concurrency: "unbounded" })

/** A telemetry layer, and the spans that have ended. */
const telemetry = () => {
  const exporter = new InMemorySpanExporter()
  const layer = NodeSdk.layer(() => ({
    resource: { serviceName: "test" },
    spanProcessor: new SimpleSpanProcessor(exporter)
  }))
  return { layer, finished: Effect.sync(() => [...exporter.getFinishedSpans()]) }
}

/** The spans of a program that runs in a span of its caller. */
const spansOf = <E>(program: Effect.Effect<unknown, E, NutritionAdvisor.NutritionAdvisor | Simulator.Simulator>) => {
  const { finished, layer } = telemetry()
  return program.pipe(
    Effect.withSpan("caller"),
    Effect.provide(advisor()),
    Effect.zipRight(finished),
    Effect.provide(layer)
  )
}

const named = (spans: ReadonlyArray<ReadableSpan>, name: string) => spans.filter((span) => span.name === name)

const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId

const linksOf = (span: ReadableSpan) => span.links.map(({ context }) => context.spanId)

testLive("span of an exchange: it is a root span, even within a caller's span", function*() {
  const spans = yield* spansOf(searches(1))
  expect(named(spans, "TokenIssuer.issue").map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined])
})

testLive.each(
  [
    ["each waiting search links to it", searches(5), 5],
    [
      "each waiting search links to it even if it failed",
      after(({ respondAlways }) => respondAlways("token", { status: 400 }), searches(3)),
      3
    ]
  ] as const
)("span of an exchange: %s", function*([, program, count]) {
  const spans = yield* spansOf(program)
  const exchange = idOf(named(spans, "TokenIssuer.issue")[0])
  expect(exchange).toBeDefined()
  expect(named(spans, "NutritionAdvisor.search").map(linksOf)).toEqual(Array(count).fill([exchange]))
})

testLive("span of an exchange: a search that has a token does not link to it", function*() {
  const spans = yield* spansOf(Effect.zipRight(searches(1), searches(1)))
  expect(named(spans, "NutritionAdvisor.search").map((span) => linksOf(span).length)).toEqual([1, 0])
})

testLive.each(
  [
    ["provided to the client also traces exchanges", true, ["NutritionAdvisor.search", "TokenIssuer.issue"]],
    ["merged with the client traces only searches", false, ["NutritionAdvisor.search"]]
  ] as const
)("telemetry: a tracer layer %s", function*([, isBelow, names]) {
  const { finished, layer } = telemetry()
  const both = isBelow ? Layer.provideMerge(advisor(), layer) : Layer.merge(advisor(), layer)
  const spans = yield* Effect.provide(Effect.zipRight(searches(1), finished), both)
  expect(spans.map(({ name }) => name).sort()).toEqual(names)
})

testLive("span of a search: it is a child of the caller's span, and not of an earlier search", function*() {
  const spans = yield* spansOf(Effect.zipRight(searches(1), searches(1)))
  const caller = idOf(named(spans, "caller")[0])
  const parents = named(spans, "NutritionAdvisor.search").map(({ parentSpanContext }) => parentSpanContext?.spanId)
  expect(parents).toEqual([caller, caller])
})

const server = { "server.address": new URL(Simulator.baseUrl).hostname, "server.port": 443 }

testLive("spans: they have only the documented attributes", function*() {
  const spans = yield* spansOf(Effect.zipRight(searches(1), Effect.exit(getPlan)))
  expect(Object.fromEntries(spans.map(({ attributes, name }) => [name, attributes]))).toEqual({
    caller: {},
    "TokenIssuer.issue": {
      ...server,
      "http.request.method": "POST",
      "url.template": "/v2/token-cache/nutrition-advisor/oauth/licence/{key}",
      "http.response.status_code": 200
    },
    "NutritionAdvisor.search": {
      ...server,
      "http.request.method": "GET",
      "url.template": "/v2/products/napi/food/search/semantic",
      "http.response.status_code": 200
    },
    "NutritionAdvisor.request": {
      ...server,
      "http.request.method": "GET",
      "http.response.status_code": 404,
      "error.type": "UnexpectedResponse"
    }
  })
})

testLive.each(
  [
    ["NutritionAdvisor.search", "search", 429, "TooManyRequests"],
    ["TokenIssuer.issue", "token", 400, "BadRequest"]
  ] as const
)(
  "spans: a failed %s has the span status error, the status code and the tag of the error",
  function*([name, operation, status, error]) {
    const failed = after(({ respondAlways }) => respondAlways(operation, { status }), searches(1))
    const [span] = named(yield* spansOf(failed), name)
    expect(span?.attributes).toMatchObject({ "http.response.status_code": status, "error.type": error })
    expect(span?.status.code).toBe(SpanStatusCode.ERROR)
  }
)

testLive("spans: an interrupted search has the error type Interrupted", function*() {
  const interrupted = Effect.either(Effect.timeout(searches(1), "50 millis"))
  const program = after(({ setLatency }) => setLatency("search", "1 minute"), interrupted)
  const [span] = named(yield* spansOf(program), "NutritionAdvisor.search")
  expect(span?.attributes).toMatchObject({ "error.type": "Interrupted" })
})

it.each([
  ["https://nutrition.example", "nutrition.example", 443],
  ["http://nutrition.example", "nutrition.example", 80],
  ["https://[::1]:8443", "::1", 8443]
])("span attributes of the server: %s has the address %s and the port %i", (origin, address, port) => {
  expect(serverAttributes({ origin, pathname: "" }))
    .toEqual({ "server.address": address, "server.port": port })
})
