import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Headers, HttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, FiberRef, Layer, Schema, Scope, Tracer } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, SearchCache } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { test } from "./doubles/arranged.js"
import { added } from "./doubles/counters.js"
import * as Time from "./doubles/Time.js"
import * as AdvisorDouble from "./resilience/AdvisorDouble.js"
import { AdvisorWorld, outcomeOf } from "./resilience/AdvisorWorld.js"

const { BadRequest, ServerError, TooManyRequests, TransportError, UnexpectedResponse } = NutritionAdvisorError

const operation = "search"

const unavailable = Effect.fail(new ServerError({ operation, status: 503 }))

/** Takes a tenth of a second, and tells how often it was asked. */
const slowly = () =>
  AdvisorDouble.make(({ index, what }) => Effect.delay(Effect.sync(() => ({ term: what, index })), "100 millis"))

const worldOver = (double: AdvisorDouble.AdvisorDouble, options: Partial<SearchCache.Options> = {}) =>
  new AdvisorWorld(SearchCache.layer({ timeToLive: "10 seconds", ...options }).pipe(Layer.provide(double.layer)))

const coalescingOver = (double: AdvisorDouble.AdvisorDouble) =>
  new AdvisorWorld(SearchCache.layerCoalescing.pipe(Layer.provide(double.layer)))

const worldOverSlow = (over: (double: AdvisorDouble.AdvisorDouble) => AdvisorWorld = worldOver) => {
  const double = slowly()
  return { double, world: over(double) }
}

/** In bytes, without what is no longer referred to. */
const heapUsed = () => {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().heapUsed
}

const searchedIn = (world: AdvisorWorld, term: string, options?: NutritionAdvisor.SearchOptions) => {
  const fiber = world.search(term, options)
  world.pass(100)
  return outcomeOf(fiber)
}

describe("a payload that SearchCache keeps", () => {
  it("answers equal searches until it is as old as timeToLive, and a hit makes it no younger", () => {
    const { double, world } = worldOverSlow()
    expect(searchedIn(world, "oats")).toEqual({ term: "oats", index: 0 })
    world.pass(6_000)
    expect(searchedIn(world, "oats")).toEqual({ term: "oats", index: 0 })
    world.pass(3_899)
    expect(outcomeOf(world.search("oats"))).toEqual({ term: "oats", index: 0 })
    world.pass(1)
    expect(outcomeOf(world.search("oats"))).toBe("waits")
    world.pass(100)
    expect(double.sent).toHaveLength(2)
  })

  it("is kept for days where the setting says so", () => {
    const world = worldOver(slowly(), { timeToLive: "60 days" })
    searchedIn(world, "oats")
    world.pass(59 * 24 * 3_600_000)
    expect(outcomeOf(world.search("oats"))).toEqual({ term: "oats", index: 0 })
  })

  it("is shared by search and searchAs, decoded for each caller, and kept where a schema refuses it", () => {
    const { double, world } = worldOverSlow()
    const decoded = <A, I>(schema: Schema.Schema<A, I>) => {
      const fiber = world.run(world.advisor.searchAs(schema)("oats"))
      world.pass(100)
      return outcomeOf(fiber)
    }
    expect(decoded(Schema.Struct({ calories: Schema.Number })))
      .toEqual(new UnexpectedResponse({ operation, status: 200, reason: "Schema" }))
    expect(decoded(Schema.Struct({ term: Schema.String }))).toEqual({ term: "oats" })
    expect(searchedIn(world, "oats")).toEqual({ term: "oats", index: 0 })
    expect(double.sent).toHaveLength(1)
  })

  it.each<readonly [string, Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError>]>([
    ["a failure", unavailable],
    ["a defect", Effect.die("a bug below")],
    ["an interruption", Effect.interrupt]
  ])("is never %s", (_, ending) => {
    const double = AdvisorDouble.answering(ending, Effect.succeed("found"))
    const world = worldOver(double)
    expect(searchedIn(world, "oats")).not.toBe("found")
    expect(searchedIn(world, "oats")).toBe("found")
    expect(double.sent).toHaveLength(2)
  })

  it("leaves by who was used least where maxBytes of JSON are kept, and never comes where it is larger alone", () => {
    const double = AdvisorDouble.make(({ what }) => Effect.succeed("é".repeat(what === "large" ? 500 : 9)))
    const world = worldOver(double, { maxBytes: 3 * (2 + 20 + 200) })
    const asks = (term: string) => {
      const before = double.sent.length
      searchedIn(world, term)
      return double.sent.length > before
    }
    expect(["a", "b", "c"].map(asks)).toEqual([true, true, true])
    expect(asks("a")).toBe(false)
    expect(asks("d")).toBe(true)
    expect([asks("large"), asks("large")]).toEqual([true, true])
    expect(["a", "c", "d"].map(asks)).toEqual([false, false, false])
    expect(asks("b")).toBe(true)
  })

  it("takes no more memory than maxBytes with all that belongs to it, however long the terms are", () => {
    const advisor = NutritionAdvisorTest.layer({ search: () => Effect.succeed([]) })
    const world = new AdvisorWorld(
      Layer.provide(SearchCache.layer({ timeToLive: "1 hour", maxBytes: 64 * 1024 }), advisor)
    )
    const before = heapUsed()
    for (let index = 0; index < 5_000; index++) world.search(`${index} `.padEnd(4_000, "x"))
    expect(heapUsed() - before).toBeLessThan(2 * 1024 * 1024)
    expect(outcomeOf(world.search("4999 ".padEnd(4_000, "x")))).toEqual([])
  })

  it("may be any value a double gives: one that is no JSON is handed on and not kept", () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    for (const value of [undefined, 1n, cycle]) {
      const double = AdvisorDouble.answering(Effect.succeed(value))
      const world = worldOver(double)
      expect(searchedIn(world, "oats")).toBe(value)
      expect(searchedIn(world, "oats")).toBe(value)
      expect(double.sent).toHaveLength(2)
    }
  })
})

