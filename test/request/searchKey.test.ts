import { isDeepStrictEqual } from "node:util"
import { Headers } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import type { NutritionAdvisor } from "effect-nutrition-advisor"
import { searchKey, withNormalizedOptions } from "../../src/internal/request/searchOptions.js"

/** Characters that could end a part of a key, and strings that could be another type. */
const text = FastCheck.constantFrom("", "a", "b", "1", "null", "a,b", "\"", "],[", "a\",\"b")

const pairs = FastCheck.array(FastCheck.tuple(text, text), { maxLength: 2 })

const search = FastCheck.record({
  term: text,
  params: pairs,
  headers: pairs.map((pairs) => Object.entries(Headers.fromInput(pairs))),
  others: FastCheck.dictionary(
    FastCheck.constantFrom("firstOther", "secondOther", "term"),
    FastCheck.oneof(text, FastCheck.constantFrom(0, 1, true, null))
  )
})

type Search = typeof search extends FastCheck.Arbitrary<infer A> ? A : never

const part = FastCheck.constantFrom<keyof Search>("term", "params", "headers", "others")

const keyFor = (term: string, options: NutritionAdvisor.SearchOptions & Readonly<Record<string, unknown>>) =>
  withNormalizedOptions(options, (normalized) => searchKey(term, normalized))

const keyOf = ({ headers, others, params, term }: Search) => keyFor(term, { ...others, urlParams: params, headers })

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
  const options = { firstOther: "a", secondOther: "b" }
  const reversed = { secondOther: "b", firstOther: "a", thirdOther: undefined }
  expect(keyFor("oats", reversed)).toBe(keyFor("oats", options))
})
