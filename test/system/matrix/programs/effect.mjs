/** The same steps with Effect, over any layer of the service. */
import { Effect, Layer, ManagedRuntime } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { steps } from "./steps.mjs"

/** @param runPromise runs an effect that needs NutritionAdvisor */
export const useAllWith = (runPromise, simulator) =>
  steps({
    isTransient: NutritionAdvisorError.isTransient,
    search: async (term, { signal } = {}) => {
      const result = await runPromise(Effect.either(NutritionAdvisor.search(term)), { signal })
      if (result._tag === "Left") throw result.left
      return result.right
    },
    simulator
  })

export const useAll = async (layer) => {
  const runtime = ManagedRuntime.make(layer)
  await useAllWith(runtime.runPromise)
  await runtime.dispose()
  console.log("done")
}

export { Layer, NutritionAdvisor }