describe("equal searches", () => {
  const distinct: ReadonlyArray<readonly [string, NutritionAdvisor.SearchOptions | undefined]> = [
    ["oats", undefined],
    ["Oats", undefined],
    ["oats ", undefined],
    ["[\"oats\",[],[]]", undefined],
    ["oats", { urlParams: { page: "1" } }],
    ["oats", { urlParams: { page: "2" } }],
    ["oats", { urlParams: [["page", "1"], ["size", "5"]] }],
    ["oats", { urlParams: [["size", "5"], ["page", "1"]] }],
    ["oats", { urlParams: [["page", "1"], ["page", "1"]] }],
    ["oats", { headers: { page: "1" } }],
    ["oats", { headers: { "x-tenant": "a" } }],
    ["oats", { headers: { "x-tenant": "A" } }],
    ["oats", { headers: [["a", "1"], ["b", "2"]] }],
    ["oats", { headers: [["b", "2"], ["a", "1"]] }]
  ]

  it("differ by each letter and the order of term, query parameters and headers", () => {
    const { double, world } = worldOverSlow()
    for (const [term, options] of distinct) searchedIn(world, term, options)
    expect(double.sent).toHaveLength(distinct.length)
    for (const [term, options] of distinct) searchedIn(world, term, options)
    expect(double.sent).toHaveLength(distinct.length)
  })

  it.each<readonly [NutritionAdvisor.SearchOptions | undefined, NutritionAdvisor.SearchOptions]>([
    [undefined, {}],
    [undefined, { urlParams: {}, headers: {} }],
    [{ urlParams: { page: 1 } }, { urlParams: [["page", "1"]] }],
    [{ urlParams: { page: 1 } }, { urlParams: new URLSearchParams("page=1") }],
    [{ urlParams: { page: 1, size: undefined } }, { urlParams: { page: "1" } }],
    [{ headers: { "X-Tenant": "a" } }, { headers: Headers.fromInput({ "x-tenant": "a" }) }]
  ])("are the same however they are written: %o and %o", (one, other) => {
    const { double, world } = worldOverSlow()
    searchedIn(world, "oats", one)
    searchedIn(world, "oats", other)
    expect(double.sent).toHaveLength(1)
  })
})

