import { HttpClient, HttpClientResponse } from "@effect/platform"
import { expect } from "@effect/vitest"
import { Cause, Effect, Option, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import { getPlan } from "../support/doubles/simulatedAdvisor.js"

const test = arranged(Effect.void, NutritionAdvisorTest.layer({}))

const recording = arranged(Effect.void, NutritionAdvisorTest.layerRecording())

const error = new NutritionAdvisorError.Forbidden({ operation: "search", status: 403, reason: "RejectedAgain" })

const Plan = Schema.Struct({ calories: Schema.NumberFromString })

const search = NutritionAdvisor.search("egg")

const searchAs = NutritionAdvisor.searchAs(Plan)("egg")

test("NutritionAdvisorTest.layer: searchAs decodes the payload of a search with its term and options", function*() {
  const Searched = Schema.Struct({ term: Schema.String, urlParams: Schema.Struct({ page: Schema.NumberFromString }) })
  expect(yield* NutritionAdvisor.searchAs(Searched)("egg", { urlParams: { page: "2" } }))
    .toEqual({ term: "egg", urlParams: { page: 2 } })
}, NutritionAdvisorTest.layer({ search: (term, options) => Effect.succeed({ term, ...options }) }))

test("NutritionAdvisorTest.layer: a given searchAs replaces the derived one", function*() {
  expect(yield* Effect.flip(searchAs)).toBe(error)
}, NutritionAdvisorTest.layer({ search: () => Effect.succeed({}), searchAs: () => () => Effect.fail(error) }))

test(
  "NutritionAdvisorTest.layer: requests go to the given httpClient",
  function*() {
    const response = yield* getPlan
    expect(yield* response.text).toBe("/v2/plan")
  },
  NutritionAdvisorTest.layer({
    httpClient: HttpClient.transform(
      NutritionAdvisorTest.make({}).httpClient,
      (_, request) => Effect.succeed(HttpClientResponse.fromWeb(request, new Response(request.url)))
    )
  })
)

type Call = Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor>

test.each<readonly [string, string, Call]>([
  ["search", "search", search],
  ["httpClient", "httpClient", getPlan],
  ["searchAs", "search", searchAs]
])(
  "NutritionAdvisorTest.layer: a call of %s dies with a message that names the missing %s",
  function*([_, missing, call]) {
    const defect = Option.getOrThrow(Cause.dieOption(yield* Effect.cause(call)))
    expect(String(defect)).toContain(`This double has no ${missing}.`)
  }
)

test.each<readonly [string, Call]>([
  ["search", search],
  ["searchAs", searchAs],
  ["httpClient", getPlan]
])("NutritionAdvisorTest.layerFailing: %s fails with the error", function*([_, call]) {
  expect(yield* Effect.flip(call)).toBe(error)
}, NutritionAdvisorTest.layerFailing(error))

const recorded = Effect.flatten(NutritionAdvisorTest.RecordedSearches)

recording("NutritionAdvisorTest.layerRecording: it records the term and the options of search", function*() {
  yield* search
  yield* NutritionAdvisor.search("egg", { urlParams: { page: "2" } })
  expect(yield* recorded).toEqual([
    { term: "egg", options: undefined },
    { term: "egg", options: { urlParams: { page: "2" } } }
  ])
})

recording("NutritionAdvisorTest.layerRecording: it records the term of a given searchAs", function*() {
  yield* Effect.flip(searchAs)
  expect(yield* recorded).toMatchObject([{ term: "egg" }])
}, NutritionAdvisorTest.layerRecording({ searchAs: () => () => Effect.fail(error) }))

recording(
  "NutritionAdvisorTest.layerRecording: it records an iterator as an array that the search can read, too",
  function*() {
    const urlParams = new Map([["page", "2"]]).entries()
    expect(yield* NutritionAdvisor.search("oats", { urlParams })).toEqual([["page", "2"]])
    expect(yield* recorded).toEqual([{ term: "oats", options: { urlParams: [["page", "2"]] } }])
  },
  NutritionAdvisorTest.layerRecording({
    search: (_, options) => Effect.sync(() => Array.from(options?.urlParams as []))
  })
)

recording("NutritionAdvisorTest.layerRecording: the default search finds nothing", function*() {
  expect(yield* search).toEqual({ results: [], alternateNames: [] })
})
