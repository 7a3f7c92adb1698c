import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type { NutritionAdvisor } from "../../NutritionAdvisor.js"
import { isNutritionAdvisorError, type Operation, TransportError } from "../../NutritionAdvisorError.js"
import { onAbort } from "./signal.js"

type Signal = AbortSignal | null | undefined

const aborted = (operation: Operation) => new TransportError({ operation, reason: "Aborted" })

const reasonOf = (cause: Cause.Cause<unknown>, operation: Operation, signal: Signal): unknown => {
  if (!Cause.isInterruptedOnly(cause)) return Cause.originalError(Cause.squash(cause))
  return signal?.aborted === true ? signal.reason : aborted(operation)
}

/** The calls of one client, over a layer that the first of them builds. */
export const make = (layer: Layer.Layer<NutritionAdvisor, unknown>) => {
  const runtime = ManagedRuntime.make(layer)
  /** One that has ended refers to nothing: a Set may hold deleted entries for long. */
  const calls = new Set<{ fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined }>()
  let closing: Promise<void> | undefined

  const run = async <A>(operation: Operation, signal: Signal, effect: Effect.Effect<A, unknown, NutritionAdvisor>) => {
    if (signal?.aborted === true) throw signal.reason
    if (closing !== undefined) throw aborted(operation)
    const fiber = runtime.runFork(effect)
    const call: { fiber: typeof fiber | undefined } = { fiber }
    const forget = signal && onAbort(signal, () => fiber.unsafeInterruptAsFork(FiberId.none))
    calls.add(call)
    const exit = await new Promise<Exit.Exit<A, unknown>>((resolve) => fiber.addObserver(resolve))
    call.fiber = undefined
    calls.delete(call)
    forget?.()
    if (Exit.isSuccess(exit)) return exit.value
    const error = reasonOf(exit.cause, operation, signal)
    // Its stack names who called, and nothing of the runtime.
    if (isNutritionAdvisorError(error)) Error.captureStackTrace(error, run)
    throw error
  }

  const end = Effect.suspend(() => Fiber.interruptAll([...calls].flatMap(({ fiber }) => fiber ?? [])))

  return { run, close: () => closing ??= Effect.runPromise(Effect.zipRight(end, runtime.disposeEffect)) }
}
