import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"

const test = arranged(Effect.void, NutritionAdvisorTest.layer({}))

const recording = arranged(Effect.void, NutritionAdvisorTest.layerRecording())

const Plan = Schema.Struct({ calories: Schema.NumberFromString })

/** Each method of the service. */
const search = NutritionAdvisor.search("egg")

const searchAs = NutritionAdvisor.searchAs(Plan)("egg")

const request = Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.get("/v2/plan"))

const dies = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(
    Effect.exit(effect),
    (exit) => Exit.isFailure(exit) ? Option.map(Cause.dieOption(exit.cause), String) : Option.none<string>()
  )

const names = (method: string) => Option.some(expect.stringMatching(new RegExp(`\\b${method}\\b`)))

describe("NutritionAdvisorTest.layer", () => {
  test("decodes what search gives for searchAs", function*() {
    expect(yield* searchAs).toEqual({ calories: 155 })
  }, NutritionAdvisorTest.layer({ search: () => Effect.succeed({ calories: "155" }) }))

  test("hands the term and the options of searchAs to search", function*() {
    const Asked = Schema.Struct({ term: Schema.String, page: Schema.Unknown })
    expect(yield* NutritionAdvisor.searchAs(Asked)("egg", { headers: { page: "2" } }))
      .toEqual({ term: "egg", page: { page: "2" } })
  }, NutritionAdvisorTest.layer({ search: (term, options) => Effect.succeed({ term, page: options?.headers }) }))

  test("fails searchAs like the client where the payload has another shape", function*() {
    expect(yield* Effect.flip(searchAs))
      .toMatchObject({ _tag: "UnexpectedResponse", operation: "search", status: 200, reason: "Schema" })
  }, NutritionAdvisorTest.layer({ search: () => Effect.succeed({ energy: 155 }) }))

  test("prefers a given searchAs to the derived one", function*() {
    const error = new NutritionAdvisorError.ServerError({ operation: "search", status: 503 })
    const double = NutritionAdvisorTest.layer({
      search: () => Effect.succeed({ calories: "155" }),
      searchAs: () => () => Effect.fail(error)
    })
    expect(yield* Effect.flip(Effect.provide(searchAs, double))).toEqual(error)
  })

  test(
    "answers requests with the given httpClient",
    function*() {
      const response = yield* request
      expect(yield* response.text).toBe("/v2/plan")
    },
    NutritionAdvisorTest.layer({
      httpClient: HttpClient.makeWith<
        NutritionAdvisorError.NutritionAdvisorError,
        never,
        NutritionAdvisorError.NutritionAdvisorError,
        never
      >(
        Effect.map((request) => HttpClientResponse.fromWeb(request, new Response(request.url))),
        Effect.succeed
      )
    })
  )

  test.each<readonly [string, Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor>, string]>([
    ["search", search, "search"],
    ["httpClient", request, "httpClient"],
    ["searchAs, which search would be enough for,", searchAs, "search"]
  ])("dies with a sentence that names what is missing: %s", function*([_, call, missing]) {
    expect(yield* dies(call)).toEqual(names(missing))
  })
})

describe("NutritionAdvisorTest.layerFailing", () => {
  const error = new NutritionAdvisorError.Forbidden({ operation: "search", status: 403, reason: "RejectedAgain" })

  test.each<readonly [string, Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor>]>([
    ["search", search],
    ["searchAs", searchAs],
    ["httpClient", request]
  ])("fails %s with the error", function*([_, call]) {
    expect(yield* Effect.flip(call)).toBe(error)
  }, NutritionAdvisorTest.layerFailing(error))
})

describe("NutritionAdvisorTest.layerRecording", () => {
  const recorded = Effect.flatten(NutritionAdvisorTest.RecordedSearches)

  const terms = Effect.map(recorded, (searches) => searches.map(({ term }) => term))

  recording("records the options beside the term", function*() {
    yield* search
    yield* NutritionAdvisor.search("egg", { urlParams: { page: "2" } })
    expect(yield* recorded).toEqual([
      { term: "egg", options: undefined },
      { term: "egg", options: { urlParams: { page: "2" } } }
    ])
  })

  recording("records the terms of searchAs", function*() {
    yield* NutritionAdvisor.searchAs(Schema.Unknown)("egg")
    expect(yield* terms).toEqual(["egg"])
  })

  const fails = () => Effect.fail(new NutritionAdvisorError.TooManyRequests({ operation: "search" }))

  recording("records the terms of a given searchAs", function*() {
    yield* Effect.flip(searchAs)
    expect(yield* terms).toEqual(["egg"])
  }, NutritionAdvisorTest.layerRecording({ searchAs: () => fails }))

  recording("finds nothing without a search", function*() {
    expect(yield* search).toEqual({ results: [], alternateNames: [] })
  })

  test("records into each build of its own", function*() {
    yield* Effect.provide(search, NutritionAdvisorTest.layerRecording())
    expect(yield* Effect.provide(terms, NutritionAdvisorTest.layerRecording())).toEqual([])
  })
})
