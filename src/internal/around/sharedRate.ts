import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { withNow } from "../clock.js"
import type { Rate } from "./rate.js"
import type { RateLimiter } from "./rateLimiter.js"

export interface Options {
  readonly key: string
  readonly limit: number
  /** Milliseconds. */
  readonly interval: number
}

const minute = 60_000

/**
 * A rate that many processes keep together. It asks whether one may begin, and asks again when the time is over that the limiter names:
 * a limiter that gives turns in advance would give them to requests that have left, without end under load.
 */
export const make = (limiter: RateLimiter, { interval, key, limit }: Options): Rate => {
  /** In whole milliseconds for each request: a store may keep no fractions of one. */
  const window = Duration.millis(limit * Math.ceil(interval / limit))
  let notBefore = 0
  let askedUntil = Number.POSITIVE_INFINITY
  let silentUntil = 0
  let warnedAt = Number.NEGATIVE_INFINITY

  /** Milliseconds until the limit allows another one, zero where one may begin now. */
  const consume = Effect.suspend(() =>
    limiter.consume({ algorithm: "fixed-window", onExceeded: "fail", window, limit, key })
  ).pipe(
    Effect.as(0),
    Effect.catchAll((error) =>
      error.reason === "Exceeded"
        ? Effect.succeed(Math.max(1, Duration.toMillis(error.retryAfter)))
        : Effect.fail(error)
    )
  )

  const warn = (now: number) => {
    if (now - warnedAt < minute) return Effect.void
    warnedAt = now
    return Effect.logWarning(
      "The shared rate of requests could not be asked for, so requests go on without it: see whether the store of the RateLimiter runs."
    )
  }

  /** It is not asked again for as long as it let wait, so that it does not slow down everything while it is away. */
  const goOn = (askedAt: number) =>
    withNow(({ monotonic: now }) => {
      silentUntil = now + (now - askedAt)
      return Effect.as(warn(now), true)
    })

  const ask = (millis: number) =>
    withNow(({ monotonic: askedAt }) => {
      if (askedAt < silentUntil) return Effect.succeed(true)
      askedUntil = askedAt + millis
      return consume.pipe(
        Effect.disconnect,
        Effect.timeout(millis),
        Effect.exit,
        Effect.ensuring(Effect.sync(() => {
          askedUntil = Number.POSITIVE_INFINITY
        })),
        Effect.flatMap((exit) =>
          Exit.isFailure(exit) ? goOn(askedAt) : withNow(({ monotonic: now }) => {
            notBefore = now + exit.value
            return Effect.succeed(exit.value === 0)
          })
        )
      )
    })

  return {
    wait: (now) => Math.max(0, notBefore - now),
    begin: () => {},
    ask,
    isSilent: (now) => now < silentUntil || now >= askedUntil
  }
}
