/**
 * When a token is renewed: windows, jitter, gates and cool-downs, as numbers and Schedules. No I/O.
 *
 * @since 1.0.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Random from "effect/Random"
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
 * Every number by which tokens are renewed (SERVICE.md section 5, rules 5 to 7). The defaults are in {@link defaults}; give
 * `refresh` the fields to change.
 *
 * @since 1.0.0
 * @category models
 */
export interface RefreshPolicy {
  /** Whether a Schedule refreshes before expiry. Without it, callers who meet a stale token start the refresh. */
  readonly background: boolean
  /** Replaces the built-in Schedule: each recurrence exchanges the key for a new token, whatever the state of the old one. */
  readonly schedule: Schedule.Schedule<unknown, Lifetime> | undefined
  /** The longest a token is stale before its expiry: used, while one refresh runs. */
  readonly window: Duration.DurationInput
  /** The largest part of a token's life, between 0 and 1, that the window may take. */
  readonly windowFraction: number
  /** The longest a token counts as expired before its expiry. */
  readonly margin: Duration.DurationInput
  /** The largest part of a token's life, between 0 and 1, that the margin may take. */
  readonly marginFraction: number
  /** The longest sleep of the Schedule before it looks at the wall clock again. */
  readonly step: Duration.DurationInput
  /** A life beyond this counts as this. */
  readonly longestLife: Duration.DurationInput
  /** The part of the window to wait, between 0 and 1, after an exchange handed back the very token that is stale. */
  readonly unchangedFraction: number
  /** How often one exchange is tried in all, while there is no answer or a 5xx; a whole number. */
  readonly attempts: number
  /** The wait before the second attempt, doubled for each further one, give or take a fifth. */
  readonly attemptDelay: Duration.DurationInput
  /** How long the gate stands after the first failed exchange, less up to a fifth; doubled for each further failure. */
  readonly gateStart: Duration.DurationInput
  /** The longest that failures alone keep the gate standing. */
  readonly gateCap: Duration.DurationInput
  /** The longest that a Retry-After keeps the gate standing. */
  readonly gateRetryAfterCap: Duration.DurationInput
  /** How long renewals rest after the first one that did not help; doubled for each further one. */
  readonly coolDownStart: Duration.DurationInput
  /** The longest that renewals rest. */
  readonly coolDownCap: Duration.DurationInput
  /** How many rejections in a row of a token that had been accepted end a cool-down early. */
  readonly revocationRejections: number
  /** The least time between two cool-downs that were ended early. */
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
  gateStart: "1 second",
  gateCap: "1 minute",
  gateRetryAfterCap: "1 hour",
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

/**
 * Fills in the defaults and checks every number against the others. Ends in ConfigurationError, whose `field` is `refresh.` and
 * the name.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (policy: Partial<RefreshPolicy> = {}): Either.Either<Timing, ConfigurationError> =>
  Either.gen(function*() {
    const all = { ...defaults, ...policy }
    const check = (field: keyof RefreshPolicy, holds: boolean) =>
      holds ? Either.void : Either.left(new ConfigurationError({ field: `refresh.${field}` }))
    const millis = (field: DurationField) =>
      Either.filterOrLeft(
        Either.fromOption(Duration.decodeUnknown(all[field]), () => undefined).pipe(
          Either.map(Duration.toMillis),
          Either.mapLeft(() => new ConfigurationError({ field: `refresh.${field}` }))
        ),
        (value) => Number.isFinite(value) && value > 0,
        () => new ConfigurationError({ field: `refresh.${field}` })
      )
    const timing: Timing = {
      ...all,
      window: yield* millis("window"),
      margin: yield* millis("margin"),
      step: yield* millis("step"),
      longestLife: yield* millis("longestLife"),
      attemptDelay: yield* millis("attemptDelay"),
      gateStart: yield* millis("gateStart"),
      gateCap: yield* millis("gateCap"),
      gateRetryAfterCap: yield* millis("gateRetryAfterCap"),
      coolDownStart: yield* millis("coolDownStart"),
      coolDownCap: yield* millis("coolDownCap"),
      revocationInterval: yield* millis("revocationInterval")
    }
    yield* check("windowFraction", timing.windowFraction > 0 && timing.windowFraction < 1)
    yield* check("marginFraction", timing.marginFraction > 0 && timing.marginFraction < timing.windowFraction)
    yield* check("unchangedFraction", timing.unchangedFraction > 0 && timing.unchangedFraction <= 1)
    yield* check("margin", timing.margin < timing.window)
    yield* check("window", timing.window < timing.longestLife)
    yield* check("step", timing.step <= longestTimer)
    yield* check("gateCap", timing.gateCap >= timing.gateStart)
    yield* check("gateRetryAfterCap", timing.gateRetryAfterCap >= timing.gateCap)
    yield* check("coolDownCap", timing.coolDownCap >= timing.coolDownStart)
    yield* check("attempts", Number.isInteger(timing.attempts) && timing.attempts > 0)
    yield* check(
      "revocationRejections",
      Number.isInteger(timing.revocationRejections) && timing.revocationRejections > 0
    )
    return timing
  })

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
 * How long the gate stands after so many failed exchanges in a row, in milliseconds; `random` is between 0 and 1,
 * `retryAfter` in seconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const gateAfter = (
  timing: Timing,
  failures: number,
  random: number,
  retryAfter: number | undefined
): number =>
  Math.max(
    doubled(timing.gateStart, failures - 1, timing.gateCap) * (1 - random / 5),
    retryAfter === undefined ? 0 : Math.min(timing.gateRetryAfterCap, retryAfter * 1000 * (1 + random / 10))
  )

/**
 * How long renewals rest after so many that did not help, in milliseconds.
 *
 * @since 1.0.0
 * @category rules
 */
export const coolDownAfter = (timing: Timing, unhelpful: number): number =>
  doubled(timing.coolDownStart, unhelpful - 1, timing.coolDownCap)
