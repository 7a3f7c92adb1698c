import * as Headers from "@effect/platform/Headers"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Data from "effect/Data"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type { SearchOptions } from "../../NutritionAdvisor.js"

/** Options that this file doesn't know, by their names. */
class Others extends Data.Class<Readonly<Record<string, unknown>>> {}

/** Equal searches have equal keys. */
export class SearchKey extends Data.Class<{ readonly known: string; readonly others: Others }> {}

/** A search that has a key, with options that have been read and no longer change. */
export interface Keyed {
  readonly key: SearchKey
  readonly options: SearchOptions | undefined
}

/** By its value: two objects of which nothing is known could mean the same, or two customers. */
const isComparable = (value: unknown) => Equal.isEqual(value) || (!Predicate.isObject(value) && !Number.isNaN(value))

const read = (term: string, options: SearchOptions | undefined): Option.Option<Keyed> => {
  const { headers, urlParams, ...rest } = options ?? {}
  const others = Record.filter(rest, Predicate.isNotUndefined)
  if (!Object.values(others).every(isComparable)) return Option.none()
  const params = UrlParams.fromInput(urlParams ?? [])
  const fields = Headers.fromInput(headers)
  return Option.some({
    key: new SearchKey({ known: JSON.stringify([term, params, Object.entries(fields)]), others: new Others(others) }),
    options: options && { ...rest, urlParams: params, headers: fields }
  })
}

/** None if an option can't be compared: such a search is equal to no other. */
export const keyOf = (term: string, options: SearchOptions | undefined): Option.Option<Keyed> =>
  Option.flatten(Option.liftThrowable(read)(term, options))
