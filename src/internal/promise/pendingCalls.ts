/** The pending calls of one client, in groups that share a signal. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type { CallLimits } from "../../promise/Client.js"

export type Signal = CallLimits["signal"]

type CallFiber = Fiber.RuntimeFiber<unknown, unknown>

interface Call {
  /** Undefined after the call has ended. Otherwise, V8 would free the fiber late, and searches would be slower. */
  fiber: CallFiber | undefined
}

/**
 * The calls with one signal. They share a listener, because Node warns if there are more than ten. The listener doesn't use `this`: a signal
 * in a Proxy and a signal of node-abort-controller don't set it.
 */
interface Group {
  readonly calls: Set<Call>
  readonly interrupt: () => void
}

export const make = () => {
  const groups = new Map<Signal, Group>()

  const groupOf = (signal: Signal): Group => {
    const known = groups.get(signal)
    if (known !== undefined) return known
    const calls = new Set<Call>()
    const interrupt = () => {
      for (const { fiber } of calls) fiber?.unsafeInterruptAsFork(FiberId.none)
    }
    const group = { calls, interrupt }
    groups.set(signal, group)
    signal?.addEventListener("abort", interrupt)
    return group
  }

  /** Adds a call, which its signal interrupts. Returns the function that removes it. */
  const add = (fiber: CallFiber, signal: Signal) => {
    const call: Call = { fiber }
    const { calls, interrupt } = groupOf(signal)
    calls.add(call)
    return () => {
      call.fiber = undefined
      calls.delete(call)
      if (!signal || calls.size > 0) return
      groups.delete(signal)
      signal.removeEventListener("abort", interrupt)
    }
  }

  const interruptAll = Effect.suspend(() => {
    const calls = [...groups.values()].flatMap((group) => [...group.calls])
    return Fiber.interruptAll(calls.flatMap(({ fiber }) => fiber ?? []))
  })

  return { add, interruptAll }
}
