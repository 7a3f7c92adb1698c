import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRefs from "effect/FiberRefs"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Runtime from "effect/Runtime"
import type { NutritionAdvisor } from "../../NutritionAdvisor.js"
import { isNutritionAdvisorError, type Operation, TransportError } from "../../NutritionAdvisorError.js"

type Signal = AbortSignal | null | undefined

/** The fiber of a call; nothing once it has ended: fibers that an old Set refers to are collected late, which costs a search 6 %. */
type Call = Array<Fiber.RuntimeFiber<unknown, unknown>>

const aborted = (operation: Operation) => new TransportError({ operation, reason: "Aborted" })

const reasonOf = (cause: Cause.Cause<unknown>, operation: Operation, signal: Signal): unknown => {
  if (!Cause.isInterruptedOnly(cause)) return Cause.originalError(Cause.squash(cause))
  return signal?.aborted === true ? signal.reason : aborted(operation)
}

/** Gives each fiber the FiberRefs of the layer as they are: `runFork` copies them for each. */
const forkOver = <R>(built: Runtime.Runtime<R>) => {
  const bare = Runtime.updateFiberRefs(built, FiberRefs.empty)
  return <A>(effect: Effect.Effect<A, unknown, R>) =>
    Runtime.runFork(bare, effect, { updateRefs: () => built.fiberRefs })
}

/** The calls of one client, over a layer that the first of them builds. */
export const make = (layer: Layer.Layer<NutritionAdvisor, unknown>) => {
  const runtime = ManagedRuntime.make(layer)
  const calls = new Map<Signal, Set<Call>>()
  let closing: Promise<void> | undefined

  let fork = <A>(effect: Effect.Effect<A, unknown, NutritionAdvisor>): Fiber.RuntimeFiber<A, unknown> =>
    runtime.runFork(Effect.flatMap(Effect.runtime<NutritionAdvisor>(), (built) => {
      fork = forkOver(built)
      return effect
    }))

  /** All calls on a signal share this listener, since Node warns of an eleventh. */
  function interrupt(this: AbortSignal) {
    for (const [fiber] of calls.get(this) ?? []) fiber?.unsafeInterruptAsFork(FiberId.none)
  }

  const run = async <A>(operation: Operation, signal: Signal, effect: Effect.Effect<A, unknown, NutritionAdvisor>) => {
    if (signal?.aborted === true) throw signal.reason
    if (closing !== undefined) throw aborted(operation)
    const fiber = fork(effect)
    const call: Call = [fiber]
    const beside = calls.get(signal) ?? new Set()
    calls.set(signal, beside.add(call))
    signal?.addEventListener("abort", interrupt)
    const exit = await new Promise<Exit.Exit<A, unknown>>((resolve) => fiber.addObserver(resolve))
    call.pop()
    beside.delete(call)
    if (signal && beside.size === 0) {
      calls.delete(signal)
      signal.removeEventListener("abort", interrupt)
    }
    if (exit._tag === "Success") return exit.value
    const error = reasonOf(exit.cause, operation, signal)
    // Its stack names who called, and nothing of the runtime. Between threads it keeps only a message of its own.
    if (isNutritionAdvisorError(error)) Error.captureStackTrace(Object.assign(error, { message: error.message }), run)
    throw error
  }

  const end = Effect.suspend(() => Fiber.interruptAll([...calls.values()].flatMap((beside) => [...beside].flat())))

  return { run, close: () => closing ??= Effect.runPromise(Effect.zipRight(end, runtime.disposeEffect)) }
}