describe("the options of a search", () => {
  const page = (number: string) => ({
    urlParams: new URLSearchParams({ page: number }).entries(),
    headers: { "x-tenant": "a" }
  })

  it("tell searches apart, and reach the service, where they can be iterated only once", () => {
    const { double, world } = worldOverSlow()
    for (const options of [undefined, page("2"), page("3"), page("2")]) searchedIn(world, "oats", options)
    expect(double.sent).toMatchObject([
      { what: "oats", options: undefined },
      { what: "oats", options: { urlParams: [["page", "2"]], headers: { "x-tenant": "a" } } },
      { what: "oats", options: { urlParams: [["page", "3"]], headers: { "x-tenant": "a" } } }
    ])
  })

  it("are those of the call for the key and for each sending, whatever the caller does to them afterwards", () => {
    const sent: Array<unknown> = []
    const slow = NutritionAdvisorTest.layer({
      search: (_, options) => Effect.delay(Effect.sync(() => sent.push(options?.urlParams)), 100)
    })
    const world = new AdvisorWorld(Layer.provide(SearchCache.layer({ timeToLive: "1 hour" }), slow))
    const options = { urlParams: [["page", "1"]] as Array<[string, string]>, headers: { "x-tenant": "a" } }
    const search = world.advisor.search("oats", options)
    options.urlParams[0] = ["page", "2"]
    const fiber = world.run(search)
    options.urlParams = [["page", "3"]]
    options.headers["x-tenant"] = "b"
    world.pass(100)
    expect([outcomeOf(fiber), sent]).toEqual([1, [[["page", "1"]]]])
    expect(searchedIn(world, "oats", options)).toBe(2)
    expect(outcomeOf(world.search("oats", { urlParams: { page: "1" }, headers: { "x-tenant": "a" } }))).toBe(1)
  })
})

describe("callers without types", () => {
  it.each([null, { headers: null }, { urlParams: null }])("may give %j for options", (options) => {
    const double = slowly()
    searchedIn(worldOver(double), "oats", options as never)
    expect(double.sent).toHaveLength(1)
  })

  const cyclic: Record<string, unknown> = {}
  cyclic["page"] = cyclic

  it.each<readonly [string, object]>([
    ["a getter that throws", {
      get urlParams() {
        throw new Error("no parameters")
      }
    }],
    ["parameters that hold themselves", { urlParams: cyclic }]
  ])("get what the service makes of options that can't be read: %s", (_, options) => {
    const { double, world } = worldOverSlow()
    for (let round = 0; round < 2; round++) searchedIn(world, "oats", options as never)
    expect(double.sent.map((sending) => sending.options === options)).toEqual([true, true])
  })

  it("never get the payload of a text for what is no text", () => {
    const { double, world } = worldOverSlow()
    for (const term of ["undefined", undefined, "a", ["a"]]) searchedIn(world, term as string)
    expect(double.sent).toHaveLength(4)
  })
})

