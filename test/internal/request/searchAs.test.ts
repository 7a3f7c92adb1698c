import { describe, expect } from "@effect/vitest"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { searchAsOf } from "../../../src/internal/request/searchAs.js"
import { test } from "../../doubles/arranged.js"

const schemaError = new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 200, reason: "Schema" })

/** Decoding ends in this defect. */
const dying = (defect: unknown) =>
  Schema.transform(Schema.Unknown, Schema.Unknown, {
    strict: true,
    decode: (): unknown => {
      throw defect
    },
    encode: (value) => value
  })

const decoded = (schema: Schema.Schema<unknown>, payload: unknown = {}) =>
  Effect.exit(searchAsOf(() => Effect.succeed(payload))(schema)("oats"))

interface Nested {
  readonly inside?: Nested | undefined
}

const Nested: Schema.Schema<Nested> = Schema.suspend(() => Schema.Struct({ inside: Schema.optional(Nested) }))

describe("a search that is decoded by a layer or a double", () => {
  test("ends in UnexpectedResponse where the payload is of another shape", function*() {
    const exit = yield* Effect.exit(searchAsOf(() => Effect.succeed("text"))(Schema.Number)("oats"))
    expect(exit).toEqual(Exit.fail(schemaError))
  })

  test("ends in UnexpectedResponse where the payload is nested deeper than the stack", function*() {
    let payload: Nested = {}
    for (let depth = 0; depth < 100_000; depth++) payload = { inside: payload }
    const exit = yield* Effect.exit(searchAsOf(() => Effect.succeed(payload))(Nested)("oats"))
    expect(exit).toEqual(Exit.fail(schemaError))
  })

  test.each([new RangeError("Invalid array length"), new TypeError("not a function"), "a bug in a schema"])(
    "leaves any other defect of the schema as it is: %s",
    function*(defect) {
      const exit = yield* decoded(dying(defect))
      expect(Exit.isFailure(exit) ? Cause.dieOption(exit.cause) : Option.none()).toEqual(Option.some(defect))
    }
  )

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
