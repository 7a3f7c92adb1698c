import { isDeepStrictEqual } from "node:util"
import { Headers, UrlParams } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { searchKey } from "../../src/internal/request/searchOptions.js"

/** Characters that could end a part of a key, and strings that could be another type. */
const text = FastCheck.constantFrom("", "a", "b", "1", "null", "a,b", "\"", "],[", "a\",\"b")

const pairs = FastCheck.array(FastCheck.tuple(text, text), { maxLength: 2 })

const search = FastCheck.record({
  term: text,
  params: pairs,
  headers: pairs.map((pairs) => Object.entries(Headers.fromInput(pairs))),
  others: FastCheck.dictionary(
    FastCheck.constantFrom("tenant", "locale", "term"),
    FastCheck.oneof(text, FastCheck.constantFrom(0, 1, true, null))
  )
})

type Search = typeof search extends FastCheck.Arbitrary<infer A> ? A : never

const part = FastCheck.constantFrom<keyof Search>("term", "params", "headers", "others")

const keyOf = ({ headers, others, params, term }: Search) =>
  searchKey(term, { ...others, urlParams: UrlParams.fromInput(params), headers: Headers.fromInput(headers) })

it.prop(
  "searchKey: keys are equal if and only if the term and all options are equal",
  [search, search, part],
  ([one, other, part]) => {
    for (const compared of [other, { ...one, [part]: other[part] }]) {
      expect(keyOf(compared) === keyOf(one)).toBe(isDeepStrictEqual({ ...compared }, { ...one }))
    }
  },
  { fastCheck: { numRuns: 2_000 } }
)

it("searchKey: the order of options and options that are undefined make no difference", () => {
  const none = { urlParams: UrlParams.empty, headers: undefined }
  const options = { ...none, tenant: "a", locale: "en" }
  const reversed = { locale: "en", tenant: "a", region: undefined, ...none }
  expect(searchKey("oats", reversed)).toBe(searchKey("oats", options))
})
