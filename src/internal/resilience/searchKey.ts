import * as Data from "effect/Data"
import * as Equal from "effect/Equal"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type { ReadOptions } from "../request/searchOptions.js"

/** Options that this file doesn't know, by their names. */
class Others extends Data.Class<Readonly<Record<string, unknown>>> {}

/** Equal searches have equal keys. */
export class SearchKey extends Data.Class<{ readonly known: string; readonly others: Others }> {}

/** By its value: two objects of which nothing is known could mean the same, or two customers. */
const isComparable = (value: unknown) => Equal.isEqual(value) || (!Predicate.isObject(value) && !Number.isNaN(value))

/** Undefined if an option can't be compared: such a search is equal to no other. */
export const keyOf = (term: string, options: Partial<ReadOptions> = {}): SearchKey | undefined => {
  const { headers = {}, urlParams = [], ...rest } = options
  const further: Readonly<Record<string, unknown>> = rest
  const others = Record.filter(further, Predicate.isNotUndefined)
  if (!Object.values(others).every(isComparable)) return undefined
  return new SearchKey({
    known: JSON.stringify([term, urlParams, Object.entries(headers)]),
    others: new Others(others)
  })
}
