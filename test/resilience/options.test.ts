/** How the layers around the client and the doubles treat the options of a search. */
import { Headers, UrlParams } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, RequestRetry, SearchCache, Throttle } from "effect-nutrition-advisor"
import { fromLayer } from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { test } from "../support/doubles/arranged.js"
import { AdvisorWorld, outcomeOf } from "./AdvisorWorld.js"

type Around = Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown, NutritionAdvisor.NutritionAdvisor>

type Search = NutritionAdvisor.Service["search"]

/** Options with a field that nothing in the package knows. */
interface WithFurther extends NutritionAdvisor.SearchOptions {
  readonly futureOption?: unknown
}

const cache = SearchCache.layer({ timeToLive: "1 hour" })
const retry = RequestRetry.layer({ base: 0 })
const throttle = Throttle.layer({ rate: { limit: 1_000, interval: "1 second" } })

const layers: ReadonlyArray<readonly [name: string, Around]> = [
  ["RequestRetry", retry],
  ["Throttle", throttle],
  ["SearchCache", cache],
  ["SearchCache over RequestRetry over Throttle", Layer.provide(cache, Layer.provide(retry, throttle))],
  ["Throttle over RequestRetry over SearchCache", Layer.provide(throttle, Layer.provide(retry, cache))]
]

const over = (around: Around, search: Search) => Layer.provide(around, NutritionAdvisorTest.layer({ search }))

const page2 = () => new URLSearchParams({ page: "2" }).entries()

const tenant = () => new Map([["x-tenant", "a"]]).entries()

const unavailable = Effect.fail(new NutritionAdvisorError.ServerError({ operation: "search", status: 503 }))

const further = (futureOption: unknown): WithFurther => ({ futureOption })

const options: WithFurther = { ...further("other-customer"), urlParams: { page: 2 } }

const received = (around: Around) => {
  const all: Array<WithFurther | undefined> = []
  const search: Search = (_, options) =>
    Effect.sync(() => {
      all.push(options)
    })
  return { all, layer: over(around, search) }
}

test.each(layers)("%s: search passes on an unknown option", function*([, around]) {
  const { all, layer } = received(around)
  yield* Effect.provide(NutritionAdvisor.search("oats", options), layer)
  expect(all).toMatchObject([{ futureOption: "other-customer" }])
})

test.each(layers)("%s: searchAs passes on an unknown option", function*([, around]) {
  const { all, layer } = received(around)
  yield* Effect.provide(NutritionAdvisor.searchAs(Schema.Unknown)("oats", options), layer)
  expect(all).toMatchObject([{ futureOption: "other-customer" }])
})

test.each(layers)("%s: the promise client passes on an unknown option", function*([, around]) {
  const { all, layer } = received(around)
  yield* Effect.promise(async () => {
    await using client = fromLayer(layer)
    await client.search("oats", options)
  })
  expect(all).toMatchObject([{ futureOption: "other-customer" }])
})

test.each(layers)("%s: search without options passes on none", function*([, around]) {
  const { all, layer } = received(around)
  yield* Effect.provide(NutritionAdvisor.search("oats"), layer)
  expect(all).toEqual([undefined])
})

it.each(layers)("%s: each attempt has the options, even if they are iterators", (_, around) => {
  const read: Array<unknown> = []
  const search: Search = (_, options) =>
    Effect.suspend(() => {
      read.push([UrlParams.fromInput(options?.urlParams ?? []), { ...Headers.fromInput(options?.headers) }])
      return read.length === 1 ? unavailable : Effect.succeed("found")
    })
  const world = new AdvisorWorld(over(around, search))
  const searched = world.advisor.search("oats", { urlParams: page2(), headers: tenant() })
  for (let run = 0; run < 2; run++) {
    world.run(searched)
    world.pass(1_000)
  }
  expect(read.length).toBeGreaterThan(1)
  expect(read).toEqual(read.map(() => [[["page", "2"]], { "x-tenant": "a" }]))
})

it.each(layers)("%s: an iterator that throws is a defect of its search", (_, around) => {
  function* broken(): Iterable<readonly [string, string]> {
    throw new Error("broken")
  }
  const world = new AdvisorWorld(over(around, () => Effect.succeed("found")))
  expect(outcomeOf(world.search("oats", { urlParams: broken() }))).toMatchObject({ message: "broken" })
})
/** The identifiers of two customers, as each type of value has them. */
const pairs: ReadonlyArray<readonly [type: string, one: unknown, other: unknown]> = [
  ["string", "a", "b"],
  ["string and number", "1", 1],
  ["Redacted", Redacted.make("a"), Redacted.make("b")],
  ["string and Redacted", "a", Redacted.make("a")],
  ["null and undefined", null, undefined],
  ["bigint", 1n, 2n],
  ["symbol", Symbol("id"), Symbol("id")],
  ["array", ["a"], ["b"]],
  ["record", { id: "a" }, { id: "b" }],
  ["Date", new Date(0), new Date(1)],
  ["Map", new Map([["id", "a"]]), new Map([["id", "b"]])],
  ["function", () => "a", () => "b"]
]

