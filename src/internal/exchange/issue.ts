import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { AccessToken } from "../../AccessToken.js"
import {
  isNutritionAdvisorError,
  type TokenError,
  TransportError,
  UnexpectedResponse
} from "../../NutritionAdvisorError.js"
import * as ForeignPart from "../foreignPart.js"
import * as Fork from "../fork.js"
import * as InternalPart from "../internalPart.js"
import { isToken } from "./isToken.js"

/** Issuers of this package end in bounded time by themselves. One that waits for a peer may take longer than `tokenTimeout`. */
export const OwnDeadline = InternalPart.make<object, true>("TokenIssuer/ownDeadline")

export const timedOut = () => new TransportError({ operation: "token", reason: "Timeout" })

/** What interrupts itself interrupts nobody who waits for it. */
const abortedByItself = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | TransportError, R> =>
  Effect.catchAllCause(effect, (cause): Effect.Effect<never, E | TransportError> =>
    Cause.isInterruptedOnly(cause)
      ? Effect.fail(new TransportError({ operation: "token", reason: "Aborted" }))
      : Effect.failCause(cause))

/**
 * Ends in TransportError "Timeout" after so many milliseconds, and where it is interrupted at once, also if the effect can't be. In
 * "Aborted" where the effect interrupts itself.
 */
export const boundedBy =
  (millis: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | TransportError, R> =>
    Effect.interruptible(Fork.boundedBy(Math.max(0, millis), timedOut)(abortedByItself(effect)))

/** SERVICE.md section 4: the one success that the token routes have. */
const tokenStatus = 200

/** What was issued is no token, or one that has expired. */
export const unusable = () => new UnexpectedResponse({ operation: "token", status: tokenStatus, reason: "Schema" })

/** What an issuer hands over, or what a TokenError says of it. */
export const issued = (issue: () => Effect.Effect<AccessToken, TokenError>): Effect.Effect<AccessToken, TokenError> =>
  Effect.filterOrFail(ForeignPart.call("The TokenIssuer", isNutritionAdvisorError, issue), isToken, unusable)

/**
 * Calls an issuer. One that users bring ends within so many milliseconds, in a token or in what a TokenError says of it. It is
 * judged in the fiber that it has of its own, and outside: a fiber that meets what is no effect may end past all handlers.
 */
export const issueWithin = (
  issuer: object,
  millis: number,
  issue: () => Effect.Effect<AccessToken, TokenError>
): Effect.Effect<AccessToken, TokenError> => {
  const bounded = OwnDeadline.of(issuer) === undefined ? boundedBy(millis) : Fork.abandonable
  return issued(() => bounded(issued(issue)))
}
