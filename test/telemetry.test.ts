import { readFileSync } from "node:fs"
import { NodeSdk } from "@effect/opentelemetry"
import { describe, expect, it } from "@effect/vitest"
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Effect, Layer, Logger, LogLevel, Metric } from "effect"
import { NutritionAdvisor, SharedTokenCache } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

const advisor = NutritionAdvisor.layer({
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey
}).pipe(Layer.provideMerge(Simulator.layerHttpClient()), Layer.fresh)

const searches = (count: number) =>
  Effect.all(Array.from({ length: count }, () => Effect.exit(NutritionAdvisor.search("rice"))), {
    concurrency: "unbounded"
  })

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

describe("the span of an exchange", () => {
  it.live("is a root, though a caller's span is there", () =>
    Effect.map(spansOf(searches(1)), (spans) => {
      expect(named(spans, "TokenIssuer.issue").map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined])
    }))

  it.live("is linked from the span of each search that waited for it", () =>
    Effect.map(spansOf(searches(5)), (spans) => {
      const exchange = idOf(named(spans, "TokenIssuer.issue")[0])
      expect(exchange).toBeDefined()
      expect(named(spans, "NutritionAdvisor.search").map(linksOf)).toEqual(Array(5).fill([exchange]))
    }))

  it.live("is not linked from a search that found a token", () =>
    Effect.map(spansOf(Effect.zipRight(searches(1), searches(1))), (spans) => {
      expect(named(spans, "NutritionAdvisor.search").map((span) => linksOf(span).length)).toEqual([1, 0])
    }))

  it.live("is linked from those who waited though it failed", () =>
    Effect.gen(function*() {
      const refused = Effect.flatMap(Simulator.Simulator, ({ respondNext }) => respondNext("token", { status: 400 }))
      const spans = yield* spansOf(Effect.zipRight(refused, searches(3)))
      const exchange = idOf(named(spans, "TokenIssuer.issue")[0])
      expect(named(spans, "NutritionAdvisor.search").map(linksOf)).toEqual(Array(3).fill([exchange]))
    }))

  it.live("that renews a rejected token is linked from each search that was rejected", () =>
    Effect.gen(function*() {
      const revoked = Effect.flatMap(Simulator.Simulator, ({ revoke }) => revoke)
      const spans = yield* spansOf(searches(1).pipe(Effect.zipRight(revoked), Effect.zipRight(searches(4))))
      const renewal = idOf(named(spans, "TokenIssuer.issue")[1])
      expect(renewal).toBeDefined()
      expect(named(spans, "NutritionAdvisor.search").slice(1).map(linksOf)).toEqual(Array(4).fill([renewal]))
    }))
})

describe("the span of a search", () => {
  it.live("is a child of the caller's", () =>
    Effect.map(spansOf(searches(2)), (spans) => {
      const user = idOf(named(spans, "user")[0])
      expect(named(spans, "NutritionAdvisor.search").map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
        [
          user,
          user
        ]
      )
    }))

  it.live("is over once the search is, so that the next search is not its child", () =>
    Effect.map(spansOf(Effect.zipRight(searches(1), searches(1))), (spans) => {
      const user = idOf(named(spans, "user")[0])
      const parents = named(spans, "NutritionAdvisor.search").map(({ parentSpanContext }) => parentSpanContext?.spanId)
      expect(parents).toEqual([user, user])
    }))
})

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")

const namesIn = (text: string, pattern: RegExp) => new Set(Array.from(text.matchAll(pattern), ([, name]) => name))

/** Each kind of turn that a token's life can take, with and without peers. */
const everything = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const refusing = { status: 403 }
  yield* searches(1)
  yield* simulator.revoke
  yield* searches(2)
  yield* simulator.setHandsBackToken(true)
  yield* simulator.respondNext("search", refusing)
  yield* searches(1)
  yield* simulator.setHandsBackToken(false)
}).pipe(Effect.provide(advisor))

const refusedForEver = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* simulator.respondAlways("search", { status: 403 })
  yield* searches(1)
}).pipe(Effect.provide(advisor))

const failing = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* simulator.respondNext("token", { status: 400 })
  yield* searches(1)
}).pipe(Effect.provide(advisor))

const withPeers = Effect.gen(function*() {
  const replica = NutritionAdvisor.layerShared({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey })
  const searchOver = (cache: SharedTokenCache.Service) =>
    Effect.provide(searches(1), Layer.fresh(replica)).pipe(
      Effect.provideService(SharedTokenCache.SharedTokenCache, cache)
    )
  const cache = yield* SharedTokenCache.makeMemory
  yield* searchOver(cache)
  yield* searchOver(cache)
  yield* searchOver({
    ...cache,
    read: () => Effect.fail(new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable" }))
  })
}).pipe(Effect.provide(Simulator.layerHttpClient()))

const seenFromOutside = () => read("README.md").split("## Seen from outside")[1]?.split("\n## ")[0] ?? ""

describe("the names in the documents", () => {
  it.live("of metrics are those that are counted, no more and no fewer", () =>
    Effect.gen(function*() {
      yield* Effect.all([everything, refusedForEver, failing, withPeers])
      const counted = (yield* Metric.snapshot)
        .map(({ metricKey }) => metricKey.name)
        .filter((name) => name.startsWith("nutrition_advisor_"))
      expect(namesIn(seenFromOutside(), /^\| `(nutrition_advisor_\w+)/gm)).toEqual(new Set(counted))
    }))

  it.live("of spans are those that are made", () =>
    Effect.gen(function*() {
      const request = Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) =>
        Effect.exit(httpClient.get("/v2/plan")))
      const spans = yield* spansOf(Effect.zipRight(searches(1), request))
      const made = spans.map(({ name }) =>
        name
      ).filter((name) => name !== "user")
      expect(namesIn(seenFromOutside(), /^\| `(\w+\.\w+)` \|/gm)).toEqual(new Set(made))
    }))

  it.live("of debug lines are those that are logged", () =>
    Effect.gen(function*() {
      const lines = new Set<unknown>()
      const logger = Logger.make(({ logLevel, message }) => {
        if (logLevel === LogLevel.Debug) lines.add(String(message))
      })
      yield* Effect.all([everything, refusedForEver, failing, withPeers]).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
        Logger.withMinimumLogLevel(LogLevel.Debug)
      )
      const own = [...lines].filter((line) => !String(line).startsWith("Fiber terminated"))
      expect(namesIn(read("docs/telemetry.md").split("## Logs")[1] ?? "", /^\| `([^`]+)` \|/gm)).toEqual(new Set(own))
    }))
})
