import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { ConfigurationError } from "../../NutritionAdvisorError.js"
import { millisOf } from "../duration.js"
import { count as countAboveZero, orFail, timeout } from "../settings.js"

type Checked<A> = Effect.Effect<A, ConfigurationError>

const accept = <A>(field: string, value: A, holds: boolean, rule: string): Checked<A> =>
  holds ? Effect.succeed(value) : Effect.fail(new ConfigurationError({ field, rule }))

/** Milliseconds of a duration within these bounds. */
const millis = (least: number, below: number, rule: string) => (field: string, value: unknown): Checked<number> => {
  const decoded = millisOf(value)
  const isWithin = decoded >= least && (decoded < below || below === Number.POSITIVE_INFINITY)
  return accept(field, decoded, isWithin, `must be a duration${rule}; a number is milliseconds`)
}

/** A time to wait; zero is none, and a timer of Node can wait no longer. */
export const pause = millis(0, 2 ** 31, ", zero or above and below 24.8 days, such as \"5 seconds\"")

/** The stretch of time in milliseconds, above zero, over which a rate holds. */
export const interval = (value: Duration.DurationInput): Checked<number> =>
  Effect.map(orFail(timeout("rate.interval", value)), Duration.toMillis)

/** An age; no timer waits for it. */
export const age = millis(0, Number.POSITIVE_INFINITY, ", zero or above, such as \"1 hour\"")

export const ageAboveZero = millis(Number.MIN_VALUE, Number.POSITIVE_INFINITY, " above zero, such as \"10 minutes\"")

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
