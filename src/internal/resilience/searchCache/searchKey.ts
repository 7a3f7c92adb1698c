import * as Data from "effect/Data"
import * as Equal from "effect/Equal"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type { ReadOptions } from "../../request/searchOptions.js"

/** The options that this file doesn't know, by name. */
class Others extends Data.Class<Readonly<Record<string, unknown>>> {}

/** Equal searches have equal keys. */
export class SearchKey extends Data.Class<{ readonly known: string; readonly others: Others }> {}

/** Whether a value can be compared. Two unknown objects can't: they might mean the same thing, or two different customers. */
const isComparable = (value: unknown) => Equal.isEqual(value) || (!Predicate.isObject(value) && !Number.isNaN(value))

/** Returns undefined if an option can't be compared. Such a search isn't equal to any other. */
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
