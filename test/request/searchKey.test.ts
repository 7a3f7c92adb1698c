import { isDeepStrictEqual } from "node:util"
import { Headers } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { normalizeOptions, searchKey } from "../../src/internal/request/searchOptions.js"

/** Characters that could end a part of a key, and strings that could be another type. */
const text = FastCheck.constantFrom("", "a", "b", "1", "null", "a,b", "\"", "],[", "a\",\"b")

const pairs = FastCheck.array(FastCheck.tuple(text, text), { maxLength: 2 })

const search = FastCheck.record({
  term: text,
  params: pairs,
  headers: pairs.map((pairs) => Object.entries(Headers.fromInput(pairs)))
})

type Search = typeof search extends FastCheck.Arbitrary<infer A> ? A : never

const part = FastCheck.constantFrom<keyof Search>("term", "params", "headers")

const keyOf = ({ headers, params, term }: Search, others = {}) =>
  Effect.runSync(
    Effect.map(normalizeOptions({ ...others, urlParams: params, headers }), (options) => searchKey(term, options))
  )

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

it("searchKey: a search with an unknown option has no key, unless it is undefined", () => {
  const oats = { term: "oats", params: [], headers: [] }
  expect(keyOf(oats, { unknown: "a" })).toBeUndefined()
  expect(keyOf(oats, { unknown: undefined })).toBe(keyOf(oats))
})
