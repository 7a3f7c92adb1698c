/**
 * When a token is renewed: windows, jitter, backoff and cool-down, as numbers and Schedules. No I/O.
 *
 * @since 1.0.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Record from "effect/Record"
import * as Schedule from "effect/Schedule"
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
 * Every number by which tokens are renewed (SERVICE.md section 5, rules 5 to 7). Give `refresh` the fields to change. A duration
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
  /** The largest part of a token's life, between 0 and 1, that the window may take; 0.1 by default. */
  readonly windowFraction: number
  /** The longest time that a token counts as expired before its expiry; 10 seconds by default. */
  readonly margin: Duration.DurationInput
  /** The largest part of a token's life, between 0 and 1, that the margin may take; 0.01 by default. */
  readonly marginFraction: number
  /** The longest sleep of the Schedule before it looks at the wall clock again; 1 minute by default. */
  readonly step: Duration.DurationInput
  /** A token's life beyond this counts as this; 365 days by default. */
  readonly longestLife: Duration.DurationInput
  /** The part of the window, between 0 and 1, to wait after a refresh that brought the same token; 0.1 by default. */
  readonly unchangedFraction: number
  /** How often one exchange is tried in all, while there is no response or a 5xx; a whole number, 3 by default. */
  readonly attempts: number
  /** The wait before the second attempt, doubled for each further one, give or take a fifth; 200 milliseconds by default. */
  readonly attemptDelay: Duration.DurationInput
  /** The backoff after a first failed exchange, less up to a fifth, doubled for each further failure; 1 second by default. */
  readonly backoffStart: Duration.DurationInput
  /** The longest backoff without a Retry-After; 1 minute by default. */
  readonly backoffCap: Duration.DurationInput
  /** The longest backoff with a Retry-After; 1 hour by default. */
  readonly backoffRetryAfterCap: Duration.DurationInput
  /** The cool-down after a first renewal that did not help, doubled for each further one; 5 seconds by default. */
  readonly coolDownStart: Duration.DurationInput
  /** The longest cool-down; 1 minute by default. */
  readonly coolDownCap: Duration.DurationInput
  /**
   * How many rejections in a row of a token that had been accepted mean a revocation, which is renewed even during a cool-down; a
   * whole number, 8 by default.
   */
  readonly revocationRejections: number
  /** The shortest time between two renewals that a revocation causes during a cool-down; 5 seconds by default. */
  readonly revocationInterval: Duration.DurationInput
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
  marginFraction: 0.01,
  step: "1 minute",
  longestLife: "365 days",
  unchangedFraction: 0.1,
  attempts: 3,
  attemptDelay: "200 millis",
  backoffStart: "1 second",
  backoffCap: "1 minute",
  backoffRetryAfterCap: "1 hour",
  coolDownStart: "5 seconds",
  coolDownCap: "1 minute",
  revocationRejections: 8,
  revocationInterval: "5 seconds"
}

type DurationField = {
  [K in keyof RefreshPolicy]: RefreshPolicy[K] extends Duration.DurationInput
    ? Duration.DurationInput extends RefreshPolicy[K] ? K : never
    : never
}[keyof RefreshPolicy]

/**
 * A policy that was checked, every duration in milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export type Timing =
  & { readonly [K in DurationField]: number }
  & Omit<RefreshPolicy, DurationField>

const longestTimer = 2 ** 31 - 1

/** NaN where it is no duration. */
const millisOf = (value: Duration.DurationInput): number =>
  Option.match(Duration.decodeUnknown(value), { onNone: () => Number.NaN, onSome: Duration.toMillis })

const isCount = (value: number) => Number.isInteger(value) && value > 0

type Rule = readonly [field: keyof RefreshPolicy, holds: boolean, rule: string]

/** In the order in which they are checked. */
const rulesOf = (timing: Timing, durations: Readonly<Record<DurationField, number>>): ReadonlyArray<Rule> => [
  ...Record.toEntries(durations).flatMap(([field, millis]): ReadonlyArray<Rule> => [
    [field, !Number.isNaN(millis), "is no duration"],
    [field, Number.isFinite(millis) && millis > 0, "must be above zero, and finite"]
  ]),
  ["windowFraction", timing.windowFraction > 0 && timing.windowFraction < 1, "must be between 0 and 1"],
  [
    "marginFraction",
    timing.marginFraction > 0 && timing.marginFraction < timing.windowFraction,
    "must be between 0 and `windowFraction`"
  ],
  [
    "unchangedFraction",
    timing.unchangedFraction > 0 && timing.unchangedFraction <= 1,
    "must be above 0 and at most 1"
  ],
  ["margin", timing.margin < timing.window, "must be shorter than `window`"],
  ["window", timing.window < timing.longestLife, "must be shorter than `longestLife`"],
  ["step", timing.step <= longestTimer, "must be below 2^31 milliseconds (24.8 days)"],
  ["backoffCap", timing.backoffCap >= timing.backoffStart, "must not be shorter than `backoffStart`"],
  ["backoffRetryAfterCap", timing.backoffRetryAfterCap >= timing.backoffCap, "must not be shorter than `backoffCap`"],
  ["coolDownCap", timing.coolDownCap >= timing.coolDownStart, "must not be shorter than `coolDownStart`"],
  ["attempts", isCount(timing.attempts), "must be a whole number above 0"],
  ["revocationRejections", isCount(timing.revocationRejections), "must be a whole number above 0"]
]

