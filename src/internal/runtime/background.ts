import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"

/** Starts a fiber in the context of `make`. It is interrupted when the scope of `make` closes. */
export type RunInBackground = <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>

/** Makes each fiber interruptible, even if this runs inside `acquireRelease`. Otherwise closing would wait for it. */
export const make: Effect.Effect<RunInBackground, never, Scope.Scope> = Effect.map(
  FiberSet.makeRuntime<never>(),
  (run) => (effect) => run(Effect.interruptible(effect))
)
