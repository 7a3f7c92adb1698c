import { expectTypeOf, it } from "@effect/vitest"
import type { NutritionAdvisor } from "effect-nutrition-advisor"
import type * as Environment from "../../src/internal/environment.js"

/** They hold more than one value. */
type WithoutVariable = "refresh" | "rejectedStatuses"

it("environment: every other option of the client has a variable", () => {
  expectTypeOf<keyof ReturnType<typeof Environment.sharedAdvisor>>()
    .toEqualTypeOf<Exclude<keyof NutritionAdvisor.SharedOptions, WithoutVariable>>()
})