/**
 * Fills in the defaults and checks every number against the others: the policy with its durations in milliseconds, or a
 * ConfigurationError, whose `field` is `refresh.` and the name.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (policy: Partial<RefreshPolicy> = {}): Timing | ConfigurationError => {
  const all = { ...defaults, ...policy }
  const durations = {
    window: millisOf(all.window),
    margin: millisOf(all.margin),
    step: millisOf(all.step),
    longestLife: millisOf(all.longestLife),
    attemptDelay: millisOf(all.attemptDelay),
    backoffStart: millisOf(all.backoffStart),
    backoffCap: millisOf(all.backoffCap),
    backoffRetryAfterCap: millisOf(all.backoffRetryAfterCap),
    coolDownStart: millisOf(all.coolDownStart),
    coolDownCap: millisOf(all.coolDownCap),
    revocationInterval: millisOf(all.revocationInterval)
  }
  const timing: Timing = { ...all, ...durations }
  const broken = rulesOf(timing, durations).find(([, holds]) => !holds)
  if (broken === undefined) return timing
  const [field, , rule] = broken
  return new ConfigurationError({ field: `refresh.${field}`, rule: `\`${field}\` ${rule}` })
}

/**
 * How long before its expiry a token of this life is stale, in milliseconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const windowOf = (timing: Timing, { expiresAt, receivedAt }: Lifetime): number =>
  Math.max(0, Math.min(timing.window, Math.round((expiresAt - receivedAt) * timing.windowFraction)))

/**
 * How long before its expiry a token of this life counts as expired, in milliseconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const marginOf = (timing: Timing, { expiresAt, receivedAt }: Lifetime): number =>
  Math.max(0, Math.min(timing.margin, Math.round((expiresAt - receivedAt) * timing.marginFraction)))

/**
 * The Schedule that refreshes before expiry: it recurs at a random moment in the first half of the window, so that replicas
 * do not wake together, and at once for a token whose window has begun.
 *
 * @since 1.0.0
 * @category schedules
 */
export const beforeExpiry = (timing: Timing): Schedule.Schedule<Lifetime, Lifetime> =>
  Schedule.identity<Lifetime>().pipe(
    Schedule.addDelayEffect((token) =>
      Effect.clockWith((clock) => {
        const window = windowOf(timing, token)
        const wait = token.expiresAt - window - clock.unsafeCurrentTimeMillis()
        return wait <= 0
          ? Effect.succeed(Duration.zero)
          : Effect.map(Random.next, (random) => Duration.millis(wait + random * window / 2))
      })
    )
  )

/**
 * The waits between the attempts of one exchange: exponential, give or take a fifth, and one fewer than `attempts`.
 *
 * @since 1.0.0
 * @category schedules
 */
export const betweenAttempts = (timing: Timing): Schedule.Schedule<unknown> =>
  Schedule.exponential(timing.attemptDelay).pipe(
    Schedule.jittered,
    Schedule.intersect(Schedule.recurs(timing.attempts - 1))
  )

const doubled = (start: number, times: number, cap: number) => Math.min(cap, start * 2 ** Math.min(times, 52))

/**
 * How long exchanges back off after so many failed exchanges in a row, in milliseconds; `random` is between 0 and 1,
 * `retryAfter` in seconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const backoffAfter = (
  timing: Timing,
  failures: number,
  random: number,
  retryAfter: number | undefined
): number =>
  Math.max(
    doubled(timing.backoffStart, failures - 1, timing.backoffCap) * (1 - random / 5),
    retryAfter === undefined ? 0 : Math.min(timing.backoffRetryAfterCap, retryAfter * 1000 * (1 + random / 10))
  )

/**
 * How long renewals rest after so many that did not help, in milliseconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const coolDownAfter = (timing: Timing, unhelpful: number): number =>
  doubled(timing.coolDownStart, unhelpful - 1, timing.coolDownCap)
