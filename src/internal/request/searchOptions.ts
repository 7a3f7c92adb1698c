import * as Predicate from "effect/Predicate"
import type { SearchOptions } from "../../NutritionAdvisor.js"

const isIterator = <A>(input: Iterable<A> | object): input is IterableIterator<A> =>
  Predicate.isIterable(input) && Object.is(input[Symbol.iterator](), input)

const collected = <A, Input extends object>(input: Iterable<A> | Input): ReadonlyArray<A> | Iterable<A> | Input =>
  isIterator<A>(input) ? Array.from(input) : input

/** Reads iterators now, and once, so that whoever gets these options can read them as often as it likes. */
export const readOnce = (options: SearchOptions | undefined): SearchOptions | undefined =>
  options && {
    ...options,
    ...options.urlParams && { urlParams: collected(options.urlParams) },
    ...options.headers && { headers: collected(options.headers) }
  }
