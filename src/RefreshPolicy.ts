/**
 * The refresh options: when a token is refreshed, how long exchanges back off, and how often a token is renewed. This module does no I/O.
 *
 * @since 1.0.0
 * @module
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Random from "effect/Random"
import * as Record from "effect/Record"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"
import { check, count, millis } from "./internal/check.js"
import { rejectUnknown } from "./internal/options.js"
import { longestRetryAfter } from "./internal/retryAfter.js"
import type { ConfigurationError } from "./NutritionAdvisorError.js"

/** The start and the end of a token's lifetime. @internal */
export interface Lifetime {
  readonly receivedAt: number
  readonly expiresAt: number
}

/**
 * The refresh options of a client (SERVICE.md section 5, rules 5 to 7). Pass the fields that you want to change as `refresh`. A duration
 * that is a number means milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export interface RefreshPolicy {
  /** Whether a Schedule refreshes the token of an idle process. If not, only calls start a refresh. `true` by default. */
  readonly background: boolean
  /** How long a token is stale before it expires. Capped at a tenth of the token's lifetime. 5 minutes by default. */
  readonly window: Duration.DurationInput
  /**
   * How long before its expiry a token counts as expired. Capped at a hundredth of the token's lifetime. Must be shorter than
   * `window`. 10 seconds by default.
   */
  readonly margin: Duration.DurationInput
  /** The number of attempts per exchange, the first one included. Only a 5xx or a missing response is retried. 3 by default. */
  readonly attempts: number
  /** The backoff after the first failed exchange. It doubles with each further failure. 1 second by default. */
  readonly backoffStart: Duration.DurationInput
  /** The longest backoff without a `Retry-After` header: at least `backoffStart`, at most an hour. 1 minute by default. */
  readonly backoffCap: Duration.DurationInput
  /** The time in which at most two renewals start. 15 seconds by default. */
  readonly coolDown: Duration.DurationInput
}

/**
 * The default policy. Its durations are strings with a unit.
 *
 * @since 1.0.0
 * @category constructors
 */
export const defaults: RefreshPolicy = {
  background: true,
  window: "5 minutes",
  margin: "10 seconds",
  attempts: 3,
  backoffStart: "1 second",
  backoffCap: "1 minute",
  coolDown: "15 seconds"
}

/**
 * A validated policy, with every duration in milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export type CheckedPolicy = {
  readonly [Field in keyof RefreshPolicy]: Field extends "background" ? boolean : number
}

/** The longest lifetime of a token, in milliseconds: 365 days. A longer one is cut to this. @internal */
export const longestLife = 365 * 86_400_000

/**
 * Adds the defaults, validates every field, and converts durations to milliseconds. If a field is invalid or unknown, the result is a
 * `ConfigurationError` whose `field` is `refresh.` plus the name.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (policy: Partial<RefreshPolicy> = {}): Either.Either<CheckedPolicy, ConfigurationError> =>
  Either.gen(function*() {
    yield* rejectUnknown(policy, defaults, "refresh.")
    const { attempts, background, ...durations } = defaults
    const times = yield* Either.all(
      Record.map(durations, (value, field) => millis(policy[field] ?? value, `refresh.${field}`))
    )
    const { backoffCap, backoffStart, margin, window } = times
    yield* check("refresh.margin", [margin < window, "must be shorter than `window`"])
    yield* check(
      "refresh.backoffCap",
      [backoffCap >= backoffStart, "must not be shorter than `backoffStart`"],
      [backoffCap <= longestRetryAfter, "must not be longer than an hour"]
    )
    return {
      background: policy.background ?? background,
      attempts: yield* count(policy.attempts ?? attempts, "refresh.attempts"),
      ...times
    }
  })

/** The given time, or a share of the token's lifetime if that is shorter. */
const atMost = (longest: number, share: number, { expiresAt, receivedAt }: Lifetime) =>
  Math.max(0, Math.min(longest, Math.round((expiresAt - receivedAt) * share)))

