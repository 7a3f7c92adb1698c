import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { constUndefined } from "effect/Function"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"

type Gate = Effect.Effect<void, NutritionAdvisorError>

/**
 * Waits until the request of this fiber may be sent. A layer around the client provides it, because only the client knows when a
 * request goes out: it may first wait for a token, and it is sent again after a renewal.
 */
class SendGate extends Context.Tag("effect-nutrition-advisor/internal/SendGate")<SendGate, Gate>() {}

const withGate = <A, E, R>(use: (gate: Gate | undefined) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => use(Context.getOrElse(fiber.currentContext, SendGate, constUndefined)))

/** Waits for the gate, if there is one. */
export const pass: Gate = withGate((gate) => gate ?? Effect.void)

/** Gets the token of a request that is about to be sent. It is read again after the gate, since it may have expired meanwhile. */
export const passWith = <A>(token: Effect.Effect<A, NutritionAdvisorError>): Effect.Effect<A, NutritionAdvisorError> =>
  withGate((gate) => gate === undefined ? token : Effect.zipRight(Effect.zipRight(token, gate), token))

/** Adds a gate to those that an effect has to pass. */
export const through = <A, E, R>(self: Effect.Effect<A, E, R>, gate: Gate): Effect.Effect<A, E, R> =>
  withGate((outer) => Effect.provideService(self, SendGate, outer === undefined ? gate : Effect.zipRight(outer, gate)))
