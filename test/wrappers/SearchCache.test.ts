import { Headers } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, SearchCache } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { test } from "../support/doubles/arranged.js"
import { logged } from "../support/doubles/logs.js"
import { counterChanges } from "../support/doubles/metrics.js"
import { AdvisorWorld, outcomeOf } from "../support/model/AdvisorWorld.js"
import * as AdvisorDouble from "./AdvisorDouble.js"

const { ServerError, TransportError } = NutritionAdvisorError

const operation = "search"

const worldOver = (double: AdvisorDouble.AdvisorDouble, options: Partial<SearchCache.Options> = {}) =>
  new AdvisorWorld(SearchCache.layer({ timeToLive: "10 seconds", ...options }).pipe(Layer.provide(double.layer)))

/** The service below responds after 100 ms, with the term and the number of requests before. */
const worldOverSlow = (options: Partial<SearchCache.Options> = {}) => {
  const double = AdvisorDouble.make(({ index, what }) => Effect.delay(Effect.succeed({ term: what, index }), 100))
  return { double, world: worldOver(double, options) }
}

const searchedIn = (world: AdvisorWorld, term: string, options?: NutritionAdvisor.SearchOptions) => {
  const fiber = world.search(term, options)
  world.pass(100)
  return outcomeOf(fiber)
}

it.each([-8, 8])(
  "SearchCache: a payload is used until timeToLive has passed, even if the clock is set by %i hours",
  (hours) => {
    const { double, world } = worldOverSlow()
    searchedIn(world, "oats")
    world.time.clock.wallOffset += hours * 3_600_000
    world.pass(9_999)
    expect(outcomeOf(world.search("oats"))).toEqual({ term: "oats", index: 0 })
    world.pass(1)
    expect(outcomeOf(world.search("oats"))).toBe("waits")
    expect(double.sent).toHaveLength(2)
  }
)

it("SearchCache: a payload that replaces an expired one takes its place", () => {
  const { double, world } = worldOverSlow({ capacity: 1 })
  searchedIn(world, "oats")
  world.pass(10_000)
  searchedIn(world, "oats")
  expect(searchedIn(world, "oats")).toEqual({ term: "oats", index: 1 })
  expect(double.sent).toHaveLength(2)
})

it("SearchCache: a payload that doesn't match the schema of one caller is cached for others", () => {
  const { double, world } = worldOverSlow()
  const decoded = <A, I>(schema: Schema.Schema<A, I>) => {
    const fiber = world.run(world.advisor.searchAs(schema)("oats"))
    world.pass(100)
    return outcomeOf(fiber)
  }
  expect(decoded(Schema.Struct({ calories: Schema.Number })))
    .toMatchObject({ _tag: "UnexpectedResponse", operation, status: 200, reason: "Schema" })
  expect(decoded(Schema.Struct({ term: Schema.String }))).toEqual({ term: "oats" })
  expect(searchedIn(world, "oats")).toEqual({ term: "oats", index: 0 })
  expect(double.sent).toHaveLength(1)
})

it("SearchCache: when it is full, the least recently used payload is dropped", () => {
  const { double, world } = worldOverSlow({ capacity: 3 })
  const isSent = (term: string) => {
    const before = double.sent.length
    searchedIn(world, term)
    return double.sent.length > before
  }
  expect(["a", "b", "c", "a", "d"].filter(isSent)).toEqual(["a", "b", "c", "d"])
  expect(["a", "c", "d", "b"].filter(isSent)).toEqual(["b"])
})

it("SearchCache: a payload that can't be cloned as JSON is returned but not cached", () => {
  const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000))
  for (const value of [undefined, 1n, deep]) {
    const double = AdvisorDouble.responding(Effect.succeed(value))
    const world = worldOver(double)
    for (let round = 0; round < 2; round++) expect(searchedIn(world, "oats") === value).toBe(true)
    expect(double.sent).toHaveLength(2)
  }
})

it.each<readonly [NutritionAdvisor.SearchOptions | undefined, NutritionAdvisor.SearchOptions]>([
  [undefined, {}],
  [{ urlParams: { page: 1 } }, { urlParams: new URLSearchParams("page=1") }],
  [{ urlParams: { page: [null, 2] } }, { urlParams: { page: 2 } }],
  [{ headers: { "X-Tenant": "a" } }, { headers: Headers.fromInput({ "x-tenant": "a" }) }]
])("SearchCache: searches with the options %o and %o share a payload", (one, other) => {
  const { double, world } = worldOverSlow()
  const outcomes = [one, other].map((options) => searchedIn(world, "oats", options))
  expect(outcomes).toEqual(Array(2).fill({ term: "oats", index: 0 }))
  expect(double.sent).toHaveLength(1)
})

