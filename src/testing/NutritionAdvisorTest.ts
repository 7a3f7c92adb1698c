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
import { searchAsOf } from "../internal/request/decode.js"
import { NutritionAdvisor, type SearchOptions, type Service } from "../NutritionAdvisor.js"
import type { NutritionAdvisorError } from "../NutritionAdvisorError.js"

const notGiven = (method: string) => Effect.dieMessage(`NutritionAdvisorTest was given no ${method}`)

const httpClientOf = (answer: Effect.Effect<never, NutritionAdvisorError>): Service["httpClient"] =>
  HttpClient.makeWith<NutritionAdvisorError, never, NutritionAdvisorError, never>(() => answer, Effect.succeed)

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
    httpClient: methods.httpClient ?? httpClientOf(notGiven("httpClient"))
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
  layer({ search: () => Effect.fail(error), httpClient: httpClientOf(Effect.fail(error)) })

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

type Search<A, R> = (term: string, options?: SearchOptions) => Effect.Effect<A, NutritionAdvisorError, R>

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
      const { search = () => Effect.succeed({ results: [], alternateNames: [] }), searchAs } = methods
      const recording = <A, R>(given: Search<A, R>): Search<A, R> => (term, options) =>
        Effect.zipRight(Ref.update(recorded, (searches) => [...searches, { term, options }]), given(term, options))
      const advisor = make({
        ...methods,
        search: recording(search),
        ...(searchAs && { searchAs: (schema) => recording(searchAs(schema)) })
      })
      return Context.make(NutritionAdvisor, advisor).pipe(Context.add(RecordedSearches, Ref.get(recorded)))
    })
  )