describe("equal searches at once", () => {
  const both = [["SearchCache.layer", worldOver], ["SearchCache.layerCoalescing", coalescingOver]] as const

  it.each(both)("are one request, and each caller has a payload of its own: %s", (_, over) => {
    const { double, world } = worldOverSlow(over)
    const callers = Array.from({ length: 100 }, () => world.search("oats"))
    world.pass(100)
    const payloads = callers.map(outcomeOf)
    expect(payloads).toEqual(callers.map(() => ({ term: "oats", index: 0 })))
    expect(new Set(payloads).size).toBe(100)
    expect(double.sent).toHaveLength(1)
  })

  it.each(both)("share a failure and a defect: %s", (_, over) => {
    const error = new ServerError({ operation, status: 500 })
    for (const [ending, seen] of [[Effect.fail(error), error], [Effect.die("a bug below"), "a bug below"]] as const) {
      const world = over(AdvisorDouble.answering(Effect.delay(ending, 100)))
      const callers = Array.from({ length: 3 }, () => world.search("oats"))
      world.pass(100)
      expect(callers.map(outcomeOf)).toEqual([seen, seen, seen])
      expect(new Set(callers.map(outcomeOf)).size).toBe(1)
    }
  })

  it("are never two requests, not even while the one that all have left is ending", () => {
    const double = AdvisorDouble.make(({ index }) =>
      Effect.uninterruptible(Effect.delay(Effect.succeed(index), "1 second"))
    )
    const world = coalescingOver(double)
    const left = world.search("oats")
    world.interrupt(left)
    const next = world.search("oats")
    world.pass(999)
    expect(double.inFlight).toEqual({ now: 1, most: 1 })
    world.pass(1)
    const third = world.search("oats")
    world.pass(1_000)
    expect([next, third].map(outcomeOf)).toEqual([1, 1])
    expect(double.inFlight).toEqual({ now: 0, most: 1 })
  })

  it("end as aborted where the layer is closed, and so does every search after that", () => {
    const world = coalescingOver(slowly())
    const callers = Array.from({ length: 2 }, () => world.search("oats"))
    world.close()
    expect([...callers.map(outcomeOf), outcomeOf(world.search("rice"))]).toEqual(
      Array(3).fill(new TransportError({ operation, reason: "Aborted" }))
    )
  })

  it("keep nothing with layerCoalescing once they are answered", () => {
    const { world } = worldOverSlow(coalescingOver)
    expect([searchedIn(world, "oats"), searchedIn(world, "oats")]).toEqual([
      { term: "oats", index: 0 },
      { term: "oats", index: 1 }
    ])
  })

  it("run in the context of the layer, not in that of the caller who came first", () => {
    const tenant = FiberRef.unsafeMake("of the layer")
    const seen: Array<string> = []
    const double = AdvisorDouble.make(() =>
      Effect.flatMap(FiberRef.get(tenant), (name) => Effect.sync(() => seen.push(name)))
    )
    const world = coalescingOver(double)
    world.run(Effect.locally(world.advisor.search("oats"), tenant, "of a caller"))
    expect(seen).toEqual(["of the layer"])
  })
})

describe("staleIfError", () => {
  const late = (ending: Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError>) => {
    const double = AdvisorDouble.make(({ index }) =>
      index === 0 ? Effect.succeed("kept") : Effect.delay(ending, "1 second")
    )
    const world = worldOver(double, { staleIfError: "5 seconds" })
    searchedIn(world, "oats")
    return { double, world }
  }

  const after = (millis: number, ending: Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError>) => {
    const { double, world } = late(ending)
    world.pass(millis - 100)
    const caller = world.search("oats")
    world.pass(1_000)
    return [outcomeOf(caller), double.sent.length]
  }

  it.each([
    new ServerError({ operation, status: 500 }),
    new TransportError({ operation, reason: "Timeout" }),
    new TransportError({ operation: "token", reason: "Connection" }),
    new TooManyRequests({ operation, status: 429, retryAfter: 9 })
  ])("gives what is past its time in place of $_tag of $operation, after the service was asked", (error) => {
    expect(after(10_000, Effect.fail(error))).toEqual(["kept", 2])
  })

  it.each([
    new BadRequest({ operation, status: 400 }),
    new UnexpectedResponse({ operation, status: 404, reason: "Status" }),
    new NutritionAdvisorError.Forbidden({ operation, status: 403, reason: "RejectedAgain" })
  ])("leaves $_tag as it is", (error) => {
    expect(after(10_000, Effect.fail(error))).toEqual([error, 2])
  })

  it("leaves a defect as it is", () => {
    expect(after(10_000, Effect.die("a bug below"))).toEqual(["a bug below", 2])
  })

  it("ends so long after timeToLive, counted to when the error came", () => {
    expect(after(14_000, unavailable)).toEqual(["kept", 2])
    expect(after(14_001, unavailable)).toEqual([new ServerError({ operation, status: 503 }), 2])
  })

  it("does not come into play before timeToLive is over, nor where the service answers", () => {
    expect(after(9_999, unavailable)).toEqual(["kept", 1])
    expect(after(10_000, Effect.succeed("new"))).toEqual(["new", 2])
  })

  it("is nothing by default", () => {
    const double = AdvisorDouble.answering(Effect.succeed("kept"), unavailable)
    const world = worldOver(double)
    searchedIn(world, "oats")
    world.pass(9_900)
    expect(searchedIn(world, "oats")).toEqual(new ServerError({ operation, status: 503 }))
  })
})

