import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { ConfigurationError } from "../../NutritionAdvisorError.js"

/** A valid option in the form that the client uses, or the rule that it breaks. */
export type Checked<A> = Either.Either<A, ConfigurationError>

/** Whether a rule holds, and what the error says if it does not. */
export type Rule = readonly [holds: boolean, rule: string]

export const check = (field: string, ...rules: ReadonlyArray<Rule>): Checked<void> => {
  const broken = rules.find(([holds]) => !holds)
  return broken === undefined ? Either.void : Either.left(new ConfigurationError({ field, rule: broken[1] }))
}

export const checkValue = <A>(value: A, field: string, ...rules: ReadonlyArray<Rule>): Checked<A> =>
  Either.map(check(field, ...rules), () => value)

/**
 * Returns a duration in milliseconds, or NaN if the value is not a duration. `Number` returns NaN for a missing environment variable, which
 * Duration itself would convert to zero.
 */
export const toMillis = (value: Duration.DurationInput): number =>
  Number.isNaN(value)
    ? NaN
    : Option.match(Duration.decodeUnknown(value), { onNone: () => NaN, onSome: Duration.toMillis })

/** Parses a duration into milliseconds. It must be short enough for a timer. */
export const parseMillis = (value: Duration.DurationInput, field: string): Checked<number> => {
  const millis = toMillis(value)
  const rule = "must be a duration above zero and below 2^31 milliseconds (24.8 days), such as \"10 seconds\""
  return checkValue(millis, field, [millis > 0 && millis < 2 ** 31, rule])
}

export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value > 0

export const parseCount = (value: number, field: string): Checked<number> =>
  checkValue(value, field, [isCount(value), "must be a whole number above 0"])

/** Duration itself converts negative numbers to zero. */
const isZero = (value: Duration.DurationInput) => toMillis(value) === 0 && !String(value).startsWith("-")

export const parseMillisOrZero = (value: Duration.DurationInput, field: string): Checked<number> =>
  isZero(value) ? Either.right(0) : parseMillis(value, field)
