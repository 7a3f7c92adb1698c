import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { NutritionAdvisor, RequestRetry, SearchCache, Throttle } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

type Around = Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown, NutritionAdvisor.NutritionAdvisor>

const three: Readonly<Record<string, Around>> = {
  cache: SearchCache.layer({ timeToLive: "1 hour" }),
  retry: RequestRetry.layer({ base: "1 millis" }),
  throttle: Throttle.layer({ onTooManyRequests: "wait", rate: { limit: 1_000, interval: "1 second" } })
}

const ordersOf = (names: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  names.length < 2
    ? [names]
    : names.flatMap((first) => ordersOf(names.filter((name) => name !== first)).map((rest) => [first, ...rest]))

const orders = ordersOf(Object.keys(three)).map((order) => order.join(" around "))

const stacked = (order: string) => {
  const layers = order.split(" around ").flatMap((name) => three[name] ?? [])
  return <R>(client: Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown, R>) =>
    layers.reduceRight<typeof client>((inner, outer) => Layer.provide(outer, inner), client)
}

/** A 503 and a broken connection before the payload; then the same again, from memory, while the service is down. */
const searches = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* simulator.respondNext("search", { status: 503 }, "drop")
  const found = yield* NutritionAdvisor.search("oats")
  yield* simulator.respondAlways("search", { status: 400 })
  expect(yield* NutritionAdvisor.search("oats")).toEqual(found)
  expect((yield* simulator.counters).searches).toBe(3)
  const { httpClient } = yield* NutritionAdvisor.NutritionAdvisor
  yield* simulator.respondNext("request", { status: 503 })
  expect(yield* Effect.flip(httpClient.get("/v2/plan"))).toMatchObject({ _tag: "UnexpectedResponse", status: 404 })
  expect((yield* simulator.counters).requests).toBe(2)
  expect(yield* Effect.flip(NutritionAdvisor.search("rice"))).toMatchObject({ _tag: "BadRequest", status: 400 })
})

describe("cache, retry and throttle", () => {
  it.scopedLive.each(orders)("work in this order: %s", (order) => {
    const client = NutritionAdvisor.layer({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey })
    return searches.pipe(Effect.provide(stacked(order)(client)), Effect.provide(Simulator.layerHttpClient()))
  })
})
