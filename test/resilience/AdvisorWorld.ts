import { Cause, Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { FiberCount, seeded } from "../support/doubles/runtime.js"
import { ShakenScheduler } from "../support/model/ShakenScheduler.js"
import { VirtualTime } from "../support/model/VirtualTime.js"

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
export class AdvisorWorld {
  readonly time = new VirtualTime()
  readonly advisor: NutritionAdvisor.Service
  private readonly scope = Effect.runSync(Scope.make())
  private readonly count = new FiberCount()
  private readonly random: ReturnType<typeof seeded>["service"]

  constructor(
    layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown>,
    seed = "a seed",
    private readonly scheduler = new ShakenScheduler(2_048)
  ) {
    this.random = seeded(seed).service
    const built = this.run(Effect.uninterruptible(Layer.buildWithScope(layer, this.scope)))
    const exit = built.unsafePoll()
    if (exit === null || Exit.isFailure(exit)) throw new Error("the layer was not built")
    this.advisor = Context.get(exit.value, NutritionAdvisor.NutritionAdvisor)
  }

  get now() {
    return this.time.now
  }

  /** The number of fibers that have not ended. */
  get fibers() {
    return this.count.running
  }

  /** Starts an effect, and runs it until it waits for time, or for the given number of turns of the scheduler. */
  run<A, E>(effect: Effect.Effect<A, E>, turns?: number): Fiber.RuntimeFiber<A, E> {
    const fiber = Effect.runFork(
      effect.pipe(
        this.count.of,
        Effect.withRandom(this.random),
        Effect.withClock(this.time.clock)
      ),
      { scheduler: this.scheduler }
    )
    this.scheduler.settle(turns)
    return fiber
  }

  search(term: string, options?: NutritionAdvisor.SearchOptions) {
    return this.run(this.advisor.search(term, options))
  }

  interrupt(fiber: Fiber.RuntimeFiber<unknown, unknown>) {
    fiber.unsafeInterruptAsFork(Fiber.id(fiber))
    this.scheduler.settle()
  }

  pass(millis: number) {
    this.time.pass(millis, this.scheduler.settle)
  }

  close() {
    return this.run(Scope.close(this.scope, Exit.void))
  }
}
