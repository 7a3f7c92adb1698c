import type { RateLimiter } from "@effect/experimental/RateLimiter"
import { describe, expectTypeOf, it } from "@effect/vitest"
import type { Layer } from "effect"
import type { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import type { Throttle } from "effect-nutrition-advisor"

describe("Throttle.layerShared", () => {
  it("needs the RateLimiter of @effect/experimental and no other", () => {
    type Needed = Exclude<
      Layer.Layer.Context<ReturnType<typeof Throttle.layerShared>>,
      NutritionAdvisor.NutritionAdvisor
    >
    expectTypeOf<Exclude<Needed, RateLimiter>>().toEqualTypeOf<never>()
    expectTypeOf<RateLimiter>().toExtend<Needed>()
    expectTypeOf<Layer.Layer.Error<ReturnType<typeof Throttle.layerShared>>>()
      .toEqualTypeOf<NutritionAdvisorError.ConfigurationError>()
  })
})
