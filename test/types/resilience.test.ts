import { describe, expectTypeOf, it } from "@effect/vitest"
import type { Duration, Effect, Layer, Scope } from "effect"
import type {
  NutritionAdvisor,
  NutritionAdvisorError,
  RequestRetry,
  SearchCache,
  Throttle
} from "effect-nutrition-advisor"

type Advisor = NutritionAdvisor.NutritionAdvisor
type Configuration = NutritionAdvisorError.ConfigurationError
type Around = Layer.Layer<Advisor, Configuration, Advisor>

describe("RequestRetry", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof RequestRetry>().toEqualTypeOf<"make" | "layer">()
  })

  it("is a layer that takes a NutritionAdvisor and gives one", () => {
    expectTypeOf<typeof RequestRetry.layer>().toEqualTypeOf<(options?: RequestRetry.Options) => Around>()
    expectTypeOf<typeof RequestRetry.make>()
      .toEqualTypeOf<
        (options?: RequestRetry.Options) => Effect.Effect<NutritionAdvisor.Service, Configuration, Advisor>
      >()
  })
})

describe("Throttle", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof Throttle>().toEqualTypeOf<"make" | "layer" | "layerShared">()
  })

  it("is a layer that takes a NutritionAdvisor and gives one", () => {
    expectTypeOf<typeof Throttle.layer>().toEqualTypeOf<(options?: Throttle.Options) => Around>()
    expectTypeOf<typeof Throttle.make>().toEqualTypeOf<
      (options?: Throttle.Options) => Effect.Effect<NutritionAdvisor.Service, Configuration, Advisor | Scope.Scope>
    >()
  })
})

describe("SearchCache", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof SearchCache>().toEqualTypeOf<"make" | "layer" | "layerCoalescing">()
  })

  it("is a layer that takes a NutritionAdvisor and gives one", () => {
    expectTypeOf<typeof SearchCache.layer>().toEqualTypeOf<(options: SearchCache.Options) => Around>()
    expectTypeOf<typeof SearchCache.layerCoalescing>().toEqualTypeOf<Layer.Layer<Advisor, never, Advisor>>()
  })

  it("asks for a timeToLive and nothing else", () => {
    expectTypeOf<SearchCache.Options>().toEqualTypeOf<{
      readonly timeToLive: Duration.DurationInput
      readonly maxBytes?: number | undefined
      readonly staleIfError?: Duration.DurationInput | undefined
    }>()
  })
})
