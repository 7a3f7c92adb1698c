import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"

type Gate = Effect.Effect<void, NutritionAdvisorError>

/**
 * Waits until the request of this fiber may be sent. A layer around the client provides it, because only the client knows when a
 * request goes out: it may first wait for a token, and it is sent again after a renewal.
 */
class SendGate extends Context.Tag("effect-nutrition-advisor/internal/SendGate")<SendGate, Gate>() {}

const provided = Effect.serviceOption(SendGate)

/** Waits for the gate, if there is one. */
export const pass: Gate = Effect.flatMap(provided, Option.getOrElse(() => Effect.void))

/** Gets the token of a request that is about to be sent. It is read again after the gate, since it may have expired meanwhile. */
export const passWith = <A>(token: Effect.Effect<A, NutritionAdvisorError>): Effect.Effect<A, NutritionAdvisorError> =>
  Effect.flatMap(
    provided,
    Option.match({
      onNone: () => token,
      onSome: (gate) => Effect.zipRight(Effect.zipRight(token, gate), token)
    })
  )

/** Adds a gate to those that an effect has to pass. */
export const through = <A, E, R>(self: Effect.Effect<A, E, R>, gate: Gate): Effect.Effect<A, E, R> =>
  Effect.flatMap(provided, (outer) => {
    const gates = Option.match(outer, { onNone: () => gate, onSome: (first) => Effect.zipRight(first, gate) })
    return Effect.provideService(self, SendGate, gates)
  })
