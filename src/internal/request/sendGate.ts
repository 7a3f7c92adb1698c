import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { constUndefined } from "effect/Function"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"

type Gate = Effect.Effect<void, NutritionAdvisorError>

/**
 * An effect that waits until the request of this fiber can be sent. Layers around the client provide it, and the client runs it just
 * before each send, because only the client knows when that is: it may wait for a token first, and it may retry after a renewal.
 */
class SendGate extends Context.Tag("effect-nutrition-advisor/internal/SendGate")<SendGate, Gate>() {}

const withGate = <A, E, R>(use: (gate: Gate | undefined) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => use(Context.getOrElse(fiber.currentContext, SendGate, constUndefined)))

/** Passes the gate, if there is one. */
export const pass: Gate = withGate((gate) => gate ?? Effect.void)

/** Gets a token, passes the gate, and gets the token again, since it may have expired in the meantime. */
export const passAndGetAgain = <A>(
  get: Effect.Effect<A, NutritionAdvisorError>
): Effect.Effect<A, NutritionAdvisorError> =>
  withGate((gate) => gate === undefined ? get : Effect.zipRight(Effect.zipRight(get, gate), get))

/** Adds a gate to an effect. Its requests pass the outer gates first. */
export const through = <A, E, R>(self: Effect.Effect<A, E, R>, gate: Gate): Effect.Effect<A, E, R> =>
  withGate((outer) => Effect.provideService(self, SendGate, outer === undefined ? gate : Effect.zipRight(outer, gate)))
