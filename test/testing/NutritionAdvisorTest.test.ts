import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"

const Plan = Schema.Struct({ calories: Schema.NumberFromString })

const service = NutritionAdvisor.NutritionAdvisor

const dies = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(
    Effect.exit(effect),
    (exit) => Exit.isFailure(exit) ? Option.map(Cause.dieOption(exit.cause), String) : Option.none<string>()
  )

const names = (method: string) => Option.some(expect.stringMatching(new RegExp(`\\b${method}\\b`)))

describe("NutritionAdvisorTest.layer", () => {
  it.effect("answers search with the given method", () =>
    Effect.gen(function*() {
      expect(yield* NutritionAdvisor.search("egg")).toEqual({ found: "egg" })
    }).pipe(Effect.provide(NutritionAdvisorTest.layer({ search: (term) => Effect.succeed({ found: term }) }))))

  it.effect("hands the options of a search to the given method", () =>
    Effect.gen(function*() {
      expect(yield* NutritionAdvisor.search("egg", { urlParams: { page: "2" } })).toEqual({ urlParams: { page: "2" } })
    }).pipe(Effect.provide(NutritionAdvisorTest.layer({ search: (_, options) => Effect.succeed(options) }))))

  it.effect("decodes what search gives for searchAs", () =>
    Effect.gen(function*() {
      expect(yield* NutritionAdvisor.searchAs(Plan)("egg")).toEqual({ calories: 155 })
    }).pipe(Effect.provide(NutritionAdvisorTest.layer({ search: () => Effect.succeed({ calories: "155" }) }))))

  it.effect("hands the term and the options of searchAs to search", () =>
    Effect.gen(function*() {
      const Asked = Schema.Struct({ term: Schema.String, page: Schema.Unknown })
      expect(yield* NutritionAdvisor.searchAs(Asked)("egg", { headers: { page: "2" } }))
        .toEqual({ term: "egg", page: { page: "2" } })
    }).pipe(Effect.provide(NutritionAdvisorTest.layer({
      search: (term, options) => Effect.succeed({ term, page: options?.headers })
    }))))

  it.effect("fails searchAs like the client where the payload has another shape", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(NutritionAdvisor.searchAs(Plan)("egg"))).toEqual(
        new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 200, reason: "Schema" })
      )
    }).pipe(Effect.provide(NutritionAdvisorTest.layer({ search: () => Effect.succeed({ energy: 155 }) }))))

  it.effect("prefers a given searchAs to the derived one", () =>
    Effect.gen(function*() {
      const error = new NutritionAdvisorError.ServerError({ operation: "search", status: 503 })
      const double = NutritionAdvisorTest.layer({
        search: () => Effect.succeed({ calories: "155" }),
        searchAs: () => () => Effect.fail(error)
      })
      expect(yield* Effect.flip(Effect.provide(NutritionAdvisor.searchAs(Plan)("egg"), double))).toEqual(error)
    }))

  it.effect("answers requests with the given httpClient", () =>
    Effect.gen(function*() {
      const { httpClient } = yield* service
      const response = yield* httpClient.get("/v2/plan")
      expect(yield* response.text).toBe("/v2/plan")
    }).pipe(Effect.provide(NutritionAdvisorTest.layer({
      httpClient: HttpClient.makeWith<
        NutritionAdvisorError.NutritionAdvisorError,
        never,
        NutritionAdvisorError.NutritionAdvisorError,
        never
      >(
        Effect.map((request) => HttpClientResponse.fromWeb(request, new Response(request.url))),
        Effect.succeed
      )
    }))))

  it.effect("dies with a sentence that names search where it is missing", () =>
    Effect.gen(function*() {
      expect(yield* dies(NutritionAdvisor.search("egg"))).toEqual(names("search"))
    }).pipe(Effect.provide(NutritionAdvisorTest.layer({}))))

  it.effect("dies with a sentence that names httpClient where it is missing", () =>
    Effect.gen(function*() {
      const { httpClient } = yield* service
      expect(yield* dies(httpClient.get("/v2/plan"))).toEqual(names("httpClient"))
    }).pipe(Effect.provide(NutritionAdvisorTest.layer({}))))

  it.effect("dies in searchAs with a sentence that names search where both are missing", () =>
    Effect.gen(function*() {
      expect(yield* dies(NutritionAdvisor.searchAs(Plan)("egg"))).toEqual(names("search"))
    }).pipe(Effect.provide(NutritionAdvisorTest.layer({}))))
})

