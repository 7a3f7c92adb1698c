const forkOver = (built: Context.Context<NutritionAdvisor>): Fork => (call, timed) =>
  Effect.runForkWith(built)(timed(call))

const overLayer = <A>(
  runtime: ManagedRuntime.ManagedRuntime<NutritionAdvisor, unknown>,
  callOver: (built: Context.Context<NutritionAdvisor>) => Effect.Effect<A, unknown, NutritionAdvisor>
) => Effect.flatMap(runtime.contextEffect, (built) => Effect.provide(callOver(built), built))
