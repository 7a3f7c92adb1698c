/** The same steps with Effect, over any layer of the service. */
import { Effect, Layer, ManagedRuntime } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { steps } from "./steps.mjs"

export const useAll = async (layer) => {
  const runtime = ManagedRuntime.make(layer)
  const search = async (term, { signal } = {}) => {
    const result = await runtime.runPromise(Effect.either(NutritionAdvisor.search(term)), { signal })
    if (result._tag === "Left") throw result.left
    return result.right
  }
  await steps({ isTransient: NutritionAdvisorError.isTransient, search })
  await runtime.dispose()
  console.log("done")
}

export { Layer, NutritionAdvisor }
