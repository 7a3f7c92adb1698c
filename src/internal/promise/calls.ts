import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type { NutritionAdvisor } from "../../NutritionAdvisor.js"
import { BadRequest, isNutritionAdvisorError } from "../../NutritionAdvisorError.js"
import type { CallLimits } from "../../promise/Client.js"
import { abortedError, closedError, timeoutError } from "../errors/transportErrors.js"
import type { DataOperation } from "../request/build.js"
import { hasMethod } from "../runtime/hasMethod.js"
import { schedulerOfCaller } from "./callerContext.js"
import { asConfigurationError } from "./configError.js"
import { continueOver, forkOver } from "./overServices.js"
import * as PendingCalls from "./pendingCalls.js"

/** `Number` returns NaN for a missing environment variable. Effect would convert it to zero, and every call would time out at once. */
const isDuration = (value: unknown) => Option.isSome(Duration.decodeUnknown(value)) && !Number.isNaN(value)

const limit = <A, R>(
  call: Effect.Effect<A, unknown, R>,
  operation: DataOperation,
  timeout: CallLimits["timeout"]
): Effect.Effect<A, unknown, R> => {
  if (Predicate.isNullable(timeout)) return call
  if (!isDuration(timeout)) return new BadRequest({ operation, detail: "the timeout is not a duration" })
  return Effect.timeoutFail(call, { duration: timeout, onTimeout: () => timeoutError(operation) })
}

/** Some programs pass the AbortController itself, and the signals of old polyfills have only `onabort`. */
const checkSignal = (signal: PendingCalls.Signal, operation: DataOperation) => {
  if (Predicate.isNullable(signal) || hasMethod(signal, "addEventListener")) return
  throw new BadRequest({ operation, detail: "the signal is not an AbortSignal" })
}

/**
 * Keeps the result of a call out of its fiber. Effect holds all fibers in a Set, so V8 frees them late, together with everything that they
 * refer to. The result would be the largest part of that.
 */
const detachResult = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const kept: { result?: A } = {}
  const call = Effect.map(effect, (result) => {
    kept.result = result
  })
  return { call, result: () => kept.result as A }
}

/** Starts a call in a new fiber. The timeout includes the time to build the services. */
type Fork = <A>(
  call: Effect.Effect<A, unknown, NutritionAdvisor>,
  operation: DataOperation,
  timeout: CallLimits["timeout"]
) => Fiber.RuntimeFiber<A, unknown>

const forkLimited = (built: Runtime.Runtime<NutritionAdvisor>): Fork => {
  const fork = forkOver(built)
  return (call, operation, timeout) => fork(limit(call, operation, timeout))
}

/** Builds the services of a client, which stay open until its scope is closed. */
export type BuildServices = Effect.Effect<Context.Context<NutritionAdvisor>, unknown, Scope.Scope>

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
    onBuilt(forkLimited(built))
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

  return (call, operation, timeout) => {
    const afterBuild = Effect.flatMap(wait, (built) => continueOver(built, call))
    return Effect.runFork(limit(afterBuild, operation, timeout), {
      scheduler: schedulerOfCaller()
    })
  }
}

/** The calls of one client, over services that the first of them builds. */
export const make = (buildServices: BuildServices) => {
  const scope = Effect.runSync(Scope.make())
  // Replaced once the services are built. The first function would keep alive what they were built from: 6 kB in each client.
  let fork = forkAfter(buildServices, scope, (forkOverServices) => {
    fork = forkOverServices
  })
  const pending = PendingCalls.make()
  let closing: Promise<void> | undefined

  const isOver = (signal: PendingCalls.Signal) => signal?.aborted === true || closing !== undefined

  const interruptionOf = (operation: DataOperation, signal: PendingCalls.Signal): unknown => {
    if (signal?.aborted !== true) return closing === undefined ? abortedError(operation) : closedError(operation)
    // The signals of old AbortController packages have no reason.
    const { reason = new DOMException("This operation was aborted", "AbortError") } = signal
    return reason
  }

  const errorOf = (cause: Cause.Cause<unknown>, operation: DataOperation, signal: PendingCalls.Signal): unknown =>
    Cause.isInterruptedOnly(cause)
      ? interruptionOf(operation, signal)
      : asConfigurationError(Cause.originalError(Cause.squash(cause)))

  const run = async <A>(
    operation: DataOperation,
    { signal, timeout }: CallLimits,
    makeEffect: () => Effect.Effect<A, unknown, NutritionAdvisor>
  ): Promise<A> => {
    if (isOver(signal)) throw interruptionOf(operation, signal)
    checkSignal(signal, operation)
    const { call, result } = detachResult(makeEffect())
    const fiber = fork(call, operation, timeout)
    const leave = pending.add(fiber, signal)
    // What the call has run so far may have aborted the signal or closed the client.
    if (isOver(signal)) fiber.unsafeInterruptAsFork(FiberId.none)
    const exit = await new Promise<Exit.Exit<void, unknown>>((resolve) => fiber.addObserver(resolve))
    leave()
    if (Exit.isSuccess(exit)) return result()
    const error = errorOf(exit.cause, operation, signal)
    // The stack starts at the caller. `message` becomes an own property, because a structured clone drops inherited ones.
    if (isNutritionAdvisorError(error)) Error.captureStackTrace(Object.assign(error, { message: error.message }), run)
    throw error
  }

  const close = () =>
    closing ??= Effect.runPromise(Effect.zipRight(pending.interruptAll, Scope.close(scope, Exit.void)))

  return { run, close }
}