describe("NutritionAdvisorTest.layerFailing", () => {
  const error = new NutritionAdvisorError.Forbidden({ operation: "search", status: 403, reason: "RejectedAgain" })

  it.effect("fails search with the error", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(NutritionAdvisor.search("egg"))).toBe(error)
    }).pipe(Effect.provide(NutritionAdvisorTest.layerFailing(error))))

  it.effect("fails searchAs with the error", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(NutritionAdvisor.searchAs(Plan)("egg"))).toBe(error)
    }).pipe(Effect.provide(NutritionAdvisorTest.layerFailing(error))))

  it.effect("fails httpClient with the error", () =>
    Effect.gen(function*() {
      const { httpClient } = yield* service
      expect(yield* Effect.flip(httpClient.execute(HttpClientRequest.post("/v2/meals")))).toBe(error)
    }).pipe(Effect.provide(NutritionAdvisorTest.layerFailing(error))))
})

describe("NutritionAdvisorTest.layerRecording", () => {
  const recorded = Effect.flatten(NutritionAdvisorTest.RecordedSearches)

  const terms = Effect.map(recorded, (searches) => searches.map(({ term }) => term))

  it.effect("has recorded nothing at first", () =>
    Effect.gen(function*() {
      expect(yield* recorded).toEqual([])
    }).pipe(Effect.provide(NutritionAdvisorTest.layerRecording())))

  it.effect("records the terms in their order", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("egg")
      yield* NutritionAdvisor.search("bread")
      yield* NutritionAdvisor.search("egg")
      expect(yield* terms).toEqual(["egg", "bread", "egg"])
    }).pipe(Effect.provide(NutritionAdvisorTest.layerRecording())))

  it.effect("records the options beside the term", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("egg")
      yield* NutritionAdvisor.search("egg", { urlParams: { page: "2" } })
      expect(yield* recorded).toEqual([
        { term: "egg", options: undefined },
        { term: "egg", options: { urlParams: { page: "2" } } }
      ])
    }).pipe(Effect.provide(NutritionAdvisorTest.layerRecording())))

  it.effect("records the terms of searchAs", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.searchAs(Schema.Unknown)("egg")
      expect(yield* terms).toEqual(["egg"])
    }).pipe(Effect.provide(NutritionAdvisorTest.layerRecording())))

  it.effect("records the terms of a given searchAs", () =>
    Effect.gen(function*() {
      yield* Effect.ignore(NutritionAdvisor.searchAs(Plan)("egg"))
      expect(yield* terms).toEqual(["egg"])
    }).pipe(Effect.provide(NutritionAdvisorTest.layerRecording({
      searchAs: () => () => Effect.fail(new NutritionAdvisorError.TooManyRequests({ operation: "search" }))
    }))))

  it.effect("records a search that fails", () =>
    Effect.gen(function*() {
      yield* Effect.flip(NutritionAdvisor.search("egg"))
      expect(yield* terms).toEqual(["egg"])
    }).pipe(Effect.provide(NutritionAdvisorTest.layerRecording({
      search: () => Effect.fail(new NutritionAdvisorError.TooManyRequests({ operation: "search" }))
    }))))

  it.effect("answers with the given search", () =>
    Effect.gen(function*() {
      expect(yield* NutritionAdvisor.search("egg")).toEqual({ found: "egg" })
    }).pipe(Effect.provide(NutritionAdvisorTest.layerRecording({ search: (term) => Effect.succeed({ found: term }) }))))

  it.effect("finds nothing without a search", () =>
    Effect.gen(function*() {
      expect(yield* NutritionAdvisor.search("egg")).toEqual({ results: [], alternateNames: [] })
    }).pipe(Effect.provide(NutritionAdvisorTest.layerRecording())))

  it.effect("records into each build of its own", () =>
    Effect.gen(function*() {
      yield* Effect.provide(NutritionAdvisor.search("egg"), NutritionAdvisorTest.layerRecording())
      expect(yield* Effect.provide(terms, NutritionAdvisorTest.layerRecording())).toEqual([])
    }))
})
