import { expect, it } from "@effect/vitest"
import { Either, FastCheck as fc, Struct } from "effect"
import type { FoodSearchTool } from "effect-nutrition-advisor/ai"
import * as FitResult from "../../src/internal/ai/fitResult.js"
import { declarations } from "../../src/internal/ai/searchFoodsTool.js"
import { parse } from "../../src/internal/options/declarations.js"

const fitResult = (payload: unknown, options: FoodSearchTool.Options = {}) =>
  FitResult.fitResult(payload, Either.getOrThrow(parse(declarations, options)))

const bytesOf = (json: unknown) => Buffer.byteLength(JSON.stringify(json))

/** Checks that `cut` is `whole` except for arrays that lost their ends; returns how many elements of how many each of those kept. */
const cuts = (whole: unknown, cut: unknown): ReadonlyArray<readonly [number, number]> => {
  if (Array.isArray(whole) && Array.isArray(cut)) {
    const kept = cut.flatMap((element, index) => cuts(whole[index], element))
    return cut.length === whole.length ? kept : [...kept, [cut.length, whole.length]]
  }
  if (typeof whole === "object" && whole !== null && typeof cut === "object" && cut !== null) {
    expect(Object.keys(cut)).toEqual(Object.keys(whole))
    return Object.entries(whole).flatMap(([key, member]) =>
      cuts(member, Object.entries(cut).find(([k]) => k === key)?.[1])
    )
  }
  expect(cut).toEqual(whole)
  return []
}

/** Without the characters that the tool replaces. */
const payloads = fc.jsonValue({ maxDepth: 4, stringUnit: "grapheme" }).map((json): unknown =>
  JSON.parse(JSON.stringify(json).replace(/[\u2028\u2029]/g, " "))
)
const lists = fc.array(payloads, { minLength: 1, maxLength: 60 }).map((results) => ({ results, more: [1, 2, 3] }))
const large = fc.oneof(payloads, lists)

it.prop(
  "tool result: it has at most `maxResultBytes`, because the end of one array is dropped, with a note of the count",
  [large, fc.integer({ min: 1, max: 2_000 })],
  ([payload, maxBytes]) => {
    const fitted = fitResult(payload, { maxResultBytes: maxBytes })
    const isObject = typeof payload === "object" && payload !== null && !Array.isArray(payload)
    const whole = isObject ? payload : { result: payload }
    if (bytesOf(whole) <= maxBytes) {
      expect(fitted).toEqual(Either.right(whole))
      return
    }
    if (Either.isLeft(fitted)) return
    const result = fitted.right
    expect(bytesOf(result)).toBeLessThanOrEqual(maxBytes)
    const expected = Object.hasOwn(whole, "note") ? { result: whole } : whole
    const found = cuts(expected, Struct.omit(result, "note"))
    expect(found).toHaveLength(1)
    const [[shown, all] = [0, 0]] = found
    expect(shown).toBeGreaterThan(0)
    expect(result["note"]).toContain(` ${shown} of ${all} elements `)
  },
  { fastCheck: { numRuns: 500 } }
)

it.prop("tool result: it keeps as many elements as fit", [lists, fc.nat()], ([payload, index]) => {
  const { more, results } = payload
  const withFirst = (count: number) => ({
    note: `The result is too long: ${count} of ${results.length} elements of results are shown. ` +
      "A narrower term finds fewer.",
    ...payload,
    results: results.slice(0, count)
  })
  const count = 1 + index % results.length
  fc.pre(bytesOf(results) >= bytesOf(more) && bytesOf(withFirst(count + 1)) <= bytesOf(payload))
  for (const maxResultBytes of [bytesOf(withFirst(count)), bytesOf(withFirst(count + 1)) - 1]) {
    expect(fitResult(payload, { maxResultBytes })).toEqual(Either.right(withFirst(count)))
  }
}, { fastCheck: { numRuns: 500 } })

it.each([[undefined, null], [null, null], [5, 5], ["oats", "oats"], [[], []]])(
  "tool result: a payload that is not an object is returned under `result`: %j",
  (payload, result) => expect(fitResult(payload)).toEqual(Either.right({ result }))
)

