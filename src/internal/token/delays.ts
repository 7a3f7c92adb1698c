import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { type AccessToken, windowOf } from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type { CheckedPolicy } from "../../RefreshPolicy.js"
import { maxRetryAfterMillis, retryAfterMillis } from "../errors/retry.js"

/**
 * The longest time between two checks of a token, in milliseconds. It is short, so that a check soon follows a suspension or a change of
 * the clock.
 */
export const maxPause = 60_000

/**
 * The time between two checks of a token, in milliseconds: a minute, or a quarter of its window if that is shorter. It is never below
 * 1.25 seconds, so that jittered checks are at least a second apart.
 */
export const pauseOf = (token: AccessToken, policy: CheckedPolicy): number =>
  Math.min(maxPause, Math.max(1_250, windowOf(token, policy) / 4))

/**
 * The Schedule of the background refresh. Its input is the pause until the next check, in milliseconds. Its output is the delay until then:
 * the pause, jittered by up to 20% in both directions, so that replicas don't check at the same time.
 */
const checkSchedule: Schedule.Schedule<number, number> = Schedule.identity<number>().pipe(
  Schedule.addDelay(Duration.millis),
  Schedule.jittered,
  Schedule.delays,
  Schedule.map(Duration.toMillis)
)

/** Returns the delay until the next check, in milliseconds. It is the same at any time, so the Schedule runs at zero. */
export const untilNextCheck = (pause: number): Effect.Effect<number> =>
  Effect.map(Schedule.run(checkSchedule, 0, [pause]), Chunk.unsafeHead)

/**
 * The delays between the attempts of one exchange: 200 ms, doubled each time, and jittered by up to 20% in both directions. They are never
 * shorter than the error's `retryAfter`.
 */
export const betweenAttempts = (policy: CheckedPolicy): Schedule.Schedule<unknown, TokenError> =>
  Schedule.exponential("200 millis").pipe(
    Schedule.jittered,
    Schedule.intersect(Schedule.recurs(policy.attempts - 1)),
    Schedule.intersect(Schedule.identity<TokenError>()),
    Schedule.modifyDelay(([, error], delay) => Duration.max(delay, Duration.millis(retryAfterMillis(error))))
  )

/**
 * Returns the backoff in milliseconds after a number of consecutive failed exchanges. It is `backoffStart`, doubled for each further
 * failure up to `backoffCap`, minus up to 20% of jitter. A longer `Retry-After`, also in milliseconds, replaces it, plus up to 10% of
 * jitter, up to an hour. `random` is between 0 and 1.
 */
export const backoffAfter = (policy: CheckedPolicy, failures: number, random: number, retryAfter = 0): number =>
  Math.max(
    Math.min(policy.backoffCap, policy.backoffStart * 2 ** (failures - 1)) * (1 - random / 5),
    Math.min(maxRetryAfterMillis, retryAfter * (1 + random / 10))
  )
