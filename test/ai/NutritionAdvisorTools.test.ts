import { Tool } from "@effect/ai"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, FastCheck as fc, Schema } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTools } from "effect-nutrition-advisor/ai"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { fit } from "../../src/internal/ai/fit.js"
import { test } from "../doubles/arranged.js"

const bytesOf = (json: unknown) => Buffer.byteLength(JSON.stringify(json))

const handleOver = <A, I>(
  search: Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError>,
  options: NutritionAdvisorTools.Options<A, I> = {}
) =>
  Effect.flatMap(NutritionAdvisorTools.toolkit, ({ handle }) => handle("search_foods", { term: "oats" })).pipe(
    Effect.provide(NutritionAdvisorTools.layer(options)),
    Effect.provide(NutritionAdvisorTest.layer({ search: () => search }))
  )

const handle = <A, I>(payload: unknown, options?: NutritionAdvisorTools.Options<A, I>) =>
  handleOver(Effect.succeed(payload), options)

const failing = (error: NutritionAdvisorError.NutritionAdvisorError) => handleOver(Effect.fail(error))

const foods = (count: number, size = 100) =>
  Array.from({ length: count }, (_, index) => ({ name: `food ${index}`, text: "é".repeat(size / 2) }))

describe("a result", () => {
  test("is the payload where it fits", function*() {
    const payload = { results: foods(3), total: 3 }
    const { encodedResult, isFailure } = yield* handle(payload)
    expect({ encodedResult, isFailure }).toEqual({ encodedResult: payload, isFailure: false })
  })

  test("is cut to 32 KiB where no other limit is given", function*() {
    const { encodedResult } = yield* handle({ results: foods(9_000) })
    expect(bytesOf(encodedResult)).toBeLessThanOrEqual(32 * 1024)
    expect(bytesOf(encodedResult)).toBeGreaterThan(31 * 1024)
  })

  test("that has a note of its own keeps it, under `result`", function*() {
    const { encodedResult } = yield* handle({ note: "per 100 g", results: foods(500) }, { maxResultBytes: 4096 })
    expect(encodedResult).toMatchObject({ note: expect.stringContaining("of 500"), result: { note: "per 100 g" } })
  })

  test.each([{ count: 3, letters: 60 }, { count: 300, letters: 3 }, { count: 300, letters: 60 }])(
    "holds the note of the options in at most 4096 bytes: $letters letters beside $count foods",
    function*({ count, letters }) {
      const note = "n".repeat(letters)
      const { encodedResult } = yield* handle({ results: foods(count) }, { maxResultBytes: 4096, note })
      expect(bytesOf(encodedResult)).toBeLessThanOrEqual(4096)
      expect(encodedResult).toMatchObject({
        note: count === 3 ? note : expect.stringMatching(new RegExp(`^${note} The answer is too long: \\d+ of 300 `))
      })
    }
  )

  test("that cutting can't help is a failure that says so", function*() {
    const { encodedResult, isFailure } = yield* handle({ text: "x".repeat(5_000) }, { maxResultBytes: 4096 })
    expect(isFailure).toBe(true)
    expect(encodedResult).toMatch(/^The answer has more than 4096 bytes.* narrower term\.$/)
  })

  test("is what the user's schema takes from the payload, decoded, before it is cut", function*() {
    const schema = Schema.Struct({ results: Schema.Array(Schema.Struct({ name: Schema.String })) })
    const { encodedResult } = yield* handle({ results: foods(300, 1_000) }, { schema })
    expect(encodedResult).toEqual({ results: foods(300).map(({ name }) => ({ name })) })
  })

  test("is JSON also where the user's schema makes what is none", function*() {
    const payload = { at: "2026-11-25T00:00:00.000Z" }
    const { encodedResult } = yield* handle(payload, { schema: Schema.Struct({ at: Schema.Date }) })
    expect(encodedResult).toEqual(payload)
  })

  test("is a failure with the error's sentence where the schema refuses the payload", function*() {
    const { encodedResult, isFailure } = yield* handle({ results: "none" }, {
      schema: Schema.Struct({ results: Schema.Array(Schema.Unknown) })
    })
    expect(isFailure).toBe(true)
    expect(encodedResult).toMatch(/^The search was answered with JSON of another shape/)
  })

  test.each([["a big integer", 1n], ["a circle", Object.assign([], { 0: [] })]])(
    "is a failure where a schema makes of it what JSON can't hold: %s",
    function*([_, made]) {
      if (Array.isArray(made)) made[0] = made
      const { isFailure, result } = yield* handle({}, {
        schema: Schema.transform(Schema.Unknown, Schema.Any, { decode: () => made, encode: () => ({}) })
      })
      expect({ isFailure, result }).toEqual({ isFailure: true, result: "The answer can't be written as JSON." })
    }
  )
})