it("tool result: it is plain JSON, even if a schema has made dates and undefined fields", () => {
  const results = [{ name: "oats", updated: new Date(0), brand: undefined }]
  expect(Either.getOrThrow(fitResult({ results })))
    .toStrictEqual({ results: [{ name: "oats", updated: "1970-01-01T00:00:00.000Z" }] })
})

it.each<readonly [string, payload: object, sent: object]>([
  ["a line separator", { name: "oats\u2028rolled" }, { name: "oats\nrolled" }],
  ["a line separator in the name of a field", { "rolled\u2028oats": 1 }, { "rolled\noats": 1 }],
  ["a paragraph separator", { name: "oats\u2029rolled" }, { name: "oats\nrolled" }],
  ["half of a surrogate pair", { name: "oats \ud83e" }, { name: "oats \ufffd" }],
  ["a whole surrogate pair", { name: "oats \u{1f963}" }, { name: "oats \u{1f963}" }]
])("tool result: agent kits can send it: %s", (_, food, sent) => {
  expect(fitResult({ results: [food] })).toEqual(Either.right({ results: [sent] }))
})

it("tool result: if it is cut, a payload with its own `note` is returned under `result`", () => {
  const payload = { note: "per 100 g", results: Array(500).fill("oats") }
  const result = Either.getOrThrow(fitResult(payload, { maxResultBytes: 1_024 }))
  expect(result).toMatchObject({ note: expect.stringContaining("of 500"), result: { note: "per 100 g" } })
})

it("tool result: if not even one element fits, the tool fails with the limit in the message", () => {
  const tooLong = { results: ["x".repeat(200)], names: ["y".repeat(200)] }
  const message =
    "The result has more than 300 bytes, and cutting an array doesn't make it fit. Search with a narrower term. " +
    "If that doesn't help, whoever set up this tool can allow larger results."
  expect(fitResult(tooLong, { maxResultBytes: 300 })).toEqual(Either.left(message))
})

it("tool result: a payload that is nested too deeply for JSON.stringify is a failure", () => {
  const payload: unknown = JSON.parse("[".repeat(200_000) + "]".repeat(200_000))
  for (const fields of [[], ["name"]]) {
    expect(fitResult(payload, { fields })).toEqual(
      Either.left("The result can't be written as JSON. Search with another term.")
    )
  }
})

const oats = { name: "oats", kcal: 380, nutrients: [{ name: "iron", amount: 4 }], origin: { name: "a mill" } }
const picked = { name: "oats", kcal: 380 }
const fields = ["kcal", "name"]

it.each([
  ["foods in a field", { total: 1, results: [oats] }, { total: 1, results: [picked] }],
  ["foods that are the whole payload", [oats], { result: [picked] }],
  ["foods in an object", { data: { page: 2, foods: [oats] } }, { data: { page: 2, foods: [picked] } }],
  ["foods in arrays of arrays", { rows: [[oats], [oats, oats]] }, { rows: [[picked], [picked, picked]] }],
  ["foods in groups", { groups: [{ title: "A", foods: [oats] }] }, { groups: [{ foods: [picked] }] }],
  ["foods in wrappers", { hits: [{ score: 0.9, food: oats }] }, { hits: [{ food: picked }] }],
  ["foods that lack one of the fields", { results: [{ name: "x", id: 1 }] }, { results: [{ name: "x" }] }],
  ["foods that lack all of the fields", { results: [{ id: 1 }] }, { results: [{}] }],
  ["strings in an array", { tags: ["a", "b"] }, { tags: ["a", "b"] }]
])(
  "tool result: `fields` picks the given fields: %s",
  (_, payload, result) => expect(fitResult(payload, { fields })).toEqual(Either.right(result))
)

it("tool result: `fields` keeps the whole value of a field", () => {
  expect(fitResult({ results: [oats] }, { fields: ["nutrients"] }))
    .toEqual(Either.right({ results: [{ nutrients: oats.nutrients }] }))
})

it("tool result: `fields` is applied before the result is cut", () => {
  const results = Array.from({ length: 100 }, () => ({ ...oats, text: "x".repeat(1_000) }))
  expect(fitResult({ results }, { fields })).toEqual(Either.right({ results: results.map(() => picked) }))
})

it("tool result: an empty `fields` keeps all fields", () =>
  expect(fitResult({ results: [oats] }, { fields: [] })).toEqual(Either.right({ results: [oats] })))
