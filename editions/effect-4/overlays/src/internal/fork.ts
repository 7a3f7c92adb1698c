// Effect 4 has no FiberRefs, no disconnect and no Supervisor, and a fork into a closed scope never runs.
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { identity } from "effect/Function"
import type * as Scope from "effect/Scope"

/**
 * Starts effects in a scope and in the context that it was made in: services, ConfigProvider, loggers, annotations, tracer. Who
 * starts one gives it nothing of its own. Each begins where it can't be interrupted, and so far it runs in a closed scope, too.
 */
export type Launch = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<Fiber.Fiber<A, E>>

const uninterruptible = { uninterruptible: true } as const

/** Begun before the timer that bounds it: what ends just in time is in time. */
const atOnce = { startImmediately: true, uninterruptible: "inherit" } as const

const interrupt = (fiber: Fiber.Fiber<unknown, unknown>) => Effect.sync(() => fiber.interruptUnsafe())

export const launchIn = (scope: Scope.Scope): Effect.Effect<Launch> =>
  Effect.map(Effect.context<never>(), (context): Launch => (effect) =>
    Effect.suspend(() => {
      const inContext = Effect.setContext(effect, context)
      return scope.state._tag === "Closed"
        ? Effect.tap(Effect.forkDetach(inContext, uninterruptible), interrupt)
        : Effect.forkIn(inContext, scope, uninterruptible)
    }))

/** Ends at once where it is interrupted, also where the effect can't be: then that one ends by itself, later. */
export const abandonable = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.interruptible(Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(restore(effect), atOnce), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () => interrupt(fiber)))
  ))

/** Ends in the failure when the time is over, also where the effect can't be interrupted. */
export const boundedBy =
  <E>(duration: Duration.Input, onTimeout: () => E) =>
  <A, E2, R>(effect: Effect.Effect<A, E2, R>): Effect.Effect<A, E | E2, R> =>
    Effect.timeoutOrElse(abandonable(effect), { duration, orElse: () => Effect.fail(onTimeout()) })

/** There is no Supervisor that could see a fiber. */
export const unsupervised: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = identity

/** A fiber that fails is not logged, either. */
export const unlogged = unsupervised

export type Start<R, MakeError = never> = <A, E>(effect: Effect.Effect<A, E, R>) => Fiber.Fiber<A, E | MakeError>

export const startIn = <R>(context: Context.Context<R>): Effect.Effect<Start<R>> => Effect.succeed(Effect.runForkWith(context))
