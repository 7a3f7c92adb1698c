import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { NutritionAdvisor, type Service } from "../../NutritionAdvisor.js"
import { ConfigurationError, errors, TransportError } from "../../NutritionAdvisorError.js"
import { onAbort } from "./signal.js"

type Operation = "search" | "request"

const aborted = (operation: Operation) => new TransportError({ operation, reason: "Aborted" })

/** What a promise rejects with: the error itself, or what was thrown. */
const reasonOf = (cause: Cause.Cause<unknown>, operation: Operation): unknown =>
  Cause.isInterruptedOnly(cause) ? aborted(operation) : Cause.originalError(Cause.squash(cause))

const ours = [...errors, ConfigurationError]

/** The stack of an error names who called, and nothing of the runtime. Of several callers who share an error it names the last. */
const atCaller = (error: unknown, called?: (...args: never) => unknown): unknown => {
  if (ours.some((own) => error instanceof own) && Object.isExtensible(error)) {
    Error.captureStackTrace(Object(error), called ?? atCaller)
  }
  return error
}

const orThrow = <A>(exit: Exit.Exit<A, unknown>, called?: (...args: never) => unknown): A => {
  if (Exit.isSuccess(exit)) return exit.value
  throw atCaller(reasonOf(exit.cause, "request"), called)
}

/** What an effect gives at once. */
export const valueOf = <A>(effect: Effect.Effect<A, unknown>, called: (...args: never) => unknown): A =>
  orThrow(Effect.runSyncExit(effect), called)

/**
 * Once it has ended it refers to nothing: a Set may keep its dead entries in the old generation, and all that they refer to
 * (docs/upstream.md).
 */
class Call {
  constructor(
    readonly operation: Operation,
    private fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined,
    private reject: ((reason: unknown) => void) | undefined
  ) {}

  end(reason: unknown) {
    this.reject?.(reason)
    this.fiber?.unsafeInterruptAsFork(FiberId.none)
    return this.fiber
  }

  forget() {
    this.fiber = this.reject = undefined
  }
}

/** The calls of one client, over a layer that the first of them builds. */
export const make = <E>(layer: Layer.Layer<NutritionAdvisor, E>) => {
  const calls = new Set<Call>()
  let built: Context.Context<NutritionAdvisor> | undefined
  let closing: Promise<void> | undefined

  const runtime = ManagedRuntime.make(Layer.tap(layer, (context) =>
    Effect.sync(() => {
      built = context
    })))

  /** It runs for each search, and so makes little: one object to end it by, and no effect around it once the layer is built. */
  const run = async <A, E2>(
    operation: Operation,
    options: { readonly signal?: AbortSignal | null | undefined } | null | undefined,
    send: (advisor: Service) => Effect.Effect<A, E2>
  ): Promise<A> => {
    let leave: (() => void) | undefined
    try {
      const signal = options?.signal
      if (signal?.aborted === true) throw signal.reason
      if (closing !== undefined) throw aborted(operation)
      return await new Promise<A>((resolve, reject) => {
        const fiber = runtime.runFork(
          built === undefined ? Effect.flatMap(NutritionAdvisor, send) : send(Context.get(built, NutritionAdvisor))
        )
        const call = new Call(operation, fiber, reject)
        calls.add(call)
        if (signal) leave = onAbort(signal, () => call.end(signal.reason))
        fiber.addObserver((exit) => {
          calls.delete(call)
          call.forget()
          if (Exit.isSuccess(exit)) resolve(exit.value)
          else reject(reasonOf(exit.cause, operation))
        })
      })
    } catch (error) {
      throw atCaller(error, run)
    } finally {
      leave?.()
    }
  }

  /** Looks at what was built, after the end as well; undefined where nothing was. */
  const look = async <A>(effect: Effect.Effect<A>): Promise<A | undefined> => {
    if (closing === undefined) return run("request", undefined, () => effect)
    return built === undefined ? undefined : orThrow(await Effect.runPromiseExit(Effect.provide(effect, built)))
  }

  const endAll = async () => {
    const ended = [...calls].flatMap((call) => call.end(aborted(call.operation)) ?? []).map(Fiber.await)
    orThrow(await Effect.runPromiseExit(Effect.zipRight(runtime.disposeEffect, Effect.all(ended, { discard: true }))))
  }

  const close = (): Promise<void> => closing ??= endAll()

  return { run, look, close }
}
