import type * as Context from "effect/Context"

const forkOver = (built: Context.Context<NutritionAdvisor>) => Effect.runForkWith(built)
