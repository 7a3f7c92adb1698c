import { expect } from "@effect/vitest"
import { Duration, Effect, Exit, Layer } from "effect"
import { NutritionAdvisor, RequestRetry, SearchCache, Throttle } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { test } from "../support/doubles/arranged.js"

type Wrapper = Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown, NutritionAdvisor.NutritionAdvisor>

const timeToLive = "1 hour"

const layers: ReadonlyArray<readonly [string, Wrapper]> = [
  ["RequestRetry.layer", RequestRetry.layer()],
  ["Throttle.layer", Throttle.layer({ rate: { limit: 1, interval: 1 } })],
  ["SearchCache.layer", SearchCache.layer({ timeToLive })]
]

const double = (found: unknown) => NutritionAdvisorTest.layer({ search: () => Effect.as(Effect.yieldNow(), found) })

test.each(layers)("%s: two clients with the same layer value share nothing", function*([, layer]) {
  const found: Array<unknown> = []
  const searched = (name: string) =>
    Layer.effectDiscard(Effect.map(NutritionAdvisor.search("oats"), (value) => found.push(value))).pipe(
      Layer.provide(layer),
      Layer.provide(double(name))
    )
  yield* Layer.build(Layer.mergeAll(searched("one"), searched("other")))
  expect(found.sort()).toEqual(["one", "other"])
})

const invalid: ReadonlyArray<readonly [field: string, layers: ReadonlyArray<Wrapper>]> = [
  ["times", [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY].map((times) => RequestRetry.layer({ times }))],
  ["base", [-1, "-1 seconds", Duration.infinity].map((base) => RequestRetry.layer({ base: base as number }))],
  ["cap", [-1, Duration.infinity].map((cap) => RequestRetry.layer({ cap }))],
  ["budget", [-0.1, Number.NaN, Number.POSITIVE_INFINITY].map((budget) => RequestRetry.layer({ budget }))],
  ["onTooManyRequests", [Throttle.layer({ onTooManyRequests: JSON.parse("\"sometimes\"") })]],
  ["maxWait", [-1, Duration.infinity].map((maxWait) => Throttle.layer({ maxWait }))],
  ["rate.limit", [0, -1, 1.5, Number.NaN].map((limit) => Throttle.layer({ rate: { limit, interval: 1 } }))],
  ["rate.interval", [0, -1, Duration.infinity].map((interval) => Throttle.layer({ rate: { limit: 1, interval } }))],
  ["timeToLive", [0, -1, Number.NaN, JSON.parse("\"10 min\"")].map((timeToLive) => SearchCache.layer({ timeToLive }))],
  ["capacity", [0, -1, 1.5, Number.NaN].map((capacity) => SearchCache.layer({ timeToLive, capacity }))]
]

test.each(invalid)(
  "layers that wrap the client: an invalid value of `%s` is rejected with a ConfigurationError that names it",
  function*([field, layers]) {
    const errors = yield* Effect.forEach(layers, (layer) => Effect.flip(Layer.build(Layer.provide(layer, double("")))))
    expect(errors).toEqual(layers.map(() => expect.objectContaining({ _tag: "ConfigurationError", field })))
  }
)

test("layers that wrap the client: zero retries, delays and waits are valid", function*() {
  const zeros = [RequestRetry.layer({ times: 0, base: 0, cap: "0 seconds", budget: 0 }), Throttle.layer({ maxWait: 0 })]
  const exits = yield* Effect.forEach(zeros, (layer) => Effect.exit(Layer.build(Layer.provide(layer, double("")))))
  expect(exits.filter(Exit.isFailure)).toEqual([])
})
