import { describe, expectTypeOf, it } from "@effect/vitest"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { type } from "arktype"
import { type Effect, Schema } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError } from "effect-nutrition-advisor"
import * as v from "valibot"
import { z } from "zod"

type Found<A, R = NutritionAdvisor.NutritionAdvisor> = Effect.Effect<A, NutritionAdvisorError.NutritionAdvisorError, R>

interface Foods {
  results: Array<{ name: string; grams?: number | undefined }>
}

declare const service: NutritionAdvisor.Service

declare const handMade: StandardSchemaV1<string, { readonly total: number }>

/** The bodies are compiled and never run: what they prove is said by the compiler alone. */
const compiles = (_: () => unknown) => {}

describe("searchAs", () => {
  it("gives the output of a schema of zod, of valibot, of arktype and of one made by hand", () => {
    const ofZod = z.object({ results: z.array(z.object({ name: z.string(), grams: z.number().optional() })) })
    const ofValibot = v.object({ results: v.array(v.object({ name: v.string(), grams: v.optional(v.number()) })) })
    const ofArktype = type({ results: type({ name: "string", "grams?": "number | undefined" }).array() })
    compiles(() => {
      expectTypeOf(NutritionAdvisor.searchAs(ofZod)("oats")).toEqualTypeOf<Found<Foods>>()
      expectTypeOf(NutritionAdvisor.searchAs(ofValibot)("oats")).toEqualTypeOf<Found<Foods>>()
      expectTypeOf(NutritionAdvisor.searchAs(ofArktype)("oats")).toEqualTypeOf<Found<Foods>>()
      expectTypeOf(service.searchAs(ofZod)("oats")).toEqualTypeOf<Found<Foods, never>>()
      expectTypeOf(service.searchAs(handMade)("oats")).toEqualTypeOf<Found<{ readonly total: number }, never>>()
    })
  })

  it("gives what a transformation makes of the payload", () => {
    compiles(() => {
      expectTypeOf(service.searchAs(z.string().transform(Number))("oats")).toEqualTypeOf<Found<number, never>>()
      expectTypeOf(service.searchAs(Schema.NumberFromString)("oats")).toEqualTypeOf<Found<number, never>>()
    })
  })

  it("takes an Effect Schema with its requirements, also where it has ~standard", () => {
    const asked = Schema.Number as Schema.Schema<number, number, "Asked">
    compiles(() => {
      expectTypeOf(NutritionAdvisor.searchAs(asked)("oats"))
        .toEqualTypeOf<Found<number, "Asked" | NutritionAdvisor.NutritionAdvisor>>()
      expectTypeOf(service.searchAs(Schema.standardSchemaV1(Schema.NumberFromString))("oats"))
        .toEqualTypeOf<Found<number, never>>()
    })
  })

  it("keeps the output of a schema that is a type parameter", () => {
    compiles(() => {
      const ofAny = <S extends StandardSchemaV1>(schema: S): Found<StandardSchemaV1.InferOutput<S>, never> =>
        service.searchAs(schema)("oats")
      return ofAny
    })
  })

  it("refuses what is no schema", () => {
    // @ts-expect-error a validator without ~standard is no schema
    compiles(() => service.searchAs({ parse: (value: unknown) => value })("oats"))
  })
})
