/**
 * When a token is renewed: windows, jitter, backoff and cool-down, as numbers and Schedules. No I/O.
 *
 * @since 1.0.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import { millisOf } from "./internal/duration.js"
import { ConfigurationError } from "./NutritionAdvisorError.js"

/**
 * The two ends of a token's life, in epoch milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export interface Lifetime {
  /** When the answer with the token was received. */
  readonly receivedAt: number
  /** When the service stops to accept the token. */
  readonly expiresAt: number
}

/**
 * The numbers by which tokens are renewed (SERVICE.md section 5, rules 5 to 7). Give `refresh` the fields to change. A duration
 * that is a number is milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export interface RefreshPolicy {
  /** Whether a Schedule refreshes before expiry; true by default. Without it, callers who find a stale token start the refresh. */
  readonly background: boolean
  /** Replaces the built-in Schedule; none by default. Each recurrence is an exchange, whatever the state of the token. */
  readonly schedule: Schedule.Schedule<unknown, Lifetime> | undefined
  /** The longest time that a token is stale: used, while one refresh runs; 5 minutes by default. */
  readonly window: Duration.DurationInput
  /** The largest part of a token's life, between 0.01 and 1, that the window may take; 0.1 by default. */
  readonly windowFraction: number
  /** The longest time that a token counts as expired before its expiry, at most a hundredth of its life; 10 seconds by default. */
  readonly margin: Duration.DurationInput
  /** How often one exchange is tried in all, while there is no response or a 5xx; a whole number, 3 by default. */
  readonly attempts: number
  /** The backoff after a first failed exchange, as `backoffAfter` says; 1 second by default. */
  readonly backoffStart: Duration.DurationInput
  /** The longest backoff without a Retry-After, at most an hour; 1 minute by default. */
  readonly backoffCap: Duration.DurationInput
  /** The first cool-down of renewals, as `coolDownAfter` says; 5 seconds by default. */
  readonly coolDownStart: Duration.DurationInput
  /** The longest cool-down; 1 minute by default. */
  readonly coolDownCap: Duration.DurationInput
}

/**
 * The policy where nothing else is said; its durations are spelled with their units.
 *
 * @since 1.0.0
 * @category constructors
 */
export const defaults: RefreshPolicy = {
  background: true,
  schedule: undefined,
  window: "5 minutes",
  windowFraction: 0.1,
  margin: "10 seconds",
  attempts: 3,
  backoffStart: "1 second",
  backoffCap: "1 minute",
  coolDownStart: "5 seconds",
  coolDownCap: "1 minute"
}

/**
 * A token's life beyond this counts as this: 365 days, in milliseconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const longestLife = 365 * 86_400_000

const marginFraction = 0.01

const attemptDelay = "200 millis"

/** In milliseconds. */
const longestRetryAfter = 3_600_000

const fieldNames = Object.keys(defaults).join(", ")

const durationFields = ["window", "margin", "backoffStart", "backoffCap", "coolDownStart", "coolDownCap"] as const

type DurationField = (typeof durationFields)[number]

/**
 * A policy that was checked, every duration in milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export type CheckedPolicy = Omit<RefreshPolicy, DurationField> & { readonly [K in DurationField]: number }

type Rule = readonly [field: keyof RefreshPolicy, holds: boolean, rule: string]

/** In the order in which they are checked. */
const rulesOf = (policy: CheckedPolicy): ReadonlyArray<Rule> => [
  ...durationFields.flatMap((field): ReadonlyArray<Rule> => [
    [field, !Number.isNaN(policy[field]), "is no duration"],
    [field, Number.isFinite(policy[field]) && policy[field] > 0, "must be above zero, and finite"]
  ]),
  [
    "windowFraction",
    policy.windowFraction > marginFraction && policy.windowFraction < 1,
    `must be between ${marginFraction} and 1`
  ],
  ["margin", policy.margin < policy.window, "must be shorter than `window`"],
  ["window", policy.window < longestLife, "must be shorter than 365 days"],
  ["backoffCap", policy.backoffCap >= policy.backoffStart, "must not be shorter than `backoffStart`"],
  ["backoffCap", policy.backoffCap <= longestRetryAfter, "must not be longer than an hour"],
  ["coolDownCap", policy.coolDownCap >= policy.coolDownStart, "must not be shorter than `coolDownStart`"],
  ["attempts", Number.isInteger(policy.attempts) && policy.attempts > 0, "must be a whole number above 0"]
]

const refused = (field: string, rule: string) =>
  Either.left(new ConfigurationError({ field: `refresh.${field}`, rule: `\`${field}\` ${rule}` }))