/** How long before its expiry a token with this lifetime becomes stale, in milliseconds. @internal */
export const windowOf = (policy: CheckedPolicy, life: Lifetime): number => atMost(policy.window, 0.1, life)

/** How long before its expiry a token with this lifetime counts as expired, in milliseconds. @internal */
export const marginOf = (policy: CheckedPolicy, life: Lifetime): number => atMost(policy.margin, 0.01, life)

/** The longest time between two checks of a token, in milliseconds. It is short, so that a check soon follows a suspension or a change of the clock. @internal */
export const longestPause = 60_000

/**
 * The time between two checks of a token with this lifetime, in milliseconds: a minute, or a quarter of its window if that is shorter. It is
 * never below 1.25 seconds, so that jittered checks are at least a second apart. @internal
 */
export const pauseOf = (policy: CheckedPolicy, life: Lifetime): number =>
  Math.min(longestPause, Math.max(1_250, windowOf(policy, life) / 4))

/**
 * The time from `now` (epoch milliseconds) to the next check: the pause, jittered by up to 20% in both directions, so that replicas don't
 * check at the same time. If the pause is the longest one, the check is moved to the start of its second, so that thousands of
 * idle clients wake their process at most once a second. `random` is between 0 and 1.
 */
const untilCheck = (pause: number, now: number, random: number): number => {
  const due = now + pause * (0.8 + 0.4 * random)
  return (pause < longestPause ? due : Math.floor(due / 1_000) * 1_000) - now
}

/** The Schedule of the background refresh. Its input is the pause until the next check, in milliseconds. It has no state. @internal */
export const checks: Schedule.Schedule<number, number> = Schedule.identity<number>().pipe(
  Schedule.addDelayEffect((pause) =>
    Effect.zipWith(
      Clock.currentTimeMillis,
      Random.next,
      (now, random) => Duration.millis(untilCheck(pause, now, random))
    )
  )
)

/**
 * Sleeps until the next check of the Schedule. `Schedule.driver` would do the same, but it keeps a history that `checks` doesn't need: 3 kB
 * in each client, and a process may have thousands of idle clients. @internal
 */
export const untilNextCheck = (pause: number): Effect.Effect<void> =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (now) =>
      Effect.flatMap(checks.step(now, pause, checks.initial), ([, , decision]) =>
        ScheduleDecision.isContinue(decision)
          ? Effect.sleep(ScheduleIntervals.start(decision.intervals) - now)
          : Effect.never)
  )

/**
 * The delays between the attempts of one exchange: 200 ms, doubled each time, and jittered by up to 20% in both directions. `atLeast`
 * returns the shortest delay after an error, in milliseconds. @internal
 */
export const betweenAttempts = <E>(
  policy: CheckedPolicy,
  atLeast: (error: E) => number
): Schedule.Schedule<unknown, E> =>
  Schedule.exponential("200 millis").pipe(
    Schedule.jittered,
    Schedule.intersect(Schedule.recurs(policy.attempts - 1)),
    Schedule.intersect(Schedule.identity<E>()),
    Schedule.modifyDelay(([, error], delay) => Duration.max(delay, Duration.millis(atLeast(error))))
  )

/**
 * Returns the backoff in milliseconds after a number of consecutive failed exchanges. It is `backoffStart`, doubled for each further
 * failure up to `backoffCap`, minus up to 20% of jitter. A longer `Retry-After` (in milliseconds) replaces it, plus up to 10% of jitter, up to
 * an hour. `random` is between 0 and 1. @internal
 */
export const backoffAfter = (policy: CheckedPolicy, failures: number, random: number, retryAfter = 0): number =>
  Math.max(
    Math.min(policy.backoffCap, policy.backoffStart * 2 ** Math.min(failures - 1, 52)) * (1 - random / 5),
    Math.min(longestRetryAfter, retryAfter * (1 + random / 10))
  )