it("SearchCache: concurrent equal searches share a failure or a defect", () => {
  const error = new ServerError({ operation, status: 500 })
  for (const [ending, seen] of [[Effect.fail(error), error], [Effect.die("a bug below"), "a bug below"]] as const) {
    const world = worldOver(AdvisorDouble.responding(Effect.delay(ending, 100)))
    const callers = Array.from({ length: 3 }, () => world.search("oats"))
    world.pass(100)
    const outcomes = callers.map(outcomeOf)
    expect(outcomes).toEqual([seen, seen, seen])
    expect(new Set(outcomes).size).toBe(seen === error ? 3 : 1)
  }
})

it("SearchCache: a search doesn't join a request that has lost all its callers", () => {
  const double = AdvisorDouble.make(({ index }) => Effect.uninterruptible(Effect.delay(Effect.succeed(index), 1_000)))
  const world = worldOver(double)
  world.interrupt(world.search("oats"))
  world.pass(500)
  const callers = [world.search("oats")]
  world.pass(500)
  callers.push(world.search("oats"))
  world.pass(500)
  expect(callers.map(outcomeOf)).toEqual([1, 1])
})

it("SearchCache: in-flight, later and cached searches fail with TransportError \"Closed\" when the layer closes", () => {
  const { world } = worldOverSlow()
  searchedIn(world, "milk")
  const callers = [world.run(Effect.uninterruptible(world.advisor.search("oats"))), world.search("oats")]
  expect(outcomeOf(world.close())).toBeUndefined()
  const outcomes = [...callers, world.search("rice"), world.search("milk")].map(outcomeOf)
  expect(outcomes).toEqual(Array(4).fill(new TransportError({ operation, reason: "Closed" })))
})

it("SearchCache: httpClient is the one of the wrapped service", () => {
  const { double, world } = worldOverSlow()
  world.run(world.advisor.httpClient.get("/v2/plan"))
  world.run(world.advisor.httpClient.get("/v2/plan"))
  expect(double.sent.map(({ what }) => what)).toEqual(["GET /v2/plan", "GET /v2/plan"])
})

it("SearchCache: a request that the wrapped service interrupts fails with TransportError \"Aborted\"", () => {
  const world = worldOver(AdvisorDouble.responding(Effect.interrupt))
  expect(searchedIn(world, "oats")).toEqual(new TransportError({ operation, reason: "Aborted" }))
})

it("SearchCache: a search in a finalizer of an interrupted fiber gets its payload", () => {
  const { world } = worldOverSlow()
  const found: Array<unknown> = []
  const lastSearch = Effect.ignore(Effect.map(world.advisor.search("oats"), (payload) => found.push(payload)))
  world.interrupt(world.run(Effect.onInterrupt(Effect.never, () => lastSearch)))
  world.pass(100)
  expect(found).toEqual([{ term: "oats", index: 0 }])
})

it("SearchCache: a request runs in the span of its first caller", () => {
  const nameOfSpan = Effect.map(Effect.orDie(Effect.currentSpan), ({ name }) => name)
  const world = worldOver(AdvisorDouble.responding(Effect.delay(nameOfSpan, 100)))
  const callers = ["one", "other"].map((name) => world.run(Effect.withSpan(world.advisor.search("oats"), name)))
  world.pass(100)
  expect(callers.map(outcomeOf)).toEqual(["one", "one"])
})

test("SearchCache: a failed request logs nothing, since its callers get the error", function*() {
  const below = NutritionAdvisorTest.layerFailing(new ServerError({ operation, status: 503 }))
  const cache = SearchCache.layer({ timeToLive: "10 seconds" })
  const failed = Effect.provide(Effect.flip(NutritionAdvisor.search("oats")), Layer.provide(cache, below))
  expect(yield* logged(failed)).toEqual([])
})

test("search_cache_total: each search is counted once, by the source of its payload", function*() {
  const grown = yield* counterChanges(
    Effect.sync(() => {
      const { world } = worldOverSlow()
      for (let caller = 0; caller < 3; caller++) world.search("oats")
      world.pass(100)
      for (let caller = 0; caller < 5; caller++) world.search("oats")
      world.interrupt(world.search("rice"))
    }),
    "search_cache_total"
  )
  expect(grown).toEqual({ Miss: 2, Joined: 2, Hit: 5 })
})