/**
 * Fills in the defaults and checks every field: the policy with its durations in milliseconds, or a ConfigurationError, whose
 * `field` is `refresh.` and the name. A field that a policy does not have is one, too.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (policy: Partial<RefreshPolicy> = {}): Either.Either<CheckedPolicy, ConfigurationError> => {
  const unknown = Object.keys({ ...policy }).find((field) => !Object.hasOwn(defaults, field))
  if (unknown !== undefined) return refused(unknown, `is no field of a RefreshPolicy: those are ${fieldNames}`)
  const all = { ...defaults, ...policy }
  const checked: CheckedPolicy = {
    ...all,
    window: millisOf(all.window),
    margin: millisOf(all.margin),
    backoffStart: millisOf(all.backoffStart),
    backoffCap: millisOf(all.backoffCap),
    coolDownStart: millisOf(all.coolDownStart),
    coolDownCap: millisOf(all.coolDownCap)
  }
  const [field, , rule] = rulesOf(checked).find(([, holds]) => !holds) ?? []
  return field === undefined || rule === undefined ? Either.right(checked) : refused(field, rule)
}

/**
 * How long before its expiry a token of this life is stale, in milliseconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const windowOf = (policy: CheckedPolicy, { expiresAt, receivedAt }: Lifetime): number =>
  Math.max(0, Math.min(policy.window, Math.round((expiresAt - receivedAt) * policy.windowFraction)))

/**
 * How long before its expiry a token of this life counts as expired, in milliseconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const marginOf = (policy: CheckedPolicy, { expiresAt, receivedAt }: Lifetime): number =>
  Math.max(0, Math.min(policy.margin, Math.round((expiresAt - receivedAt) * marginFraction)))

/**
 * The Schedule that refreshes before expiry: it recurs at a random moment in the first half of the window, so that replicas
 * do not wake together, and at once for a token whose window has begun.
 *
 * @since 1.0.0
 * @category schedules
 */
export const beforeExpiry = (policy: CheckedPolicy): Schedule.Schedule<Lifetime, Lifetime> =>
  Schedule.identity<Lifetime>().pipe(
    Schedule.addDelayEffect((token) =>
      Effect.clockWith((clock) => {
        const window = windowOf(policy, token)
        const wait = token.expiresAt - window - clock.unsafeCurrentTimeMillis()
        return wait <= 0
          ? Effect.succeed(Duration.zero)
          : Effect.map(Random.next, (random) => Duration.millis(wait + random * window / 2))
      })
    )
  )

/**
 * The waits between the attempts of one exchange: 200 ms, then doubled, give or take a fifth, and one fewer than `attempts`. None is
 * shorter than `atLeast` says for the error, in milliseconds.
 *
 * @since 1.0.0
 * @category schedules
 */
export const betweenAttempts = <E>(
  policy: CheckedPolicy,
  atLeast: (error: E) => number
): Schedule.Schedule<unknown, E> =>
  Schedule.exponential(attemptDelay).pipe(
    Schedule.jittered,
    Schedule.intersect(Schedule.recurs(policy.attempts - 1)),
    Schedule.intersect(Schedule.identity<E>()),
    Schedule.modifyDelay(([, error], delay) => Duration.max(delay, Duration.millis(atLeast(error))))
  )

const doubled = (start: number, times: number, cap: number) => Math.min(cap, start * 2 ** Math.min(times, 52))

/**
 * How long exchanges back off after so many failed exchanges in a row, in milliseconds: `backoffStart`, doubled for each further
 * failure up to `backoffCap`, less up to a fifth. A longer Retry-After raises it to what that says, plus up to a tenth, and to an
 * hour at most. `random` is between 0 and 1, `retryAfter` in seconds. A success starts the count anew.
 *
 * @since 1.0.0
 * @category rules
 */
export const backoffAfter = (
  policy: CheckedPolicy,
  failures: number,
  random: number,
  retryAfter: number | undefined
): number =>
  Math.max(
    doubled(policy.backoffStart, failures - 1, policy.backoffCap) * (1 - random / 5),
    retryAfter === undefined ? 0 : Math.min(longestRetryAfter, retryAfter * 1000 * (1 + random / 10))
  )

/**
 * How long renewals cool down after `unhelpful` ones in a row that did not help, in milliseconds: `coolDownStart`, doubled for each
 * further one up to `coolDownCap`. A renewal that helps starts the count anew.
 *
 * @since 1.0.0
 * @category rules
 */
export const coolDownAfter = (policy: CheckedPolicy, unhelpful: number): number =>
  doubled(policy.coolDownStart, unhelpful - 1, policy.coolDownCap)
