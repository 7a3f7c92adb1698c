/**
 * Test doubles for the NutritionAdvisor service.
 *
 * @since 1.0.0
 * @module
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { searchAsOf } from "../internal/request/decode.js"
import { copyOptions } from "../internal/request/searchOptions.js"
import { NutritionAdvisor, type SearchOptions, type Service } from "../NutritionAdvisor.js"
import type { NutritionAdvisorError } from "../NutritionAdvisorError.js"

const missing = (method: string) =>
  Effect.dieMessage(`This double has no ${method}. Pass one to NutritionAdvisorTest.make, layer or layerRecording.`)

const failingClient = (failure: Effect.Effect<never, NutritionAdvisorError>): Service["httpClient"] =>
  HttpClient.makeWith<NutritionAdvisorError, never, NutritionAdvisorError, never>(() => failure, Effect.succeed)

/**
 * Creates a service from the given methods. If you don't pass `searchAs`, it decodes what `search` returns. A call to a method that you
 * didn't pass dies with a message that names the method.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (methods: Partial<Service>): Service => {
  const search = methods.search ?? (() => missing("search"))
  return {
    search,
    searchAs: methods.searchAs ?? searchAsOf(search),
    httpClient: methods.httpClient ?? failingClient(missing("httpClient"))
  }
}

/**
 * Provides the double of {@link make}.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (methods: Partial<Service>): Layer.Layer<NutritionAdvisor> =>
  Layer.succeed(NutritionAdvisor, make(methods))

/**
 * Provides a double whose calls all fail with the given error.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerFailing = (error: NutritionAdvisorError): Layer.Layer<NutritionAdvisor> =>
  layer({ search: () => Effect.fail(error), httpClient: failingClient(Effect.fail(error)) })

/**
 * A search that a recording double received.
 *
 * @since 1.0.0
 * @category models
 */
export interface RecordedSearch {
  /** The search term, as it was passed. */
  readonly term: string
  /** The options as they were at the call. Iterables in them, such as iterators, are recorded as arrays. */
  readonly options: SearchOptions | undefined
}

/**
 * The searches that a recording double received, oldest first.
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
 * Provides a double that records its searches, with the given methods. If you don't pass `search`, a search finds no foods.
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
      const recording = <A, R>(method: Search<A, R>): Search<A, R> => (term, given) =>
        Effect.flatMap(copyOptions(given), (options) =>
          Effect.zipRight(
            Ref.update(recorded, (searches) => [...searches, { term, options }]),
            method(term, options)
          ))
      const advisor = make({
        ...methods,
        search: recording(search),
        ...(searchAs && { searchAs: (schema) => recording(searchAs(schema)) })
      })
      return Context.make(NutritionAdvisor, advisor).pipe(Context.add(RecordedSearches, Ref.get(recorded)))
    })
  )
