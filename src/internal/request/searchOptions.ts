import * as Headers from "@effect/platform/Headers"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { BadRequest } from "../../NutritionAdvisorError.js"
import * as Url from "../http/url.js"

interface Options {
  readonly urlParams?: UrlParams.Input | undefined
  readonly headers?: Headers.Input | undefined
}

/** What a search is sent with beside its term. */
export interface Further {
  readonly urlParams?: Url.Pairs
  readonly headers?: Headers.Headers
}

const nothing: Further = {}

/** Only what a template string can hold. */
const textOf = (value: unknown): string => {
  if (typeof value === "object" || typeof value === "function") throw new TypeError("the value is no text")
  return `${value as string}`
}

const fieldsOf = (headers: Headers.Input): Headers.Headers =>
  Headers.fromInput(Record.map(Headers.fromInput(headers), textOf))

/** Throws where it is no object, as callers without types may give. */
const isPairs = (input: UrlParams.Input): input is Extract<UrlParams.Input, Iterable<unknown>> =>
  Symbol.iterator in input

const paramsOf = (urlParams: UrlParams.Input): Url.Pairs => {
  const plain: UrlParams.Input = isPairs(urlParams) ? [...urlParams] : { ...urlParams }
  if (Object.values(plain).flat(2).some(Predicate.isSymbol)) throw new TypeError("the value is no text")
  return Url.pairsOf(UrlParams.fromInput(plain))
}

/** The options of one search as they are now, for as often as it is sent. Callers without types may give what can't be read. */
export const read = (options: Options | undefined): Further | undefined => {
  try {
    const { headers, urlParams } = options ?? {}
    return headers || urlParams
      ? {
        ...urlParams && { urlParams: paramsOf(urlParams) },
        ...headers && { headers: fieldsOf(headers) }
      }
      : nothing
  } catch {
    return undefined
  }
}

/** The options as they are now, in the form in which they were given. Iterables are read, which can be done once only. */
export const copy = (options: Options | undefined): Options | undefined => {
  try {
    const { headers, urlParams } = options ?? {}
    return {
      ...urlParams && { urlParams: structuredClone(isPairs(urlParams) ? Array.from(urlParams) : urlParams) },
      ...headers && { headers: structuredClone(Symbol.iterator in headers ? Array.from(headers) : headers) }
    }
  } catch {
    return undefined
  }
}

export const unreadable = () => new BadRequest({ operation: "search", detail: "the options can't be read" })
