import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Milliseconds of a clock that is never set. Only differences mean something. */
export const currentMillis: Effect.Effect<number> = Effect.map(
  Clock.currentTimeNanos,
  (nanos) => Number(nanos) / 1e6
)
