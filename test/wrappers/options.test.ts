/** How the layers that wrap the client and the doubles treat the options of a search. */
import { Headers, UrlParams } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, RequestRetry, SearchCache, Throttle } from "effect-nutrition-advisor"
import { test } from "../support/doubles/arranged.js"
import { AdvisorWorld } from "../support/model/AdvisorWorld.js"
import * as AdvisorDouble from "./AdvisorDouble.js"

type Wrapper = Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown, NutritionAdvisor.NutritionAdvisor>

/** Options with a field that the package doesn't know. */
interface WithUnknown extends NutritionAdvisor.SearchOptions {
  readonly futureOption?: unknown
}

const cache = SearchCache.layer({ timeToLive: "1 hour" })
const retry = RequestRetry.layer({ base: 0 })
const throttle = Throttle.layer({ rate: { limit: 1_000, interval: "1 second" } })

const layers: ReadonlyArray<readonly [name: string, Wrapper]> = [
  ["RequestRetry", retry],
  ["Throttle", throttle],
  ["SearchCache", cache],
  ["SearchCache over RequestRetry over Throttle", Layer.provide(cache, Layer.provide(retry, throttle))],
  ["Throttle over RequestRetry over SearchCache", Layer.provide(throttle, Layer.provide(retry, cache))]
]

const worldOver = (wrapper: Wrapper, double: AdvisorDouble.AdvisorDouble) =>
  new AdvisorWorld(Layer.provide(wrapper, double.layer))

const found = Effect.succeed("found")

const unavailable = Effect.fail(new NutritionAdvisorError.ServerError({ operation: "search", status: 503 }))

const withUnknown = (futureOption: unknown): WithUnknown => ({ futureOption, urlParams: { page: 2 } })

const page2 = () => new URLSearchParams({ page: "2" }).entries()

const tenant = () => new Map([["x-tenant", "a"]]).entries()

type Search = (layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown>) => Effect.Effect<unknown, unknown>

const searches: ReadonlyArray<readonly [name: string, Search]> = [
  ["search", (layer) => Effect.provide(NutritionAdvisor.search("oats", withUnknown("a")), layer)],
  ["searchAs", (layer) => Effect.provide(NutritionAdvisor.searchAs(Schema.Unknown)("oats", withUnknown("a")), layer)]
]

test.each(
  layers.flatMap(([name, wrapper]) => searches.map(([call, search]) => [name, call, wrapper, search] as const))
)(
  "%s: %s forwards an unknown option",
  function*([, , wrapper, search]) {
    const double = AdvisorDouble.responding(found)
    yield* search(Layer.provide(wrapper, double.layer))
    expect(double.sent).toMatchObject([{ options: { futureOption: "a" } }])
  }
)

test.each(layers)("%s: search without options passes no options", function*([, wrapper]) {
  const double = AdvisorDouble.responding(found)
  yield* Effect.provide(NutritionAdvisor.search("oats"), Layer.provide(wrapper, double.layer))
  expect(double.sent).toMatchObject([{ options: undefined }])
})

it.each(layers)("%s: each attempt has all options, even if they are iterators", (_, wrapper) => {
  const double = AdvisorDouble.responding(unavailable, found)
  const world = worldOver(wrapper, double)
  const searched = world.advisor.search("oats", { urlParams: page2(), headers: tenant() })
  for (let run = 0; run < 2; run++) {
    world.run(searched)
    world.pass(1_000)
  }
  const sent = double.sent.map(({ options: { headers, urlParams = [] } = {} }) => [
    UrlParams.fromInput(urlParams),
    { ...Headers.fromInput(headers) }
  ])
  expect(sent.length).toBeGreaterThan(1)
  expect(sent).toEqual(sent.map(() => [[["page", "2"]], { "x-tenant": "a" }]))
})

it("SearchCache: each search with an unknown option is sent", () => {
  const double = AdvisorDouble.responding(Effect.delay(found, 100))
  const world = worldOver(cache, double)
  for (const option of ["a", "a", Redacted.make("b"), Redacted.make("c")]) world.search("oats", withUnknown(option))
  world.pass(100)
  world.search("oats", withUnknown("a"))
  expect(double.sent).toHaveLength(5)
})
