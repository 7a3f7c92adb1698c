import * as Headers from "@effect/platform/Headers"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Predicate from "effect/Predicate"

/** What a search is sent with beside its term. */
export interface Further {
  readonly urlParams?: UrlParams.Input | undefined
  readonly headers?: Headers.Input | undefined
}

const isIterator = (input: unknown): boolean =>
  Predicate.isIterable(input) && Object.is(input[Symbol.iterator](), input)

/** The options of one search, for as often as it is sent: what an iterator gives is read when it is sent first. */
export const readOnce = (options: Further | undefined): () => Further | undefined => {
  const { headers, urlParams } = options ?? {}
  if (!isIterator(headers) && !isIterator(urlParams)) return () => options
  let read: Further | undefined
  return () =>
    read ??= {
      ...urlParams && { urlParams: UrlParams.fromInput(urlParams) },
      ...headers && { headers: Headers.fromInput(headers) }
    }
}
