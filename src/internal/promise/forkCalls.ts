/** Starts the calls of a client. The first call builds the services of the client, and all calls wait for them. */
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type { NutritionAdvisor } from "../../NutritionAdvisor.js"
import { schedulerOfCaller } from "./callerContext.js"

/** Builds the services of a client, which stay open until its scope is closed. */
export type BuildServices = Effect.Effect<Context.Context<NutritionAdvisor>, unknown, Scope.Scope>

/** Adds the timeout of a call. It includes the time to build the services. */
export type WithCallTimeout = <A, R>(call: Effect.Effect<A, unknown, R>) => Effect.Effect<A, unknown, R>

type Call<A> = Effect.Effect<A, unknown, NutritionAdvisor>

type Fork = <A>(call: Call<A>, withCallTimeout: WithCallTimeout) => Fiber.RuntimeFiber<A, unknown>

/** Runs calls over the services, with the FiberRefs of their layers, such as the loggers. */
const runnerOver = (services: Runtime.Runtime<NutritionAdvisor>) => {
  /** The scheduler resumes the fiber in the context of its caller. */
  const refsOf = (fiberId: FiberId.Single) =>
    FiberRefs.updateAs(services.fiberRefs, {
      fiberId,
      fiberRef: FiberRef.currentScheduler,
      value: schedulerOfCaller(FiberRefs.getOrDefault(services.fiberRefs, FiberRef.currentScheduler))
    })
  const bare = Runtime.updateFiberRefs(services, FiberRefs.empty)
  return {
    /** Sets all FiberRefs in one step, because `runFork` would copy them one by one. */
    fork: <A>(call: Call<A>) => Runtime.runFork(bare, call, { updateRefs: (_, fiberId) => refsOf(fiberId) }),
    /**
     * Runs a call in the current fiber. `Effect.provide` of the runtime would also compare all FiberRefs before and after the call, and add
     * 5% to the memory that a new client allocates.
     */
    run: <A>(call: Call<A>) => Effect.zipRight(Effect.updateFiberRefs(refsOf), Effect.provide(call, services.context))
  }
}

type Runner = ReturnType<typeof runnerOver>

/**
 * Forks calls that wait for the services, and then continue in their order. The first call starts to build them in a fiber of the scope, so
 * that the others get them even if that call ends early. A ManagedRuntime would keep 9 kB alive in each client.
 */
const forkAfter = (buildServices: BuildServices, scope: Scope.Scope, onBuilt: (runner: Runner) => void): Fork => {
  // A fiber would resume its observers in the reverse order.
  const built = Deferred.unsafeMake<Runner, unknown>(FiberId.none)
  let isStarted = false

  const build = Effect.gen(function*() {
    const runner = runnerOver(yield* Effect.provide(Effect.runtime<NutritionAdvisor>(), yield* buildServices))
    onBuilt(runner)
    return runner
  })

  const wait = Effect.suspend(() => {
    if (!isStarted) {
      isStarted = true
      // This doesn't run in the fiber of the first call, because the services would keep its scheduler.
      Effect.runFork(Effect.forkIn(Effect.intoDeferred(Scope.extend(build, scope), built), scope))
    }
    return Deferred.await(built)
  })

  return (call, withCallTimeout) =>
    Effect.runFork(
      withCallTimeout(Effect.flatMap(wait, ({ run }) => run(call))),
      { scheduler: schedulerOfCaller() }
    )
}

export const make = (buildServices: BuildServices, scope: Scope.Scope): Fork => {
  // This is replaced once the services are built. The first function would keep alive what they were built from: 6 kB in each client.
  let fork = forkAfter(buildServices, scope, (runner) => {
    fork = (call, withCallTimeout) => runner.fork(withCallTimeout(call))
  })
  return (call, withCallTimeout) => fork(call, withCallTimeout)
}
