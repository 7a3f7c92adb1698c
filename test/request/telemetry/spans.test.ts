import { NodeSdk } from "@effect/opentelemetry"
import { describe, expect, it } from "@effect/vitest"
import { SpanStatusCode } from "@opentelemetry/api"
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Effect, Layer } from "effect"
import type { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { testLive } from "../../support/doubles/arranged.js"
import { respondAlways, revoke, setLatency } from "../../support/doubles/simulator.js"
import { advisor, request, searches } from "./simulated.js"

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
const spansOf = <E>(program: Effect.Effect<unknown, E, NutritionAdvisor.NutritionAdvisor | Simulator.Simulator>) =>
  Effect.suspend(() => {
    const { finished, layer } = telemetry()
    return program.pipe(
      Effect.withSpan("caller"),
      Effect.provide(advisor),
      Effect.zipRight(finished),
      Effect.provide(layer)
    )
  })

const named = (spans: ReadonlyArray<ReadableSpan>, name: string) => spans.filter((span) => span.name === name)

const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId

const linksOf = (span: ReadableSpan) => span.links.map(({ context }) => context.spanId)

describe("span of an exchange", () => {
  it.live("the span is a root span, even within a caller's span", () =>
    Effect.map(spansOf(searches(1)), (spans) => {
      expect(named(spans, "TokenIssuer.issue").map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined])
    }))

  it.live.each(
    [
      ["each waiting search links to the exchange", searches(5), 5],
      [
        "each waiting search links to the exchange even if that failed",
        Effect.zipRight(respondAlways("token", { status: 400 }), searches(3)),
        3
      ]
    ] as const
  )("%s", ([_, program, count]) =>
    Effect.map(spansOf(program), (spans) => {
      const exchange = idOf(named(spans, "TokenIssuer.issue")[0])
      expect(exchange).toBeDefined()
      expect(named(spans, "NutritionAdvisor.search").map(linksOf)).toEqual(Array(count).fill([exchange]))
    }))

  it.live("a search that has a token does not link to the exchange", () =>
    Effect.map(spansOf(Effect.zipRight(searches(1), searches(1))), (spans) => {
      expect(named(spans, "NutritionAdvisor.search").map((span) => linksOf(span).length)).toEqual([1, 0])
    }))

  testLive("each rejected search links to its renewal", function*() {
    const spans = yield* spansOf(searches(1).pipe(Effect.zipRight(revoke), Effect.zipRight(searches(4))))
    const renewal = idOf(named(spans, "TokenIssuer.issue")[1])
    expect(renewal).toBeDefined()
    expect(named(spans, "NutritionAdvisor.search").slice(1).map(linksOf)).toEqual(Array(4).fill([renewal]))
  })
})

testLive.each(
  [
    ["provided to the client also traces exchanges", true, ["NutritionAdvisor.search", "TokenIssuer.issue"]],
    ["merged with the client traces only searches", false, ["NutritionAdvisor.search"]]
  ] as const
)("telemetry: a tracer layer %s", function*([, isBelow, names]) {
  const { finished, layer } = telemetry()
  const both = isBelow ? Layer.provideMerge(advisor, layer) : Layer.merge(advisor, layer)
  const spans = yield* Effect.provide(Effect.zipRight(searches(1), finished), both)
  expect(spans.map(({ name }) => name).sort()).toEqual(names)
})

describe("span of a search", () => {
  it.live.each(
    [
      ["the span is a child of the caller's span", searches(2)],
      [
        "the span ends with the search, so the next search is not its child",
        Effect.zipRight(searches(1), searches(1))
      ]
    ] as const
  )("%s", ([_, program]) =>
    Effect.map(spansOf(program), (spans) => {
      const caller = idOf(named(spans, "caller")[0])
      const parents = named(spans, "NutritionAdvisor.search").map(({ parentSpanContext }) => parentSpanContext?.spanId)
      expect(parents).toEqual([caller, caller])
    }))
})

describe("span", () => {
  const template = {
    "NutritionAdvisor.search": "/v2/products/napi/food/search/semantic",
    "NutritionAdvisor.request": undefined,
    "TokenIssuer.issue": "/v2/token-cache/nutrition-advisor/oauth/licence/{key}"
  }

  const attributesOf = (name: keyof typeof template, method: string, status: number) => ({
    "http.request.method": method,
    "http.response.status_code": status,
    "server.address": new URL(Simulator.baseUrl).hostname,
    "server.port": 443,
    ...(status === 404 ? { "error.type": "UnexpectedResponse" } : {}),
    ...(template[name] === undefined ? {} : { "url.template": template[name] })
  })

  it.live.each(
    [
      ["NutritionAdvisor.search", "GET", 200],
      ["NutritionAdvisor.request", "GET", 404],
      ["TokenIssuer.issue", "POST", 200]
    ] as const
  )(
    "%s has only the documented attributes",
    ([name, method, status]) =>
      Effect.map(spansOf(Effect.zipRight(searches(1), request)), (spans) => {
        expect(named(spans, name).map(({ attributes }) => attributes)).toEqual([attributesOf(name, method, status)])
      })
  )

  it.live.each(
    [
      ["NutritionAdvisor.search", "search", 429, "TooManyRequests"],
      ["TokenIssuer.issue", "token", 400, "BadRequest"]
    ] as const
  )(
    "a failed %s has the span status error, the status code and the tag of the error",
    ([name, operation, status, error]) =>
      Effect.map(spansOf(Effect.zipRight(respondAlways(operation, { status }), searches(1))), (spans) => {
        const [span] = named(spans, name)
        expect(span?.attributes).toMatchObject({ "http.response.status_code": status, "error.type": error })
        expect(span?.status.code).toBe(SpanStatusCode.ERROR)
      })
  )

  it.live("a successful call has the span status ok", () =>
    Effect.map(spansOf(searches(1)), (spans) => {
      expect(spans.map(({ status }) => status.code)).toEqual(Array(3).fill(SpanStatusCode.OK))
    }))

  testLive("the span of a search lasts from its start to its end", function*() {
    const slow = Effect.zipRight(setLatency("search", "300 millis"), searches(1))
    const [search] = named(yield* spansOf(slow), "NutritionAdvisor.search")
    const [seconds = 0, nanos = 0] = search?.duration ?? []
    expect(seconds * 1e3 + nanos / 1e6).toBeGreaterThan(290)
  })
})
