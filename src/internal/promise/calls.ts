import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { NutritionAdvisor, type Service } from "../../NutritionAdvisor.js"
import {
  ConfigurationError,
  isNutritionAdvisorError,
  type Operation,
  TransportError
} from "../../NutritionAdvisorError.js"
import * as Fork from "../fork.js"
import { onAbort } from "./signal.js"

const aborted = (operation: Operation) => new TransportError({ operation, reason: "Aborted" })

/** What a promise rejects with: the error itself, or what was thrown. */
const reasonOf = (cause: Cause.Cause<unknown>, operation: Operation): unknown =>
  Cause.isInterruptedOnly(cause) ? aborted(operation) : Cause.originalError(Cause.squash(cause))

/** The stack of an error names who called, and nothing of the runtime. Of several callers who share an error it names the last. */
const atCaller = (error: unknown, called: (...args: never) => unknown): unknown => {
  const isOwn = isNutritionAdvisorError(error) || error instanceof ConfigurationError
  if (isOwn && Object.isExtensible(error)) Error.captureStackTrace(error, called)
  return error
}

/** Two turns later the caller's promise waits for this one, so the engine knows who awaits it. A call that succeeds pays nothing. */
const reject = async (error: unknown): Promise<never> => {
  await undefined
  await undefined
  throw atCaller(error, reject)
}

const orThrow = <A>(exit: Exit.Exit<A, unknown>, called: (...args: never) => unknown): A => {
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
class Call<A> {
  fiber: Fiber.RuntimeFiber<A, unknown> | undefined

  constructor(
    readonly operation: Operation,
    private settle: ((result: A | Promise<never>) => void) | undefined
  ) {}

  /** A part of the user's may have ended the call while its fiber began. */
  begun(fiber: Fiber.RuntimeFiber<A, unknown>) {
    this.fiber = fiber
    if (this.settle === undefined) fiber.unsafeInterruptAsFork(FiberId.none)
  }

  end(reason: unknown) {
    this.settle?.(reject(reason))
    this.settle = undefined
    this.fiber?.unsafeInterruptAsFork(FiberId.none)
  }

  ended(exit: Exit.Exit<A, unknown>) {
    this.settle?.(Exit.isSuccess(exit) ? exit.value : reject(reasonOf(exit.cause, this.operation)))
    this.fiber = this.settle = undefined
  }
}

/** The calls of one client, over a layer that the first of them builds. */
export const make = <E>(layer: Layer.Layer<NutritionAdvisor, E>) => {
  const calls = new Set<Pick<Call<unknown>, "operation" | "fiber" | "end">>()
  let built: Context.Context<NutritionAdvisor> | undefined
  let closing: Promise<void> | undefined

  const runtime = ManagedRuntime.make(Layer.tap(layer, (context) =>
    Effect.map(Fork.startIn(context), (startBuilt) => {
      built = context
      start = startBuilt
    })))

  let start: Fork.Start<NutritionAdvisor, E> = runtime.runFork

  /**
   * Reads what is to be sent, and sends it once the layer is built. It runs for each search, and so makes little: one promise, and one
   * object to end it by. What is no signal is refused before anything begins.
   */
  const run = <A, E2>(
    operation: Operation,
    options: { readonly signal?: AbortSignal | null | undefined } | null | undefined,
    read: () => (advisor: Service) => Effect.Effect<A, E2>
  ): Promise<A> =>
    new Promise((resolve) => {
      const signal = options?.signal
      if (signal?.aborted === true) return resolve(reject(signal.reason))
      if (closing !== undefined) return resolve(reject(aborted(operation)))
      const send = read()
      const call = new Call(operation, resolve)
      const leave = signal ? onAbort(signal, () => call.end(signal.reason)) : undefined
      calls.add(call)
      const advisor = built && Context.get(built, NutritionAdvisor)
      const fiber = start(advisor ? Effect.suspend(() => send(advisor)) : Effect.flatMap(NutritionAdvisor, send))
      call.begun(fiber)
      fiber.addObserver((exit) => {
        leave?.()
        calls.delete(call)
        call.ended(exit)
      })
    })

  /** Looks at what was built, after the end as well. */
  const look = async <A>(effect: Effect.Effect<A>): Promise<A> =>
    closing === undefined
      ? run("request", undefined, () => () => effect)
      : orThrow(await Effect.runPromiseExit(Effect.provide(effect, built ?? Context.empty())), look)

  const endAll = async (): Promise<void> => {
    for (const call of calls) call.end(aborted(call.operation))
    await undefined
    const fibers = [...calls].flatMap(({ fiber }) => fiber ?? [])
    orThrow(await Effect.runPromiseExit(Effect.zipRight(runtime.disposeEffect, Fiber.awaitAll(fibers))), endAll)
  }

  const close = (): Promise<void> => closing ??= endAll()

  return { run, look, close }
}
