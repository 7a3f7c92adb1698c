/** No FiberRefs are needed: in Effect 4, they are part of the context. */
const runnerOver = (services: Context.Context<NutritionAdvisor>) => ({
  fork: <A>(call: Call<A>) => Effect.runForkWith(services)(call),
  run: <A>(call: Call<A>) => Effect.provide(call, services)
})
