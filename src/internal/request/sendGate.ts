import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { constUndefined } from "effect/Function"
import { type AccessToken, isSame } from "../../AccessToken.js"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"

export type Gate = Effect.Effect<void, NutritionAdvisorError>

/**
 * An effect that waits until the request of this fiber can be sent. Layers around the client provide it, and the client runs it just
 * before each send, because only the client knows when that is: it may wait for a token first, and it may retry after a renewal.
 */
class SendGate extends Context.Tag("effect-nutrition-advisor/internal/SendGate")<SendGate, Gate>() {}

export const ofFiber = (fiber: Fiber.RuntimeFiber<unknown, unknown>): Gate | undefined =>
  Context.getOrElse(fiber.currentContext, SendGate, constUndefined)

/**
 * A request that is ready after fewer milliseconds than this didn't wait for a token. `TokenProvider.get` doesn't say whether it waited, so
 * the elapsed time decides. If only the event loop was slow, the request passes the gate once more than it has to.
 */
export const immediateMillis = 1

/**
 * Passes the gate with a token, and then gets the token again with `get`, since it may have expired in the meantime. If the request has to
 * wait for a new token then, it passes the gate once more, because it would be sent late.
 */
export const passWith = (
  token: AccessToken,
  gate: Gate,
  get: Effect.Effect<AccessToken, NutritionAdvisorError>
): Effect.Effect<AccessToken, NutritionAdvisorError> =>
  Effect.gen(function*() {
    yield* gate
    const [duration, current] = yield* Effect.timed(get)
    const hasWaited = Duration.toMillis(duration) >= immediateMillis && !isSame(current, token)
    if (!hasWaited) return current
    yield* gate
    return yield* get
  })

/** Adds a gate to an effect. Its requests pass the outer gates first. */
export const withGate = <A, E, R>(self: Effect.Effect<A, E, R>, gate: Gate): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => {
    const outer = ofFiber(fiber)
    return Effect.provideService(self, SendGate, outer === undefined ? gate : Effect.zipRight(outer, gate))
  })
