import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/**
 * The RateLimiter of @effect/experimental, written out: an import of it, even of its types, would ask everybody for that package. A test
 * compares the two.
 */
export interface RateLimiter {
  readonly "~@effect/experimental/RateLimiter": "~@effect/experimental/RateLimiter"
  readonly consume: (options: {
    readonly algorithm?: "fixed-window" | "token-bucket" | undefined
    readonly onExceeded?: "delay" | "fail" | undefined
    readonly window: Duration.DurationInput
    readonly limit: number
    readonly key: string
    readonly tokens?: number | undefined
  }) => Effect.Effect<ConsumeResult, RateLimitExceeded | RateLimitStoreError>
}

export interface ConsumeResult {
  readonly delay: Duration.Duration
  readonly limit: number
  readonly remaining: number
  readonly resetAfter: Duration.Duration
}

interface RateLimiterError extends Cause.YieldableError {
  readonly _tag: "RateLimiterError"
  readonly "~@effect/experimental/RateLimiter/RateLimiterError": "~@effect/experimental/RateLimiter/RateLimiterError"
}

export interface RateLimitExceeded extends RateLimiterError {
  readonly reason: "Exceeded"
  readonly retryAfter: Duration.Duration
  readonly key: string
  readonly limit: number
  readonly remaining: number
}

export interface RateLimitStoreError extends RateLimiterError {
  readonly reason: "StoreError"
  readonly message: string
  readonly cause?: unknown
}

/** The refusal that a failure of it is, if it is one. */
export const refusalIn = (
  error: RateLimitExceeded | RateLimitStoreError
): Effect.Effect<RateLimitExceeded, RateLimitStoreError> =>
  error.reason === "Exceeded" ? Effect.succeed(error) : Effect.fail(error)

export const RateLimiter: Context.Tag<RateLimiter, RateLimiter> = Context.GenericTag<RateLimiter>(
  "~@effect/experimental/RateLimiter"
)
