import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRefs from "effect/FiberRefs"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type { NutritionAdvisor } from "../../NutritionAdvisor.js"
import { isNutritionAdvisorError, type Operation, TransportError } from "../../NutritionAdvisorError.js"
import { closed } from "../closed.js"
import { asConfigurationError } from "./configError.js"

type Signal = AbortSignal | null | undefined

/** What ends a call before its response has arrived. */
export interface Limits {
  readonly signal?: Signal
  readonly timeout?: Duration.DurationInput | undefined
}

/** The fiber of a call, or nothing after it has ended. V8 collects fibers in an old Set late, which would cost a search 6%. */
type Call = Array<Fiber.RuntimeFiber<unknown, unknown>>

/**
 * The calls with one signal. They share a listener, because Node warns if there are more than ten. The listener doesn't use `this`, because
 * a signal in a Proxy and the one of node-abort-controller don't set it.
 */
interface Group {
  readonly calls: Set<Call>
  readonly interrupt: () => void
}

type Timed = <A, R>(call: Effect.Effect<A, unknown, R>) => Effect.Effect<A, unknown, R>

type Fork = <A>(call: Effect.Effect<A, unknown, NutritionAdvisor>, timed: Timed) => Fiber.RuntimeFiber<A, unknown>

const untimed: Timed = (call) => call

const timedBy = (operation: Operation, timeout: Duration.DurationInput | undefined): Timed =>
  timeout === undefined
    ? untimed
    : (call) =>
      Effect.timeoutFail(call, {
        duration: timeout,
        onTimeout: () => new TransportError({ operation, reason: "Timeout" })
      })

const hasAborted = (signal: Signal) => signal?.aborted === true

/** The signals of old AbortController packages have no reason. */
const abortReasonOf = ({ reason }: AbortSignal): unknown =>
  reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason

/** Gives each fiber the FiberRefs of the layer as they are: `runFork` copies them for each. */
const forkOver = (built: Runtime.Runtime<NutritionAdvisor>): Fork => {
  const bare = Runtime.updateFiberRefs(built, FiberRefs.empty)
  return (call, timed) => Runtime.runFork(bare, timed(call), { updateRefs: () => built.fiberRefs })
}

/** Builds the services of a client, which stay open until its scope is closed. */
export type Services = Effect.Effect<Context.Context<NutritionAdvisor>, unknown, Scope.Scope>

/**
 * Forks calls that wait for the services. The first call starts to build them, in a fiber of the scope: it may end while others still wait.
 * This isn't a ManagedRuntime, because that and the layer inside it would keep 9 kB alive in each client.
 */
const forkAfter = (services: Services, scope: Scope.Scope, onBuilt: (fork: Fork) => void): Fork => {
  const runtime = Scope.extend(
    Effect.flatMap(services, (built) => Effect.provide(Effect.runtime<NutritionAdvisor>(), built)),
    scope
  )

  let building: Effect.Effect<Fiber.RuntimeFiber<Runtime.Runtime<NutritionAdvisor>, unknown>> = Effect.map(
    Effect.forkIn(runtime, scope),
    (fiber) => {
      building = Effect.succeed(fiber)
      return fiber
    }
  )

  return (call, timed) =>
    Effect.runFork(timed(Effect.flatMap(Effect.flatMap(Effect.suspend(() => building), Fiber.join), (built) => {
      onBuilt(forkOver(built))
      return Effect.provide(call, built)
    })))
}

export interface Calls {
  readonly run: <A>(
    operation: Operation,
    limits: Limits,
    effect: Effect.Effect<A, unknown, NutritionAdvisor>
  ) => Promise<A>
  readonly close: () => Promise<void>
}

/** The calls of one client, over services that the first of them builds. */
export const make = (services: Services): Calls => {
  const scope = Effect.runSync(Scope.make())
  const groups = new Map<Signal, Group>()
  let closing: Promise<void> | undefined

  let fork = forkAfter(services, scope, (built) => {
    fork = built
  })

  const interruptionOf = (operation: Operation, signal: Signal): unknown => {
    if (signal?.aborted === true) return abortReasonOf(signal)
    return closing === undefined ? new TransportError({ operation, reason: "Aborted" }) : closed(operation)
  }

  const errorOf = (cause: Cause.Cause<unknown>, operation: Operation, signal: Signal): unknown =>
    Cause.isInterruptedOnly(cause)
      ? interruptionOf(operation, signal)
      : asConfigurationError(Cause.originalError(Cause.squash(cause)))

  const groupOf = (signal: Signal): Group => {
    const known = groups.get(signal)
    if (known !== undefined) return known
    const calls = new Set<Call>()
    const interrupt = () => {
      for (const [fiber] of calls) fiber?.unsafeInterruptAsFork(FiberId.none)
    }
    const group = { calls, interrupt }
    groups.set(signal, group)
    signal?.addEventListener("abort", interrupt)
    return group
  }

  const run = async <A>(
    operation: Operation,
    { signal, timeout }: Limits,
    effect: Effect.Effect<A, unknown, NutritionAdvisor>
  ) => {
    if (hasAborted(signal) || closing !== undefined) throw interruptionOf(operation, signal)
    const fiber = fork(effect, timedBy(operation, timeout))
    const call: Call = [fiber]
    const { calls, interrupt } = groupOf(signal)
    calls.add(call)
    // What the call has run so far may have aborted the signal or closed the client.
    if (hasAborted(signal) || closing !== undefined) fiber.unsafeInterruptAsFork(FiberId.none)
    const exit = await new Promise<Exit.Exit<A, unknown>>((resolve) => fiber.addObserver(resolve))
    call.pop()
    calls.delete(call)
    if (signal && calls.size === 0) {
      groups.delete(signal)
      signal.removeEventListener("abort", interrupt)
    }
    if (exit._tag === "Success") return exit.value
    const error = errorOf(exit.cause, operation, signal)
    // Its stack names who called, and nothing of the runtime. Between threads it keeps only a message of its own.
    if (isNutritionAdvisorError(error)) Error.captureStackTrace(Object.assign(error, { message: error.message }), run)
    throw error
  }

  const end = Effect.suspend(() => Fiber.interruptAll([...groups.values()].flatMap(({ calls }) => [...calls].flat())))

  return { run, close: () => closing ??= Effect.runPromise(Effect.zipRight(end, Scope.close(scope, Exit.void))) }
}
