import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import { ConfigurationError } from "../../NutritionAdvisorError.js"
import { count as countAboveZero, orFail, timeout } from "../settings.js"

type Checked<A> = Effect.Effect<A, ConfigurationError>

const accept = <A>(field: string, value: A, holds: boolean, rule: string): Checked<A> =>
  holds ? Effect.succeed(value) : new ConfigurationError({ field, rule })

/** Duration takes these for zero. */
const isBelowZero = (value: unknown) =>
  typeof value === "string" ? value.trim().startsWith("-") : Number.isNaN(value) || Number(value) < 0

const millis = (field: string, value: unknown, holds: (millis: number) => boolean, rule: string): Checked<number> =>
  Option.match(Duration.decodeUnknown(value), {
    onNone: () => new ConfigurationError({ field, rule }),
    onSome: (duration) => {
      const decoded = Duration.toMillis(duration)
      return accept(field, decoded, !isBelowZero(Duration.isDuration(value) ? 0 : value) && holds(decoded), rule)
    }
  })

/** A time to wait in milliseconds; zero is none, and a timer of Node can wait no longer. */
export const pause = (field: string, value: Duration.DurationInput): Checked<number> =>
  millis(
    field,
    value,
    (millis) => millis < 2 ** 31,
    "must be a duration, zero or above and below 24.8 days, such as \"5 seconds\"; a number is milliseconds"
  )

/** The stretch of time in milliseconds, above zero, over which a rate holds. */
export const interval = (value: Duration.DurationInput): Checked<number> =>
  Effect.map(orFail(timeout("rate.interval", value)), Duration.toMillis)

/** An age in milliseconds; no timer waits for it. */
export const age = (field: string, value: Duration.DurationInput): Checked<number> =>
  millis(field, value, constTrue, "must be a duration, zero or above, such as \"1 hour\"; a number is milliseconds")

/** An age in milliseconds, above zero. */
export const ageAboveZero = (field: string, value: Duration.DurationInput): Checked<number> =>
  millis(
    field,
    value,
    (millis) => millis > 0,
    "must be a duration above zero, such as \"10 minutes\"; a number is milliseconds"
  )

export const count = (field: string, value: number): Checked<number> =>
  accept(field, value, Number.isSafeInteger(value) && value >= 0, "must be a whole number, zero or above")

export const positive = (field: string, value: number): Checked<number> => orFail(countAboveZero(field, value))

export const share = (field: string, value: number): Checked<number> =>
  accept(
    field,
    value,
    Number.isFinite(value) && value >= 0,
    "must be a number, zero or above: 0.2 is one repeat for five requests"
  )

export const oneOf = <A extends string>(field: string, value: A, known: ReadonlyArray<A>): Checked<A> =>
  accept(field, value, known.includes(value), `must be one of ${known.join(", ")}`)
