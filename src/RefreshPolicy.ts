/**
 * The numbers of a token's life: when it is refreshed, how long exchanges back off, how often it is renewed. No I/O.
 *
 * @since 1.0.0
 */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Record from "effect/Record"
import * as Schedule from "effect/Schedule"
import { check, count, millis } from "./internal/check.js"
import type { ConfigurationError } from "./NutritionAdvisorError.js"

/**
 * The two ends of a token's life, in epoch milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export interface Lifetime {
  /** When the answer with the token was received. */
  readonly receivedAt: number
  /** When the service stops accepting the token. */
  readonly expiresAt: number
}

/**
 * The numbers of a token's life (SERVICE.md section 5, rules 5 to 7). Give `refresh` the fields to change. A duration
 * that is a number is milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export interface RefreshPolicy {
  /** Whether a Schedule refreshes before expiry; true by default. Without it, callers who find a stale token start the refresh. */
  readonly background: boolean
  /** The longest time that a token is stale: used, while one refresh runs; 5 minutes by default, at most a tenth of its life. */
  readonly window: Duration.DurationInput
  /** The longest time that a token counts as expired before its expiry, at most a hundredth of its life; 10 seconds by default. */
  readonly margin: Duration.DurationInput
  /** How often one exchange is tried in all, while there is no response or a 5xx; a whole number, 3 by default. */
  readonly attempts: number
  /** The backoff after a first failed exchange, as `backoffAfter` says; 1 second by default. */
  readonly backoffStart: Duration.DurationInput
  /** The longest backoff without a Retry-After, at most an hour; 1 minute by default. */
  readonly backoffCap: Duration.DurationInput
  /** The time in which at most two renewals begin; 15 seconds by default. */
  readonly coolDown: Duration.DurationInput
}

/**
 * The policy where nothing else is said; its durations are spelled with their units.
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

/** The second one is for a revocation right behind another, and for where the first brought a peer's token that is rejected as well. */
const renewalsPerCoolDown = 2

/**
 * A policy that was checked, every duration in milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export type CheckedPolicy =
  & { readonly [Field in keyof RefreshPolicy]: Field extends "background" ? boolean : number }
  & {
    /** How many renewals begin in any `coolDown`, at most: 2; no setting. */
    readonly renewalsPerCoolDown: number
  }

/** In milliseconds. */
const longestRetryAfter = 3_600_000

/**
 * A token's life beyond this counts as this: 365 days, in milliseconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const longestLife = 365 * 86_400_000

/**
 * Fills in the defaults and checks every field: the policy with its durations in milliseconds, or a ConfigurationError, whose
 * `field` is `refresh.` and the name.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (policy: Partial<RefreshPolicy> = {}): Either.Either<CheckedPolicy, ConfigurationError> =>
  Either.gen(function*() {
    const unknown = Object.keys(policy).find((field) => !Object.hasOwn(defaults, field))
    yield* check(`refresh.${unknown}`, [unknown === undefined, "is no field of the policy"])
    const { attempts, background, ...durations } = defaults
    const times = yield* Either.all(
      Record.map(durations, (value, field) => millis(`refresh.${field}`, policy[field] ?? value))
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
      attempts: yield* count("refresh.attempts", policy.attempts ?? attempts),
      ...times,
      renewalsPerCoolDown
    }
  })

/** The longest time that is allowed, or a share of the life where that is shorter. */
const atMost = (longest: number, share: number, { expiresAt, receivedAt }: Lifetime) =>
  Math.max(0, Math.min(longest, Math.round((expiresAt - receivedAt) * share)))

/**
 * How long before its expiry a token of this life is stale, in milliseconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const windowOf = (policy: CheckedPolicy, life: Lifetime): number => atMost(policy.window, 0.1, life)

/**
 * How long before its expiry a token of this life counts as expired, in milliseconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const marginOf = (policy: CheckedPolicy, life: Lifetime): number => atMost(policy.margin, 0.01, life)

/** The longest time between two checks of a token: a suspended machine, or a clock that was set, needs nothing else. @internal */
export const longestPause: Duration.Duration = Duration.minutes(1)

/**
 * How long to wait between two checks of a token of this life: a minute, or a quarter of its window where that is shorter, and
 * 1.25 seconds at least, so that no two checks are less than a second apart once they are jittered. @internal
 */
export const pauseOf = (policy: CheckedPolicy, life: Lifetime): Duration.Duration =>
  Duration.min(longestPause, Duration.millis(Math.max(1_250, windowOf(policy, life) / 4)))

/**
 * The Schedule of the checks of a token: each waits as long as the one before said, give or take a fifth, so that replicas do
 * not check together. @internal
 */
export const checks: Schedule.Schedule<Duration.Duration, Duration.Duration> = Schedule.identity<Duration.Duration>()
  .pipe(Schedule.addDelay((pause) => pause), Schedule.jittered)

/**
 * The waits between the attempts of one exchange: 200 ms, then doubled, give or take a fifth, and one fewer than `attempts`. None is
 * shorter than `atLeast` says for the error, in milliseconds. @internal
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
 * How long exchanges back off after so many failed exchanges in a row, in milliseconds: `backoffStart`, doubled for each further
 * failure up to `backoffCap`, less up to a fifth. A longer Retry-After raises it to what that says, plus up to a tenth, and to an
 * hour at most. `random` is between 0 and 1, `retryAfter` in seconds. A success starts the count anew.
 *
 * @since 1.0.0
 * @category rules
 */
export const backoffAfter = (policy: CheckedPolicy, failures: number, random: number, retryAfter = 0): number =>
  Math.max(
    Math.min(policy.backoffCap, policy.backoffStart * 2 ** Math.min(failures - 1, 52)) * (1 - random / 5),
    Math.min(longestRetryAfter, retryAfter * 1000 * (1 + random / 10))
  )
