import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRefs from "effect/FiberRefs"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Runtime from "effect/Runtime"
import type { NutritionAdvisor } from "../../NutritionAdvisor.js"
import { isNutritionAdvisorError, type Operation, TransportError } from "../../NutritionAdvisorError.js"

type Signal = AbortSignal | null | undefined

type Call<A> = Effect.Effect<A, unknown, NutritionAdvisor>

const aborted = (operation: Operation) => new TransportError({ operation, reason: "Aborted" })

const reasonOf = (cause: Cause.Cause<unknown>, operation: Operation, signal: Signal): unknown => {
  if (!Cause.isInterruptedOnly(cause)) return Cause.originalError(Cause.squash(cause))
  return signal?.aborted === true ? signal.reason : aborted(operation)
}

/** Gives each fiber the FiberRefs of the layer as they are: the copy that `runFork` makes of them costs a tenth of a search. */
const forkOver = (built: Runtime.Runtime<NutritionAdvisor>) => {
  const bare = Runtime.updateFiberRefs(built, FiberRefs.empty)
  const options = { updateRefs: () => built.fiberRefs }
  return <A>(call: Call<A>) => Runtime.runFork(bare, call, options)
}

/** The calls of one client, over a layer that the first of them builds. */
export const make = (layer: Layer.Layer<NutritionAdvisor, unknown>) => {
  const runtime = ManagedRuntime.make(layer)
  const fibers = new Map<Signal, Set<Fiber.RuntimeFiber<unknown, unknown>>>()
  let closing: Promise<void> | undefined
  let fork = <A>(call: Call<A>): Fiber.RuntimeFiber<A, unknown> =>
    runtime.runFork(Effect.flatMap(Effect.runtime<NutritionAdvisor>(), (built) => {
      fork = forkOver(built)
      return call
    }))

  /** The calls on a signal share this listener, since Node warns of an eleventh. */
  function interrupt(this: AbortSignal) {
    for (const fiber of fibers.get(this) ?? []) fiber.unsafeInterruptAsFork(FiberId.none)
  }

  const run = async <A>(operation: Operation, signal: Signal, call: Call<A>) => {
    if (signal?.aborted === true) throw signal.reason
    if (closing !== undefined) throw aborted(operation)
    const fiber = fork(call)
    const beside = fibers.get(signal) ?? new Set()
    fibers.set(signal, beside.add(fiber))
    signal?.addEventListener("abort", interrupt)
    const exit = await new Promise<Exit.Exit<A, unknown>>((resolve) => fiber.addObserver(resolve))
    beside.delete(fiber)
    if (signal && beside.size === 0) {
      fibers.delete(signal)
      signal.removeEventListener("abort", interrupt)
    }
    if (Exit.isSuccess(exit)) return exit.value
    const error = reasonOf(exit.cause, operation, signal)
    // Its stack names who called, and nothing of the runtime.
    if (isNutritionAdvisorError(error)) Error.captureStackTrace(error, run)
    throw error
  }

  const end = Effect.suspend(() => Fiber.interruptAll([...fibers.values()].flatMap((calls) => [...calls])))

  return { run, close: () => closing ??= Effect.runPromise(Effect.zipRight(end, runtime.disposeEffect)) }
}
