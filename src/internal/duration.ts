import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

const isBelowZero = (part: unknown): boolean =>
  typeof part === "string" ? part.trim().startsWith("-") : !(Number(part) >= 0)

/** Duration takes for zero what is below zero, or no number, and adds up the two parts of a pair. */
const hasPartBelowZero = (value: unknown): boolean =>
  !Duration.isDuration(value) && (Array.isArray(value) ? value.some(isBelowZero) : isBelowZero(value))

/** Milliseconds of what a user set. NaN is no duration, minus infinity one that has a part below zero, or one that is no number. */
export const millisOf = (value: unknown): number =>
  Option.match(Duration.decodeUnknown(value), {
    onNone: () => Number.NaN,
    onSome: (duration) => hasPartBelowZero(value) ? Number.NEGATIVE_INFINITY : Duration.toMillis(duration)
  })
