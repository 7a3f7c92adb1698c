import { describe, expect, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Fiber, Layer, Logger, Schema } from "effect"
import {
  NutritionAdvisor,
  NutritionAdvisorError,
  RequestRetry,
  SearchCache,
  Throttle,
  TokenProvider
} from "effect-nutrition-advisor"
import { NutritionAdvisorTest, Simulator } from "effect-nutrition-advisor/testing"
import { test, testLive } from "../doubles/arranged.js"
import { counts } from "../doubles/counters.js"

type AdvisorLayer = Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown, NutritionAdvisor.NutritionAdvisor>

const timeToLive = "1 hour"

const layers: ReadonlyArray<readonly [string, AdvisorLayer, ReadonlyArray<string>]> = [
  ["RequestRetry.layer", RequestRetry.layer(), ["retries_total"]],
  ["Throttle.layer", Throttle.layer({ rate: { limit: 1, interval: 1 } }), [
    "held_requests_total",
    "refused_requests_total"
  ]],
  ["SearchCache.layer", SearchCache.layer({ timeToLive }), ["search_cache_total"]],
  ["SearchCache.layerCoalescing", SearchCache.layerCoalescing, ["search_cache_total"]]
]

const labels: Readonly<Record<string, ReadonlyArray<string>>> = {
  retries_total: ["OutOfBudget", "Retried"],
  held_requests_total: ["Rate", "TooManyRequests"],
  refused_requests_total: ["Rate", "TooManyRequests"],
  search_cache_total: ["Hit", "Joined", "Miss", "Stale"]
}

const double = (found: unknown) => NutritionAdvisorTest.layer({ search: () => Effect.as(Effect.yieldNow(), found) })

const wrong = new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 200, reason: "Schema" })

describe.each(layers)("%s", (_, layer, counters) => {
  test("shares nothing between two clients that are given the same value", function*() {
    const found: Array<unknown> = []
    const searched = (name: string) =>
      Layer.effectDiscard(Effect.map(NutritionAdvisor.search("oats"), (value) => found.push(value))).pipe(
        Layer.provide(layer),
        Layer.provide(double(name))
      )
    yield* Layer.build(Layer.mergeAll(searched("one"), searched("other")))
    expect(found.sort()).toEqual(["one", "other"])
  })

  testLive("leaves the TokenProvider in reach, and is the NutritionAdvisor that is found", function*() {
    const below = yield* Layer.build(
      NutritionAdvisor.layer({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }).pipe(
        Layer.provideMerge(Simulator.layerHttpClient())
      )
    )
    const context = yield* Layer.build(Layer.provideMerge(layer, Layer.succeedContext(below)))
    const advisor = Context.get(context, NutritionAdvisor.NutritionAdvisor)
    expect(advisor).not.toBe(Context.get(below, NutritionAdvisor.NutritionAdvisor))
    yield* advisor.search("oats")
    expect((yield* Context.get(below, Simulator.Simulator).counters).searches).toBe(1)
    expect((yield* Context.get(context, TokenProvider.TokenProvider).status).state).toBe("fresh")
  })

  test("has its counters from its build on", function*() {
    yield* Layer.build(Layer.provide(layer, double("")))
    const known = [...(yield* counts).keys()]
    for (const name of counters) {
      const counter = `nutrition_advisor_${name} `
      const found = known.flatMap((key) => key.startsWith(counter) ? [key.slice(counter.length)] : [])
      expect(found.sort()).toEqual(labels[name])
    }
  })

  it.live("decodes what a search ends with for its caller alone, however long that takes", () =>
    Effect.gen(function*() {
      const { search, searchAs } = yield* NutritionAdvisor.NutritionAdvisor
      const never = Schema.transformOrFail(Schema.Unknown, Schema.Unknown, {
        decode: (): Effect.Effect<unknown> => Effect.never,
        encode: Effect.succeed
      })
      const waiting = yield* Effect.fork(searchAs(never)("egg"))
      yield* Effect.yieldNow()
      expect(yield* Effect.all([searchAs(Schema.NumberFromString)("egg"), search("egg")])).toEqual([155, "155"])
      expect(yield* Effect.flip(searchAs(Schema.Boolean)("egg"))).toEqual(wrong)
      expect(Exit.isInterrupted(yield* Fiber.interrupt(waiting))).toBe(true)
    }).pipe(Effect.provide(Layer.provide(layer, double("155"))), Effect.provide(Logger.remove(Logger.defaultLogger))))
})

const durations: ReadonlyArray<Duration.DurationInput> = [
  ...[-1, Number.NaN, "-1 seconds" as Duration.DurationInput],
  ...[[-1, 0], [0, -1], [-1, 2e9], [Number.NaN, 0], [0, Number.NaN], [Number.NEGATIVE_INFINITY, 0]] as const
]

const refused: ReadonlyArray<readonly [field: string, layers: ReadonlyArray<AdvisorLayer>]> = [
  [
    "times",
    [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY].map((times) => RequestRetry.layer({ times }))
  ],
  ["base", [...durations, Duration.infinity].map((base) => RequestRetry.layer({ base }))],
  ["cap", durations.map((cap) => RequestRetry.layer({ cap }))],
  ["budget", [-0.1, Number.NaN, Number.POSITIVE_INFINITY].map((budget) => RequestRetry.layer({ budget }))],
  ["onTooManyRequests", ["sometimes", "often"].map((text) => Throttle.layer({ onTooManyRequests: text as "fail" }))],
  ["maxWait", durations.map((maxWait) => Throttle.layer({ maxWait }))],
  [
    "rate.limit",
    [0, -1, 1.5, Number.NaN].map((limit) => Throttle.layer({ rate: { limit, interval: 1 } }))
  ],
  [
    "rate.interval",
    [0, ...durations, Duration.infinity].map((interval) => Throttle.layer({ rate: { limit: 1, interval } }))
  ],
  ["timeToLive", [0, ...durations].map((timeToLive) => SearchCache.layer({ timeToLive }))],
  ["maxBytes", [0, -1, 1.5, Number.NaN].map((maxBytes) => SearchCache.layer({ timeToLive, maxBytes }))],
  ["staleIfError", durations.map((staleIfError) => SearchCache.layer({ timeToLive, staleIfError }))]
]

const refusals = (layers: ReadonlyArray<AdvisorLayer>) =>
  Effect.forEach(layers, (layer) => Effect.flip(Layer.build(Layer.provide(layer, double("")))))

describe("a setting that makes no sense", () => {
  test.each(refused)("is refused by its name: %s", function*([field, layers]) {
    const named = expect.objectContaining({ _tag: "ConfigurationError", field })
    expect(yield* refusals(layers)).toEqual(layers.map(() => named))
  })

  test.each(refused)("is refused in words that do not depend on its value: %s", function*([, layers]) {
    const words = (yield* refusals(layers)).map((error) => String(error) + JSON.stringify(error))
    expect(new Set(words).size).toBe(1)
  })
})
