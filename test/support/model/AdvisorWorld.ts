import { Cause, Context, Effect, Exit, type Fiber, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { VirtualRuntime } from "./VirtualRuntime.js"

/** The payload, the error or the defect of a fiber, "interrupted", or "waits" if it has not ended. */
export const outcomeOf = (fiber: Fiber.RuntimeFiber<unknown, unknown>): unknown => {
  const exit = fiber.unsafePoll()
  if (exit === null) return "waits"
  if (Exit.isSuccess(exit)) return exit.value
  return Exit.isInterrupted(exit) ? "interrupted" : Cause.squash(exit.cause)
}

/**
 * A NutritionAdvisor and its callers in virtual time, which is fast enough for thousands of callers and for hours. The layer is built in
 * an uninterruptible region, as inside `acquireRelease`, and must close all the same.
 */
export class AdvisorWorld extends VirtualRuntime {
  readonly advisor: NutritionAdvisor.Service

  constructor(
    layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown>,
    ...settings: ConstructorParameters<typeof VirtualRuntime>
  ) {
    super(...settings)
    const context = this.build(Effect.uninterruptible(Layer.build(layer)))
    this.advisor = Context.get(context, NutritionAdvisor.NutritionAdvisor)
  }

  search(term: string, options?: NutritionAdvisor.SearchOptions) {
    return this.run(this.advisor.search(term, options))
  }
}
