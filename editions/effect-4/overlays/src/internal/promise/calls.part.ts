const forkOver = (built: Context.Context<NutritionAdvisor>) => Effect.runForkWith(built)
