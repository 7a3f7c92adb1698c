const forkOver = (built: Context.Context<NutritionAdvisor>): Fork => (call, operation, timeout) =>
  Effect.runForkWith(built)(limit(call, operation, timeout))
