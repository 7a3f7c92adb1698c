import { describe, expect } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { searchAsOf } from "../../../src/internal/request/searchAs.js"
import { test } from "../../doubles/arranged.js"

interface Nested {
  readonly inside?: Nested | undefined
}

const Nested: Schema.Schema<Nested> = Schema.suspend(() => Schema.Struct({ inside: Schema.optional(Nested) }))

describe("a search that is decoded by a layer or a double", () => {
  test("ends in UnexpectedResponse where the payload is nested deeper than the stack", function*() {
    let payload: Nested = {}
    for (let depth = 0; depth < 100_000; depth++) payload = { inside: payload }
    expect(yield* Effect.flip(searchAsOf(() => Effect.succeed(payload))(Nested)("oats"))).toEqual(
      new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 200, reason: "Schema" })
    )
  })

  test("hands term and options to the search, and its failure to the caller", function*() {
    const error = new NutritionAdvisorError.BadRequest({ operation: "search", status: 400 })
    const asked: Array<unknown> = []
    const searchAs = searchAsOf((...args) => {
      asked.push(args)
      return Effect.fail(error)
    })
    expect(yield* Effect.flip(searchAs(Schema.Unknown)("oats", { headers: { a: "1" } }))).toBe(error)
    expect(asked).toEqual([["oats", { headers: { a: "1" } }]])
  })
})
