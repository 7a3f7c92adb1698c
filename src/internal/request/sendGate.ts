import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { constUndefined } from "effect/Function"
import { type AccessToken, isSame } from "../../AccessToken.js"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"

type Gate = Effect.Effect<void, NutritionAdvisorError>

/**
 * An effect that waits until the request of this fiber can be sent. Layers around the client provide it. The client runs it just before each
 * send, because only the client knows when that is: a request may first wait for a token, and may be retried after a renewal.
 */
class SendGate extends Context.Tag("effect-nutrition-advisor/internal/SendGate")<SendGate, Gate>() {}

const withGate = <A, E, R>(use: (gate: Gate | undefined) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => use(Context.getOrElse(fiber.currentContext, SendGate, constUndefined)))

/** Passes the gate, if there is one. */
export const pass: Gate = withGate((gate) => gate ?? Effect.void)

/**
 * Gets a token, passes the gate, and gets the token again, since it may have expired in the meantime. Getting another token may have taken
 * an exchange, so the request then passes the gate once more.
 */
export const passAndGetAgain = (
  get: Effect.Effect<AccessToken, NutritionAdvisorError>
): Effect.Effect<AccessToken, NutritionAdvisorError> =>
  withGate((gate) =>
    gate === undefined ? get : Effect.gen(function*() {
      const before = yield* get
      yield* gate
      const token = yield* get
      if (!isSame(before, token)) yield* gate
      return token
    })
  )

/** Adds a gate to an effect. Its requests pass the outer gates first. */
export const through = <A, E, R>(self: Effect.Effect<A, E, R>, gate: Gate): Effect.Effect<A, E, R> =>
  withGate((outer) => Effect.provideService(self, SendGate, outer === undefined ? gate : Effect.zipRight(outer, gate)))
