import { type Clock, Effect, Exit, Fiber, Scope } from "effect"
import { FiberCount, seeded } from "../doubles/runtime.js"
import { SteppedScheduler } from "./SteppedScheduler.js"
import { VirtualTime } from "./VirtualTime.js"

/** Runs effects in virtual time, with random numbers from a seed. It counts their fibers. Several can share their time and scheduler. */
export class VirtualRuntime {
  private readonly scope = Effect.runSync(Scope.make())
  private readonly count = new FiberCount()
  private readonly random: ReturnType<typeof seeded>["service"]

  constructor(
    seed = "a seed",
    private readonly scheduler = new SteppedScheduler(),
    readonly time = new VirtualTime(),
    private readonly clock: Clock.Clock = time.clock
  ) {
    this.random = seeded(seed).service
  }

  /** The number of fibers that have not ended. */
  get fibers() {
    return this.count.running
  }

  /** Runs an effect that must not wait for time. Its resources are released by `close`. */
  protected build<A, E>(effect: Effect.Effect<A, E, Scope.Scope>): A {
    return Effect.runSync(Fiber.join(this.run(Scope.extend(effect, this.scope))))
  }

  /** Starts an effect, and runs it until it waits for time, or for the given number of turns of the scheduler. */
  run<A, E>(effect: Effect.Effect<A, E>, turns?: number): Fiber.RuntimeFiber<A, E> {
    const counted = effect.pipe(this.count.counted, Effect.withRandom(this.random), Effect.withClock(this.clock))
    const fiber = this.scheduler.fork(counted)
    this.scheduler.runFibers(turns)
    return fiber
  }

  interrupt(fiber: Fiber.RuntimeFiber<unknown, unknown>) {
    fiber.unsafeInterruptAsFork(Fiber.id(fiber))
    this.scheduler.runFibers()
  }

  pass(millis: number) {
    for (const _ of this.time.passing(millis)) this.scheduler.runFibers()
  }

  close() {
    return this.run(Scope.close(this.scope, Exit.void))
  }
}