const worldOf = () => {
  const calls: Array<unknown> = []
  const search: Search = (_, options: WithFurther = {}) => {
    calls.push(options.futureOption)
    return Effect.delay(Effect.sync(() => `payload ${calls.lastIndexOf(options.futureOption)}`), 100)
  }
  return { calls, world: new AdvisorWorld(over(cache, search)) }
}

const searchFor = (world: AdvisorWorld, futureOption: unknown) => world.search("oats", further(futureOption))

it.each(pairs)(
  "SearchCache: searches with different unknown options share no payload: %s",
  (_, one, other) => {
    const { calls, world } = worldOf()
    const inFlight = [one, other].map((id) => searchFor(world, id))
    world.pass(100)
    const later = [one, other].map((id) => searchFor(world, id))
    world.pass(100)
    expect(inFlight.map(outcomeOf)).toEqual(["payload 0", "payload 1"])
    for (const [nth, outcome] of later.map(outcomeOf).entries()) {
      expect(outcome).toBe(`payload ${calls.lastIndexOf([one, other][nth])}`)
    }
  }
)

it("SearchCache: an object that has changed since a search is a different option", () => {
  const { calls, world } = worldOf()
  const customer = { id: "a" }
  searchFor(world, customer)
  customer.id = "b"
  searchFor(world, customer)
  world.pass(100)
  searchFor(world, customer)
  expect(calls).toHaveLength(3)
})

it.each<readonly [type: string, make: () => unknown]>([
  ["string", () => "a"],
  ["number", () => 1],
  ["Redacted", () => Redacted.make("a")],
  ["undefined", () => undefined]
])("SearchCache: searches with equal unknown options share a payload: %s", (_, make) => {
  const { calls, world } = worldOf()
  const inFlight = [make(), make(), make()].map((id) => searchFor(world, id))
  world.pass(100)
  const outcomes = [...inFlight, searchFor(world, make())].map(outcomeOf)
  expect(outcomes).toEqual(Array(4).fill("payload 0"))
  expect(calls).toHaveLength(1)
})

it("SearchCache: three joined searches call a double once", () => {
  const { calls, world } = worldOf()
  for (let caller = 0; caller < 3; caller++) world.search("oats")
  world.pass(100)
  world.search("oats")
  expect(calls).toHaveLength(1)
})

it("SearchCache: options that change between the call and the run don't affect the search", () => {
  const sent: Array<unknown> = []
  const search: Search = (_, options) => Effect.sync(() => sent.push(UrlParams.fromInput(options?.urlParams ?? [])))
  const world = new AdvisorWorld(over(cache, search))
  const urlParams = { page: 1 }
  const searched = world.advisor.search("oats", { urlParams })
  urlParams.page = 2
  world.run(searched)
  expect(sent).toEqual([[["page", "1"]]])
})

it("SearchCache: a search with a null query parameter is equal to one without it", () => {
  const { calls, world } = worldOf()
  const searches = [{ limit: null }, {}].map((urlParams) => world.search("oats", { urlParams }))
  world.pass(100)
  expect(searches.map(outcomeOf)).toEqual(["payload 0", "payload 0"])
  expect(calls).toHaveLength(1)
})

it.each<readonly [string, UrlParams.Input, ReadonlyArray<readonly [string, string]>]>([
  ["in a record", { limit: null, page: 2 }, [["page", "2"]]],
  ["in a list of a record", { page: [null, 2, undefined] }, [["page", "2"]]],
  ["in a record of a record", { filter: { limit: null, page: 2 } }, [["filter[page]", "2"]]],
  ["in a list of pairs", [["limit", null], ["page", 2]], [["page", "2"]]]
])("SearchCache: a null query parameter is left out: %s", (_, urlParams, expected) => {
  const sent: Array<unknown> = []
  const search: Search = (_, options) => Effect.sync(() => sent.push(options?.urlParams))
  const world = new AdvisorWorld(over(cache, search))
  world.search("oats", { urlParams })
  world.search("oats", { urlParams })
  expect(sent).toEqual([expected])
})

test("NutritionAdvisorTest.layerRecording: it records an unknown option", function*() {
  const searches = yield* NutritionAdvisor.search("oats", further("a")).pipe(
    Effect.zipRight(Effect.flatten(NutritionAdvisorTest.RecordedSearches)),
    Effect.provide(NutritionAdvisorTest.layerRecording())
  )
  expect(searches).toEqual([{ term: "oats", options: { futureOption: "a" } }])
})

test("NutritionAdvisorTest.layerRecording: it records an iterator as an array that the search can read, too", function*() {
  const search: Search = (_, options) => Effect.sync(() => UrlParams.fromInput(options?.urlParams ?? []))
  const [found, searches] = yield* Effect.all([
    NutritionAdvisor.search("oats", { urlParams: page2() }),
    Effect.flatten(NutritionAdvisorTest.RecordedSearches)
  ]).pipe(Effect.provide(NutritionAdvisorTest.layerRecording({ search })))
  expect(found).toEqual([["page", "2"]])
  expect(searches).toEqual([{ term: "oats", options: { urlParams: [["page", "2"]] } }])
})
