import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { monotonicOf } from "../clock.js"
import { boundedBy, launchIn } from "../fork.js"
import * as Outage from "../outage.js"
import type { Rate } from "./rate.js"
import { type RateLimiter, refusalIn } from "./rateLimiter.js"

export interface Options {
  readonly key: string
  readonly limit: number
  /** Milliseconds. */
  readonly interval: number
}

/** Turns that are left, or milliseconds until there are some. */
interface Answer {
  readonly granted: number
  readonly left: number
  readonly wait: number
}

/** Asks for turns. What a limiter fails with or dies of may hold the address of its store: no fiber ends in it. */
const consumeFrom = (limiter: RateLimiter, { interval, key, limit }: Options, most: number) => {
  /** In whole milliseconds for each request: a store may keep no fractions of one. */
  const window = limit * Math.ceil(interval / limit)

  /** One question for several turns is refused also where some of them are left. */
  const exceeded = (turns: number, retryAfter: Duration.Duration): Answer => ({
    granted: 0,
    left: turns > 1 ? 1 : most,
    wait: turns > 1 ? 0 : Math.max(1, Math.min(window, Duration.toMillis(retryAfter)) || 1)
  })

  return (turns: number): Effect.Effect<Answer, string> =>
    Effect.suspend(() =>
      limiter.consume({
        algorithm: "fixed-window",
        onExceeded: "fail",
        window: Duration.millis(window),
        limit,
        key,
        tokens: turns
      })
    ).pipe(
      Effect.map(({ remaining }): Answer => ({
        granted: turns,
        left: Predicate.isNumber(remaining) ? remaining : 1,
        wait: 0
      })),
      Effect.catchAll((error) => Effect.map(refusalIn(error), ({ retryAfter }) => exceeded(turns, retryAfter))),
      Effect.catchAllCause(() => Effect.fail("no answer"))
    )
}

/**
 * A rate that many processes keep together. It asks for turns as long as somebody waits, and again when the time is over that the
 * limiter names: a limiter that gives turns in advance would give them to requests that have left, without end under load.
 */
export const make = (limiter: RateLimiter, options: Options): Effect.Effect<Rate, never, Scope.Scope> =>
  Effect.map(Effect.flatMap(Effect.scope, launchIn), (launch) => {
    /** So that one process with many who wait leaves something to the others. */
    const most = Math.ceil(options.limit / 8)
    const consume = consumeFrom(limiter, options, most)
    let granted = 0
    let left = most
    let notBefore = 0
    /** The time in which the answer has to come that is still to come. */
    let askedUntil = Number.POSITIVE_INFINITY
    let silentUntil = 0
    let hasFailed = false
    let outage = Outage.initial

    const isAsked = () => askedUntil !== Number.POSITIVE_INFINITY

    return {
      wait: (now) => granted > 0 ? 0 : Math.max(0, notBefore - now),
      begin: () => {
        granted = Math.max(0, granted - 1)
      },
      limiter: {
        mayBegin: (now) => granted > 0 || now < silentUntil,
        isSilent: (now) => now < silentUntil || now >= askedUntil,
        isAsked,
        forget: () => {
          granted = 0
        },
        warn: (now) =>
          Effect.suspend(() => {
            if (!hasFailed) return Effect.void
            hasFailed = false
            const [shouldWarn, next] = Outage.failed(outage, "RateLimiter", now)
            outage = next
            return shouldWarn
              ? Effect.logWarning(
                "The shared rate of requests could not be asked for, so requests go on without it: see whether the store of the RateLimiter runs."
              )
              : Effect.void
          }),
        ask: ({ onAnswer, waiting, within }) =>
          Effect.clockWith((clock) => {
            if (isAsked()) return Effect.void
            const askedAt = monotonicOf(clock)
            const turns = Math.max(1, Math.min(waiting(), most, Math.floor(left) || 1))
            askedUntil = askedAt + within
            return Effect.map(
              launch(Effect.interruptible(boundedBy(within, () => "no answer")(consume(turns)))),
              (fiber) =>
                fiber.addObserver((exit) => {
                  const now = monotonicOf(clock)
                  askedUntil = Number.POSITIVE_INFINITY
                  if (Exit.isSuccess(exit)) {
                    granted = Math.min(exit.value.granted, waiting())
                    left = exit.value.left
                    notBefore = now + exit.value.wait
                  } else {
                    /** It is not asked again for as long as it let wait, so that it does not slow down everything while it is away. */
                    silentUntil = now + (now - askedAt)
                    granted = waiting()
                    hasFailed = true
                  }
                  onAnswer()
                })
            )
          })
      }
    }
  })
