import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { ConfigurationError } from "../NutritionAdvisorError.js"

/** A setting as the client uses it, or the rule that it broke. */
export type Checked<A> = Either.Either<A, ConfigurationError>

/** Ends in the first rule that does not hold. */
export const check = (
  field: string,
  ...rules: ReadonlyArray<readonly [holds: boolean, rule: string]>
): Checked<void> => {
  const broken = rules.find(([holds]) => !holds)
  return broken === undefined ? Either.void : Either.left(new ConfigurationError({ field, rule: broken[1] }))
}

/** Refuses the first option whose name is none of these: it may be misspelled. */
export const known = (options: object, names: ReadonlyArray<string>, prefix = ""): Checked<void> => {
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  return check(`${prefix}${unknown}`, [unknown === undefined, "is not an option: check its spelling"])
}

/** The names of all options of an interface: the compiler asks for those that are missing. */
export const namesOf = <O extends object>(names: { readonly [Name in keyof O]-?: true }): ReadonlyArray<string> =>
  Object.keys(names)

/** NaN of what is no duration. */
export const toMillis = (value: Duration.DurationInput): number =>
  Option.match(Duration.decodeUnknown(value), { onNone: () => Number.NaN, onSome: Duration.toMillis })

/** Milliseconds of a duration that a timer of Node can wait for. */
export const millis = (field: string, value: Duration.DurationInput): Checked<number> => {
  const millis = toMillis(value)
  const rule = "must be a duration above zero and below 2^31 milliseconds (24.8 days)"
  return Either.map(check(field, [millis > 0 && millis < 2 ** 31, rule]), () => millis)
}

/** A number of things or bytes. */
export const count = (field: string, value: number): Checked<number> =>
  Either.map(check(field, [Number.isSafeInteger(value) && value > 0, "must be a whole number above 0"]), () => value)

/** Duration takes what is below zero, or no number, for zero. */
const isZero = (value: Duration.DurationInput) =>
  Option.exists(Duration.decodeUnknown(value), Duration.isZero) && !/^-|NaN/.test(String(value))

/** Milliseconds of a pause, which may also be none. */
export const pause = (field: string, value: Duration.DurationInput): Checked<number> =>
  isZero(value) ? Either.right(0) : millis(field, value)