describe("a failed search", () => {
  const errors: ReadonlyArray<NutritionAdvisorError.NutritionAdvisorError> = [
    new NutritionAdvisorError.ServerError({ operation: "search", status: 503, retryAfter: 30 }),
    new NutritionAdvisorError.Forbidden({ operation: "search", status: 403, reason: "RejectedAgain" }),
    new NutritionAdvisorError.TransportError({ operation: "token", reason: "Timeout" }),
    new NutritionAdvisorError.LicenseKeyUnavailable({})
  ]

  test.each(errors.map((error) => [error._tag, error] as const))(
    "is a result marked as a failure, with the sentence of %s as its text",
    function*([_, error]) {
      const { encodedResult, isFailure } = yield* failing(error)
      expect({ encodedResult, isFailure }).toEqual({ encodedResult: error.message, isFailure: true })
    }
  )

  test("tells the model what it can correct in its search", function*() {
    const error = new NutritionAdvisorError.BadRequest({ operation: "search", detail: "the term is blank" })
    expect(yield* failing(error)).toMatchObject({ encodedResult: error.message })
  })
})

describe("the tool", () => {
  it("is read-only and idempotent for whoever reads its annotations", () => {
    const { annotations, name } = NutritionAdvisorTools.SearchFoods
    expect(name).toBe("search_foods")
    expect(Context.get(annotations, Tool.Readonly)).toBe(true)
    expect(Context.get(annotations, Tool.Idempotent)).toBe(true)
    expect(Context.get(annotations, Tool.Destructive)).toBe(false)
  })
})

const arrays = (value: unknown): ReadonlyArray<ReadonlyArray<unknown>> =>
  typeof value !== "object" || value === null
    ? []
    : [...(Array.isArray(value) ? [value] : []), ...Object.values(value).flatMap(arrays)]

const withoutNote = (result: Readonly<Record<string, unknown>>) => {
  const { note: _, ...rest } = result
  return rest
}

/** Whether `cut` is `whole` but for one array that lost its tail, and how many elements of how many it kept. */
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

describe("the cutting of a payload", () => {
  const payloads = fc.jsonValue({ maxDepth: 4 }).map((json): unknown => JSON.parse(JSON.stringify(json)))
  const lists = fc.array(payloads, { minLength: 1, maxLength: 60 }).map((results) => ({ results, more: [1, 2, 3] }))
  const large = fc.oneof(payloads, lists)

  it.prop(
    "gives JSON of at most so many bytes, from which nothing is missing but the tail of one array that a note counts",
    [
      large,
      fc.integer({ min: 1, max: 2_000 })
    ],
    ([payload, maxBytes]) => {
      const result = fit(payload, maxBytes)
      const isObject = typeof payload === "object" && payload !== null && !Array.isArray(payload)
      const whole = isObject ? payload : { result: payload }
      if (bytesOf(whole) <= maxBytes) {
        expect(result).toEqual(whole)
        return
      }
      if (typeof result === "string") return
      expect(bytesOf(result)).toBeLessThanOrEqual(maxBytes)
      const expected = Object.hasOwn(whole, "note") ? { result: whole } : whole
      const found = cuts(expected, withoutNote(result))
      expect(found).toHaveLength(1)
      const [[shown, all] = [0, 0]] = found
      expect(shown).toBeGreaterThan(0)
      expect(result["note"]).toContain(` ${shown} of ${all} elements `)
    },
    { fastCheck: { numRuns: 500 } }
  )

  it.prop("shows as many elements as fit, and gives up only where not even one does", [
    lists,
    fc.integer({ min: 1, max: 2_000 })
  ], ([payload, maxBytes]) => {
    if (bytesOf(payload) <= maxBytes) return
    const result = fit(payload, maxBytes)
    const withMany = (count: number) => ({
      note: `The answer is too long: ${count} of ${payload.results.length} elements of results are shown. ` +
        "A narrower term finds fewer.",
      ...payload,
      results: payload.results.slice(0, count)
    })
    const largest = arrays(payload).every((array) => bytesOf(array) <= bytesOf(payload.results))
    fc.pre(largest)
    const most = payload.results.findLastIndex((_, index) => bytesOf(withMany(index + 1)) <= maxBytes) + 1
    if (most > 0) expect(result).toEqual(withMany(most))
    else if (typeof result !== "string") expect(result["note"]).not.toContain(" elements of results are shown")
  }, { fastCheck: { numRuns: 500 } })

  it("gives up on a payload that is nested too deep to be written, as a failure", async () => {
    const payload: unknown = JSON.parse("[".repeat(200_000) + "]".repeat(200_000))
    const { isFailure } = await Effect.runPromise(handle(payload))
    expect(isFailure).toBe(true)
  })
})
