/**
 * Doubles of the NutritionAdvisor service for the test suites of its users.
 *
 * @since 1.0.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { isOfEffect } from "../internal/request/decode.js"
import { forAnySchema, searchAsOf } from "../internal/request/searchAs.js"
import { NutritionAdvisor, type SearchOptions, type Service } from "../NutritionAdvisor.js"
import type { NutritionAdvisorError } from "../NutritionAdvisorError.js"

const notGiven = (method: string) => Effect.dieMessage(`NutritionAdvisorTest was given no ${method}`)

/**
 * A service of the given methods. `searchAs` decodes what `search` gives, unless it is given too; a method that is missing
 * dies with a sentence that names it.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (methods: Partial<Service>): Service => {
  const search = methods.search ?? (() => notGiven("search"))
  return {
    search,
    searchAs: methods.searchAs ?? searchAsOf(search),
    httpClient: methods.httpClient ??
      HttpClient.makeWith<NutritionAdvisorError, never, NutritionAdvisorError, never>(
        () => notGiven("httpClient"),
        Effect.succeed
      )
  }
}

/**
 * A double of the given methods.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (methods: Partial<Service>): Layer.Layer<NutritionAdvisor> =>
  Layer.succeed(NutritionAdvisor, make(methods))

/**
 * A double of which every call fails with the given error.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerFailing = (error: NutritionAdvisorError): Layer.Layer<NutritionAdvisor> =>
  layer({
    search: () => Effect.fail(error),
    httpClient: HttpClient.makeWith<NutritionAdvisorError, never, NutritionAdvisorError, never>(
      () => Effect.fail(error),
      Effect.succeed
    )
  })

/**
 * A search that a recording double was asked for.
 *
 * @since 1.0.0
 * @category models
 */
export interface RecordedSearch {
  readonly term: string
  /** As they were given, if they were. */
  readonly options: SearchOptions | undefined
}

/**
 * The searches that a recording double was asked for, oldest first.
 *
 * @since 1.0.0
 * @category tags
 */
export class RecordedSearches extends Context.Tag("effect-nutrition-advisor/testing/RecordedSearches")<
  RecordedSearches,
  Effect.Effect<ReadonlyArray<RecordedSearch>>
>() {}

/**
 * A double of the given methods that records the searches it is asked for; without a `search` it finds nothing.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerRecording = (
  methods: Partial<Service> = {}
): Layer.Layer<NutritionAdvisor | RecordedSearches> =>
  Layer.effectContext(
    Effect.map(Ref.make<ReadonlyArray<RecordedSearch>>([]), (recorded) => {
      const search = methods.search ?? (() => Effect.succeed({ results: [], alternateNames: [] }))
      const { searchAs } = methods
      const record = (term: string, options: SearchOptions | undefined) =>
        Ref.update(recorded, (searches) => [...searches, { term, options }])
      return Context.make(RecordedSearches, Ref.get(recorded)).pipe(
        Context.add(
          NutritionAdvisor,
          make({
            ...methods,
            ...(searchAs === undefined ? {} : {
              searchAs: forAnySchema((schema) => {
                const given = isOfEffect(schema) ? searchAs(schema) : searchAs(schema)
                return (term, options) => Effect.zipRight(record(term, options), given(term, options))
              })
            }),
            search: (term, options) => Effect.zipRight(record(term, options), search(term, options))
          })
        )
      )
    })
  )
