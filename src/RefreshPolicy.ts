/**
 * The refresh options: when a token is refreshed, how long exchanges back off, and how often a token is renewed. This module does no I/O.
 *
 * @since 1.0.0
 * @module
 */
import type * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Record from "effect/Record"
import { maxRetryAfterMillis } from "./internal/errors/retry.js"
import { check, parseCount, parseMillis } from "./internal/options/check.js"
import { type Declarations, parse } from "./internal/options/declarations.js"
import type { ConfigurationError } from "./NutritionAdvisorError.js"

/**
 * The refresh options of a client (SERVICE.md section 5, rules 5 to 7). Pass the fields that you want to change as `refresh`. Durations
 * that are numbers are in milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export interface RefreshPolicy {
  /**
   * Whether the client also refreshes the token while there are no calls. If not, only calls start a refresh. A Schedule determines when
   * the client checks the token. `true` by default.
   */
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
 * The refresh options. A field that is missing or undefined has its default.
 *
 * @since 1.0.0
 * @category models
 */
export type Options = { readonly [Field in keyof RefreshPolicy]?: RefreshPolicy[Field] | undefined }

/** @internal */
export const declarations = {
  background: { default: true, parse: Either.right<boolean> },
  window: { default: "5 minutes", parse: parseMillis },
  margin: { default: "10 seconds", parse: parseMillis },
  attempts: { default: 3, parse: parseCount },
  backoffStart: { default: "1 second", parse: parseMillis },
  backoffCap: { default: "1 minute", parse: parseMillis },
  coolDown: { default: "15 seconds", parse: parseMillis }
} satisfies Declarations<Options>

/**
 * The default policy. Its durations are strings with a unit.
 *
 * @since 1.0.0
 * @category constructors
 */
export const defaults = Record.map(declarations, (declaration) => declaration.default) as RefreshPolicy

/**
 * A validated policy, with every duration in milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export type CheckedPolicy = {
  readonly [Field in keyof RefreshPolicy]: RefreshPolicy[Field] extends boolean ? boolean : number
}

/**
 * Adds the defaults, validates every field, and converts durations to milliseconds. If a field is invalid or unknown, the result is a
 * `ConfigurationError` whose `field` is `refresh.` plus the name.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (policy: Options = {}): Either.Either<CheckedPolicy, ConfigurationError> =>
  Either.gen(function*() {
    const checked = yield* parse(declarations, policy, { prefix: "refresh." })
    const { backoffCap, backoffStart, margin, window } = checked
    yield* check("refresh.margin", [margin < window, "must be shorter than `window`"])
    yield* check(
      "refresh.backoffCap",
      [backoffCap >= backoffStart, "must not be shorter than `backoffStart`"],
      [backoffCap <= maxRetryAfterMillis, "must not be longer than an hour"]
    )
    return checked
  })
