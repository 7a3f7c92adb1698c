// Effect 4 has the RateLimiter itself, and a refusal is the reason of an error.
import * as Effect from "effect/Effect"
import * as Effect4 from "effect/persistence/RateLimiter"

export type RateLimiter = Effect4.RateLimiter

export type ConsumeResult = Effect4.ConsumeResult

export const RateLimiter = Effect4.RateLimiter

export const refusalIn = (error: Effect4.RateLimiterError) =>
  error.reason._tag === "RateLimitExceeded" ? Effect.succeed(error.reason) : Effect.fail(error)
