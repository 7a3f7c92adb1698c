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

/** Passes the gate of this fiber, if there is one. */
export const pass: Gate = Effect.withFiberRuntime((fiber) => ofFiber(fiber) ?? Effect.void)

/**
 * A request that is ready after fewer milliseconds than this didn't wait for a token. `TokenProvider.get` doesn't say whether it waited, so
 * the elapsed time decides. If only the event loop was slow, the request passes the gate once more than it has to.
 */
export const immediateMillis = 1

/**
 * Gets a token, passes the gate, and gets the token again, since it may have expired in the meantime. If the request has to wait for a new
 * token then, it passes the gate once more, because it would be sent late.
 */
export const getTokenThrough = (
  gate: Gate,
  get: Effect.Effect<AccessToken, NutritionAdvisorError>
): Effect.Effect<AccessToken, NutritionAdvisorError> =>
  Effect.gen(function*() {
    const first = yield* get
    yield* gate
    const [duration, token] = yield* Effect.timed(get)
    const hasWaited = Duration.toMillis(duration) >= immediateMillis && !isSame(token, first)
    if (!hasWaited) return token
    yield* gate
    return yield* get
  })

/** Adds a gate to an effect. Its requests pass the outer gates first. */
export const withGate = <A, E, R>(self: Effect.Effect<A, E, R>, gate: Gate): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => {
    const outer = ofFiber(fiber)
    return Effect.provideService(self, SendGate, outer === undefined ? gate : Effect.zipRight(outer, gate))
  })
