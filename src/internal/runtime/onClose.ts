import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"

/**
 * Runs an effect when the scope of a client is closed. `Effect.addFinalizer` would keep another copy of all FiberRefs alive in each client.
 */
export const onClose = (finalizer: Effect.Effect<unknown>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, finalizer))
