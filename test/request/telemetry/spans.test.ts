import { NodeSdk } from "@effect/opentelemetry"
import { describe, expect, it } from "@effect/vitest"
import { SpanStatusCode } from "@opentelemetry/api"
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Effect, Layer } from "effect"
import type { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { testLive } from "../../support/doubles/arranged.js"
import { advisor, request, searches } from "./simulated.js"

/** The finished spans of a program that runs inside a span of the user's own. */
const spansOf = <E>(program: Effect.Effect<unknown, E, NutritionAdvisor.NutritionAdvisor | Simulator.Simulator>) =>
  Effect.gen(function*() {
    const exporter = new InMemorySpanExporter()
    const sdk = NodeSdk.layer(() => ({
      resource: { serviceName: "test" },
      spanProcessor: new SimpleSpanProcessor(exporter)
    }))
    return yield* program.pipe(
      Effect.withSpan("user"),
      Effect.provide(advisor),
      Effect.map(() => [...exporter.getFinishedSpans()]),
      Effect.provide(sdk)
    )
  })

const named = (spans: ReadonlyArray<ReadableSpan>, name: string) => spans.filter((span) => span.name === name)

const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId

const linksOf = (span: ReadableSpan) => span.links.map(({ context }) => context.spanId)

const answering = (operation: Simulator.Operation, status: number) =>
  Effect.flatMap(Simulator.Simulator, ({ respondAlways }) => respondAlways(operation, { status }))

describe("span of an exchange", () => {
  it.live("it is a root span, even within a caller's span", () =>
    Effect.map(spansOf(searches(1)), (spans) => {
      expect(named(spans, "TokenIssuer.issue").map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined])
    }))

  it.live.each(
    [
      ["is linked from the span of each search that waited for it", searches(5), 5],
      ["is linked from those who waited though it failed", Effect.zipRight(answering("token", 400), searches(3)), 3]
    ] as const
  )("%s", ([_, program, count]) =>
    Effect.map(spansOf(program), (spans) => {
      const exchange = idOf(named(spans, "TokenIssuer.issue")[0])
      expect(exchange).toBeDefined()
      expect(named(spans, "NutritionAdvisor.search").map(linksOf)).toEqual(Array(count).fill([exchange]))
    }))

  it.live("a search that has a token does not link to it", () =>
    Effect.map(spansOf(Effect.zipRight(searches(1), searches(1))), (spans) => {
      expect(named(spans, "NutritionAdvisor.search").map((span) => linksOf(span).length)).toEqual([1, 0])
    }))

  testLive("each rejected search links to the span of its renewal", function*() {
    const revoked = Effect.flatMap(Simulator.Simulator, ({ revoke }) => revoke)
    const spans = yield* spansOf(searches(1).pipe(Effect.zipRight(revoked), Effect.zipRight(searches(4))))
    const renewal = idOf(named(spans, "TokenIssuer.issue")[1])
    expect(renewal).toBeDefined()
    expect(named(spans, "NutritionAdvisor.search").slice(1).map(linksOf)).toEqual(Array(4).fill([renewal]))
  })
})

testLive.each(
  [
    ["below the client, shows the exchange too", true, ["NutritionAdvisor.search", "TokenIssuer.issue"]],
    ["beside the client, shows searches alone", false, ["NutritionAdvisor.search"]]
  ] as const
)("a telemetry layer %s", function*([, isBelow, names]) {
  const exporter = new InMemorySpanExporter()
  const sdk = NodeSdk.layer(() => ({
    resource: { serviceName: "test" },
    spanProcessor: new SimpleSpanProcessor(exporter)
  }))
  const layer = isBelow ? Layer.provideMerge(advisor, sdk) : Layer.merge(advisor, sdk)
  const seen = yield* Effect.provide(
    Effect.map(searches(1), () => exporter.getFinishedSpans().map(({ name }) => name)),
    layer
  )
  expect(seen.sort()).toEqual(names)
})

describe("span of a search", () => {
  it.live.each(
    [
      ["it is a child of the caller's span", searches(2)],
      [
        "it ends with the search, so that the next search is not its child",
        Effect.zipRight(searches(1), searches(1))
      ]
    ] as const
  )("%s", ([_, program]) =>
    Effect.map(spansOf(program), (spans) => {
      const user = idOf(named(spans, "user")[0])
      const parents = named(spans, "NutritionAdvisor.search").map(({ parentSpanContext }) => parentSpanContext?.spanId)
      expect(parents).toEqual([user, user])
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
    "%s has method, status, server, error and the template of a known route, and no other attribute",
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
    "a failed %s has the status of the response and the tag of the error, and status error",
    ([name, operation, status, error]) =>
      Effect.map(spansOf(Effect.zipRight(answering(operation, status), searches(1))), (spans) => {
        const [span] = named(spans, name)
        expect(span?.attributes).toMatchObject({ "http.response.status_code": status, "error.type": error })
        expect(span?.status.code).toBe(SpanStatusCode.ERROR)
      })
  )

  it.live("the span of a successful call has status ok", () =>
    Effect.map(spansOf(searches(1)), (spans) => {
      expect(spans.map(({ status }) => status.code)).toEqual(Array(3).fill(SpanStatusCode.OK))
    }))

  testLive("it covers the time from the start of a search to its end", function*() {
    const slow = Effect.flatMap(Simulator.Simulator, ({ setLatency }) => setLatency("search", "300 millis"))
    const [search] = named(yield* spansOf(Effect.zipRight(slow, searches(1))), "NutritionAdvisor.search")
    const [seconds = 0, nanos = 0] = search?.duration ?? []
    expect(seconds * 1e3 + nanos / 1e6).toBeGreaterThan(290)
  })
})
