import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { type Operation, TransportError } from "../../NutritionAdvisorError.js"

/** The error of every call that ends because its client, layer or runtime is closed. */
export const closed = (operation: Operation): TransportError => new TransportError({ operation, reason: "Closed" })

/**
 * Runs an effect when the scope of a client is closed. `Effect.addFinalizer` would keep another copy of all FiberRefs alive in each client.
 */
export const onClose = (finalizer: Effect.Effect<unknown>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, finalizer))
