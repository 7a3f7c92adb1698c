/** Starts the calls of a client. The first call builds the services of the client, and all calls wait for them. */
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type { NutritionAdvisor } from "../../NutritionAdvisor.js"
import { schedulerOfCaller } from "./callerContext.js"
import { continueOver, forkOver } from "./overServices.js"

/** Builds the services of a client, which stay open until its scope is closed. */
export type BuildServices = Effect.Effect<Context.Context<NutritionAdvisor>, unknown, Scope.Scope>

/** Adds the timeout of a call. It includes the time to build the services. */
export type WithCallTimeout = <A, R>(call: Effect.Effect<A, unknown, R>) => Effect.Effect<A, unknown, R>

type Fork = <A>(
  call: Effect.Effect<A, unknown, NutritionAdvisor>,
  withCallTimeout: WithCallTimeout
) => Fiber.RuntimeFiber<A, unknown>

const forkNow = (built: Runtime.Runtime<NutritionAdvisor>): Fork => {
  const fork = forkOver(built)
  return (call, withCallTimeout) => fork(withCallTimeout(call))
}

/**
 * Forks calls that wait for the services, and then continue in their order. The first call starts to build them in a fiber of the scope, so
 * that the others get them even if that call ends early. A ManagedRuntime would keep 9 kB alive in each client.
 */
const forkAfter = (buildServices: BuildServices, scope: Scope.Scope, onBuilt: (fork: Fork) => void): Fork => {
  // A fiber would resume its observers in the reverse order.
  const services = Deferred.unsafeMake<Runtime.Runtime<NutritionAdvisor>, unknown>(FiberId.none)
  let isStarted = false

  const build = Effect.gen(function*() {
    const built = yield* Effect.provide(Effect.runtime<NutritionAdvisor>(), yield* buildServices)
    onBuilt(forkNow(built))
    return built
  })

  const wait = Effect.suspend(() => {
    if (!isStarted) {
      isStarted = true
      // Not in the fiber of the first call, because the services would keep its scheduler.
      Effect.runFork(Effect.forkIn(Effect.intoDeferred(Scope.extend(build, scope), services), scope))
    }
    return Deferred.await(services)
  })

  return (call, withCallTimeout) => {
    const afterBuild = Effect.flatMap(wait, (built) => continueOver(built, call))
    return Effect.runFork(withCallTimeout(afterBuild), { scheduler: schedulerOfCaller() })
  }
}

export const make = (buildServices: BuildServices, scope: Scope.Scope): Fork => {
  // Replaced once the services are built. The first function would keep alive what they were built from: 6 kB in each client.
  let fork = forkAfter(buildServices, scope, (forkOverServices) => {
    fork = forkOverServices
  })
  return (call, withCallTimeout) => fork(call, withCallTimeout)
}
