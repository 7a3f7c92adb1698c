import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"

/** Told by an issuer which span its exchange has: a root span, to which those who wait for the exchange link theirs. */
export class ExchangeSpan extends Context.Reference<ExchangeSpan>()("effect-nutrition-advisor/internal/ExchangeSpan", {
  defaultValue: () => (_: Tracer.Span): Effect.Effect<void> => Effect.void
}) {}

/** Tells of the current span. */
export const announce: Effect.Effect<void> = Effect.ignore(
  Effect.flatMap(Effect.currentSpan, (span) => Effect.flatMap(ExchangeSpan, (tell) => tell(span)))
)
