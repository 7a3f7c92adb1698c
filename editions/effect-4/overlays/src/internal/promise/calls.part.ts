const forkOver = (built: Context.Context<NutritionAdvisor>): Fork => (call, timed) =>
  Effect.runForkWith(built)(timed(call))
