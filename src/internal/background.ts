import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"

/** Starts a fiber in the context in which this was made, until its scope ends. */
export type RunInBackground = <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>

/** Its fibers can be interrupted even if this is made inside `acquireRelease`, where nothing else can: closing waits for them. */
export const make: Effect.Effect<RunInBackground, never, Scope.Scope> = Effect.map(
  FiberSet.makeRuntime<never>(),
  (run) => (effect) => run(Effect.interruptible(effect))
)
