/**
 * Reads the options of a search, only once, because parameters and headers may be iterators. The client and SearchCache normalize them, so
 * that equal options look the same. Whatever else passes them on only copies them.
 */
import * as Headers from "@effect/platform/Headers"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type { SearchOptions } from "../../NutritionAdvisor.js"
import { presentHeaders } from "../http/header.js"
import type * as Url from "../http/url.js"
import { hasMethod } from "../runtime/hasMethod.js"

/** The options of a search, each in one form, however the caller wrote it. */
export interface NormalizedOptions extends SearchOptions {
  readonly urlParams: Url.QueryPairs
  readonly headers: Headers.Headers | undefined
}

type Param = UrlParams.CoercibleRecord[string]

/**
 * Returns the value to send. null becomes undefined, which is left out. A Date or a URL, which a caller in JavaScript may pass, becomes a
 * string: the platform would treat it as a record without fields.
 */
const plainParam = <A extends Param>(value: A): NonNullable<A> | undefined =>
  (hasMethod(value, "toJSON") ? value.toJSON() as A : value) ?? undefined

/** Copies a record. A copy of the platform's Headers still hides its secrets, because it keeps its prototype. */
const copyRecord = <A>(record: { readonly [name: string]: A }, copyValue: (value: A) => A): typeof record =>
  Object.setPrototypeOf(Record.map({ ...record }, copyValue), Object.getPrototypeOf(record))

/**
 * Copies a parameter with its arrays and records, and makes their values plain. An iterable of entries is passed as it is, because an array
 * of them would be a list of values.
 */
const copyParam = (given: Param): Param => {
  const value = plainParam(given)
  if (typeof value !== "object") return value
  if (Array.isArray(value)) return value.map(plainParam)
  return Symbol.iterator in value ? value : copyRecord(value, copyParam)
}

const isIterable = (input: UrlParams.Input): input is Iterable<readonly [string, UrlParams.Coercible]> =>
  Symbol.iterator in input

/** If reading the options throws, the search dies with that defect. */
const tried = <A>(read: () => A): Exit.Exit<A> => {
  try {
    return Exit.succeed(read())
  } catch (defect) {
    return Exit.die(defect)
  }
}

const paramsOf = (input: UrlParams.Input): Url.QueryPairs =>
  Array.from<readonly [string, Param]>(isIterable(input) ? input : Object.entries(input))
    .flatMap(([name, value]) => UrlParams.fromInput({ [name]: copyParam(value) }))

const normalized = (options: SearchOptions): NormalizedOptions => ({
  ...options,
  urlParams: paramsOf(options.urlParams ?? []),
  headers: options.headers ? presentHeaders(Headers.fromInput(options.headers)) : undefined
})

/** The normal form of no options, made once. */
const noOptions = Exit.succeed(normalized({}))

/** Reads the options of a search immediately, into their normal form, so that each run sends the same values. */
export const normalizeOptions = (options: SearchOptions | undefined): Exit.Exit<NormalizedOptions> =>
  options ? tried(() => normalized(options)) : noOptions

const copyHeader = (value: string | ReadonlyArray<string> | undefined) => Array.isArray(value) ? [...value] : value

const copied = (options: SearchOptions): SearchOptions => {
  const { headers, urlParams } = options
  return {
    ...options,
    ...urlParams && { urlParams: isIterable(urlParams) ? Array.from(urlParams) : copyRecord(urlParams, copyParam) },
    ...headers && { headers: Predicate.isIterable(headers) ? Array.from(headers) : copyRecord(headers, copyHeader) }
  }
}

/**
 * Copies the options of a search immediately, for another client, which may read them later or more than once. The caller may change them for
 * its next search, and an iterator can't be read twice. They are not normalized, so that a test double gets what the caller wrote.
 */
export const copyOptions = (options: SearchOptions | undefined): Exit.Exit<SearchOptions | undefined> =>
  options ? tried(() => copied(options)) : Exit.succeed(undefined)

/**
 * Returns the key of a search. Two searches have the same key if their terms and the options named below are the same, to the letter. Returns
 * undefined if there is any other option, because its value may stand for another customer. Such a search isn't equal to any other.
 */
export const searchKey = (term: string, options: NormalizedOptions): string | undefined => {
  const { headers = {}, urlParams, ...others } = options
  if (Object.values(others).some(Predicate.isNotUndefined)) return undefined
  return JSON.stringify({ term, urlParams, headers: Object.entries(headers) })
}