describe("SearchCache", () => {
  it("hands on the very httpClient of the service below", () => {
    const httpClient = HttpClient.makeWith<
      NutritionAdvisorError.NutritionAdvisorError,
      never,
      NutritionAdvisorError.NutritionAdvisorError,
      never
    >(() => Effect.dieMessage("not asked"), Effect.succeed)
    const below = NutritionAdvisorTest.layer({ httpClient })
    const world = new AdvisorWorld(Layer.provide(SearchCache.layer({ timeToLive: "1 second" }), below))
    expect(world.advisor.httpClient).toBe(httpClient)
  })

  test("counts each search once, by where its payload came from", function*() {
    const grown = yield* added(
      Effect.sync(() => {
        const double = AdvisorDouble.make(({ index }) =>
          Effect.delay(index === 1 ? unavailable : Effect.succeed(index), 100)
        )
        const world = worldOver(double, { staleIfError: "1 hour" })
        for (let caller = 0; caller < 3; caller++) world.search("oats")
        world.pass(100)
        for (let caller = 0; caller < 5; caller++) world.search("oats")
        world.pass(10_000)
        for (let caller = 0; caller < 2; caller++) world.search("oats")
        world.pass(100)
        world.interrupt(world.search("rice"))
      }),
      "search_cache_total"
    )
    expect(grown).toEqual({ Miss: 2, Joined: 2, Hit: 5, Stale: 2 })
  })

  test("links the span of everyone who waits to that of the request", function*() {
    const spans: Array<Tracer.Span> = []
    const native = yield* Effect.tracer
    const tracer = Tracer.make({
      ...native,
      span: (...args) => {
        const span = native.span(...args)
        spans.push(span)
        return span
      }
    })
    yield* Effect.gen(function*() {
      const advisor = yield* NutritionAdvisor.NutritionAdvisor
      yield* Effect.all(["one", "other"].map((name) => Effect.withSpan(advisor.search("oats"), name)), {
        concurrency: "unbounded"
      })
    }).pipe(
      Effect.provide(Layer.provide(
        SearchCache.layerCoalescing,
        NutritionAdvisorTest.layer({ search: () => Effect.as(Effect.yieldNow(), "found") })
      )),
      Effect.withTracer(tracer)
    )
    const request = spans.find(({ name }) => name === "SearchCache.request")
    expect(
      spans.filter(({ name }) => name !== "SearchCache.request").map(({ links, name }) => [
        name,
        links.map(({ span }) => span.spanId)
      ])
    ).toEqual([["one", [request?.spanId]], ["other", [request?.spanId]]])
  })

  test("can be built uninterruptibly, and its requests still end where all have left", function*() {
    const double = AdvisorDouble.answering(Effect.never)
    const scope = yield* Scope.make()
    const built = yield* Effect.uninterruptible(
      Layer.buildWithScope(Layer.provide(SearchCache.layerCoalescing, double.layer), scope)
    )
    const caller = yield* Effect.fork(Context.get(built, NutritionAdvisor.NutritionAdvisor).search("oats"))
    yield* Time.pass(0)
    yield* Fiber.interrupt(caller)
    expect(double.inFlight).toEqual({ now: 0, most: 1 })
    yield* Scope.close(scope, Exit.void)
  })
})
