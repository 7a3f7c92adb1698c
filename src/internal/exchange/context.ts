import * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"

/** What an exchange and the flight that it belongs to tell each other, beside what a TokenIssuer is asked. */
export class ExchangeContext extends Context.Reference<ExchangeContext>()(
  "effect-nutrition-advisor/internal/ExchangeContext",
  {
    defaultValue: (): {
      /** Told of the span of the exchange, a root span: those who wait for the exchange link theirs to it. */
      readonly onSpan: (span: Tracer.Span) => void
      /** Whether a shared cache was tried before, in vain. */
      readonly mustExchange: boolean
    } => ({ onSpan: () => {}, mustExchange: false })
  }
) {}
