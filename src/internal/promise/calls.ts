import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import type { NutritionAdvisor } from "../../NutritionAdvisor.js"
import { BadRequest, isNutritionAdvisorError } from "../../NutritionAdvisorError.js"
import type { CallLimits } from "../../promise/Client.js"
import { abortedError, closedError, timeoutError } from "../errors/transportErrors.js"
import { toMillis } from "../options/check.js"
import type { DataOperation } from "../request/build.js"
import { hasMethod } from "../runtime/hasMethod.js"
import { asConfigurationError } from "./configError.js"
import * as ForkCalls from "./forkCalls.js"
import * as PendingCalls from "./pendingCalls.js"

const withCallTimeout =
  (timeout: CallLimits["timeout"], operation: DataOperation): ForkCalls.WithCallTimeout => (call) => {
    if (Predicate.isNullable(timeout)) return call
    if (Number.isNaN(toMillis(timeout))) return new BadRequest({ operation, detail: "the timeout is not a duration" })
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

/** The calls of one client, over services that the first of them builds. */
export const make = (buildServices: ForkCalls.BuildServices) => {
  const scope = Effect.runSync(Scope.make())
  const fork = ForkCalls.make(buildServices, scope)
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
    const fiber = fork(call, withCallTimeout(timeout, operation))
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
