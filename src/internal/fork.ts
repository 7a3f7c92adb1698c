import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Supervisor from "effect/Supervisor"

/** Effect logs nothing of how the fibers end that begin in it: of one that fails it would print the error, or what it died of. */
export const unlogged: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.locally(
  FiberRef.unhandledErrorLogLevel,
  Option.none()
)

/** Starts an effect in a fiber of its own, which may also fail as its services are made. */
export type Start<R, MakeError = never> = <A, E>(effect: Effect.Effect<A, E, R>) => Fiber.RuntimeFiber<A, E | MakeError>

/**
 * Starts effects in a context, with the FiberRefs of the fiber that runs this: loggers and log level, among others. From here on Effect
 * logs nothing of how that fiber's children end, nor of these. A runtime gives each fiber its context and its flags anyway: if the
 * FiberRefs held them too, each fiber would keep both.
 */
export const startIn = <R>(context: Context.Context<R>): Effect.Effect<Start<R>> =>
  Effect.map(
    Effect.zipRight(FiberRef.set(FiberRef.unhandledErrorLogLevel, Option.none()), Effect.runtime()),
    ({ fiberRefs, runtimeFlags }) =>
      Runtime.runFork(Runtime.make({
        context,
        runtimeFlags,
        fiberRefs: [FiberRef.currentContext, FiberRef.currentRuntimeFlags].reduce(FiberRefs.delete, fiberRefs)
      }))
  )

/**
 * Starts effects in a scope and in the context that it was made in: services, ConfigProvider, loggers, annotations, tracer. Who
 * starts one gives it nothing of its own. Each begins where it can't be interrupted, and so far it runs in a closed scope, too.
 */
export type Launch = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<Fiber.RuntimeFiber<A, E>>

export const launchIn = (scope: Scope.Scope): Effect.Effect<Launch> =>
  Effect.map(
    unlogged(Effect.flatMap(Effect.context<never>(), startIn)),
    (start): Launch => (effect) =>
      Effect.suspend(() => Effect.flatten(Fiber.await(start(Effect.uninterruptible(Effect.forkIn(effect, scope))))))
  )

/** Ends at once where it is interrupted, also where the effect can't be: then that one ends by itself, later. */
export const abandonable = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  unlogged(Effect.interruptible(Effect.disconnect(effect)))

/**
 * Ends in the failure when the time is over, also where the effect can't be interrupted. The effect is no child of its caller, for
 * an interruption reaches children at once: so a caller who can't be interrupted gets what it waits for.
 */
export const boundedBy =
  <E>(duration: Duration.DurationInput, onTimeout: () => E) =>
  <A, E2, R>(effect: Effect.Effect<A, E2, R>): Effect.Effect<A, E | E2, R> =>
    unlogged(Effect.disconnect(Effect.interruptible(Effect.timeoutFail(abandonable(effect), { duration, onTimeout }))))

/**
 * No Supervisor of the application sees the fibers that begin in it, nor those that the platform forks for them: such a fiber may end in
 * a request, a response or an error that holds one.
 */
export const unsupervised: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.locally(
  FiberRef.currentSupervisor,
  Supervisor.none
)
