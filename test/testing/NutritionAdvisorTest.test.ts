import { HttpClient, HttpClientResponse } from "@effect/platform"
import { expect } from "@effect/vitest"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"

const test = arranged(Effect.void, NutritionAdvisorTest.layer({}))

const recording = arranged(Effect.void, NutritionAdvisorTest.layerRecording())

const Plan = Schema.Struct({ calories: Schema.NumberFromString })

const search = NutritionAdvisor.search("egg")

const searchAs = NutritionAdvisor.searchAs(Plan)("egg")

const request = Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.get("/v2/plan"))

/** The message that an effect dies with. */
const defectOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(
    Effect.exit(effect),
    (exit) => Exit.isFailure(exit) ? Option.map(Cause.dieOption(exit.cause), String) : Option.none<string>()
  )

const names = (method: string) => Option.some(expect.stringMatching(new RegExp(`\\b${method}\\b`)))

test("NutritionAdvisorTest.layer: searchAs decodes the payload of search", function*() {
  expect(yield* searchAs).toEqual({ calories: 155 })
}, NutritionAdvisorTest.layer({ search: () => Effect.succeed({ calories: "155" }) }))

test("NutritionAdvisorTest.layer: search gets the term and the options of searchAs", function*() {
  const Searched = Schema.Struct({ term: Schema.String, page: Schema.Unknown })
  expect(yield* NutritionAdvisor.searchAs(Searched)("egg", { headers: { page: "2" } }))
    .toEqual({ term: "egg", page: { page: "2" } })
}, NutritionAdvisorTest.layer({ search: (term, options) => Effect.succeed({ term, page: options?.headers }) }))

test("NutritionAdvisorTest.layer: searchAs fails like the client if the payload doesn't match the schema", function*() {
  expect(yield* Effect.flip(searchAs))
    .toMatchObject({ _tag: "UnexpectedResponse", operation: "search", status: 200, reason: "Schema" })
}, NutritionAdvisorTest.layer({ search: () => Effect.succeed({ energy: 155 }) }))

test("NutritionAdvisorTest.layer: a given searchAs replaces the derived one", function*() {
  const error = new NutritionAdvisorError.ServerError({ operation: "search", status: 503 })
  const double = NutritionAdvisorTest.layer({
    search: () => Effect.succeed({ calories: "155" }),
    searchAs: () => () => Effect.fail(error)
  })
  expect(yield* Effect.flip(Effect.provide(searchAs, double))).toEqual(error)
})

test(
  "NutritionAdvisorTest.layer: requests go to the given httpClient",
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

test.each<readonly [string, string, Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor>]>([
  ["search", "search", search],
  ["httpClient", "httpClient", request],
  ["searchAs", "search", searchAs]
])(
  "NutritionAdvisorTest.layer: a call of %s dies with a message that names the missing %s",
  function*([_, missing, call]) {
    expect(yield* defectOf(call)).toEqual(names(missing))
  }
)

const error = new NutritionAdvisorError.Forbidden({ operation: "search", status: 403, reason: "RejectedAgain" })

test.each<readonly [string, Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor>]>([
  ["search", search],
  ["searchAs", searchAs],
  ["httpClient", request]
])("NutritionAdvisorTest.layerFailing: %s fails with the error", function*([_, call]) {
  expect(yield* Effect.flip(call)).toBe(error)
}, NutritionAdvisorTest.layerFailing(error))

const recorded = Effect.flatten(NutritionAdvisorTest.RecordedSearches)

const terms = Effect.map(recorded, (searches) => searches.map(({ term }) => term))

recording("NutritionAdvisorTest.layerRecording: it records the term and the options of search", function*() {
  yield* search
  yield* NutritionAdvisor.search("egg", { urlParams: { page: "2" } })
  expect(yield* recorded).toEqual([
    { term: "egg", options: undefined },
    { term: "egg", options: { urlParams: { page: "2" } } }
  ])
})

recording("NutritionAdvisorTest.layerRecording: it records the term of searchAs", function*() {
  yield* NutritionAdvisor.searchAs(Schema.Unknown)("egg")
  expect(yield* terms).toEqual(["egg"])
})

const fails = () => Effect.fail(new NutritionAdvisorError.TooManyRequests({ operation: "search" }))

recording("NutritionAdvisorTest.layerRecording: it records the term of a given searchAs", function*() {
  yield* Effect.flip(searchAs)
  expect(yield* terms).toEqual(["egg"])
}, NutritionAdvisorTest.layerRecording({ searchAs: () => fails }))

recording("NutritionAdvisorTest.layerRecording: the default search finds nothing", function*() {
  expect(yield* search).toEqual({ results: [], alternateNames: [] })
})

test("NutritionAdvisorTest.layerRecording: each build has separate records", function*() {
  yield* Effect.provide(search, NutritionAdvisorTest.layerRecording())
  expect(yield* Effect.provide(terms, NutritionAdvisorTest.layerRecording())).toEqual([])
})
