import { Tool } from "@effect/ai"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Schema } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTools } from "effect-nutrition-advisor/ai"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { messageForModel } from "../../src/internal/ai/messageForModel.js"
import { test } from "../support/doubles/arranged.js"

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

const foods = (count: number, size = 100) =>
  Array.from({ length: count }, (_, index) => ({ name: `food ${index}`, text: "é".repeat(size / 2) }))

test("@effect/ai tool: a result that is cut has at most `maxResultBytes`, including its note", function*() {
  const { encodedResult } = yield* handle({ results: foods(300) }, { maxResultBytes: 4096, note: "n".repeat(60) })
  expect(bytesOf(encodedResult)).toBeLessThanOrEqual(4096)
  expect(encodedResult).toMatchObject({ note: expect.stringMatching(/^n{60} The result is too long: \d+ of 300 /) })
})

test("@effect/ai tool: the schema decodes the payload before it is cut", function*() {
  const schema = Schema.Struct({ results: Schema.Array(Schema.Struct({ name: Schema.String })) })
  const { encodedResult } = yield* handle({ results: foods(300, 1_000) }, { schema })
  expect(encodedResult).toEqual({ results: foods(300).map(({ name }) => ({ name })) })
})

test("@effect/ai tool: if the search fails, the tool fails with an explanation for the model", function*() {
  const error = new NutritionAdvisorError.ServerError({ operation: "search", status: 503, retryAfter: 30 })
  const { encodedResult, isFailure } = yield* handleOver(Effect.fail(error))
  expect({ encodedResult, isFailure }).toEqual({ encodedResult: messageForModel(error), isFailure: true })
})

it("@effect/ai tool: it is annotated as read-only and idempotent", () => {
  const { annotations, name } = NutritionAdvisorTools.SearchFoods
  expect(name).toBe("search_foods")
  expect(Context.get(annotations, Tool.Readonly)).toBe(true)
  expect(Context.get(annotations, Tool.Idempotent)).toBe(true)
  expect(Context.get(annotations, Tool.Destructive)).toBe(false)
})
