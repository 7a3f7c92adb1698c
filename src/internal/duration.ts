import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/** Duration takes for zero what is below zero, or no number, and adds up the parts of a pair. */
const hasPartBelowZero = (value: unknown): boolean =>
  typeof value === "object" && value !== null
    ? !Duration.isDuration(value) && Object.values(value).some(hasPartBelowZero)
    : typeof value === "string"
    ? value.trim().startsWith("-")
    : !(Number(value) >= 0)

/** Milliseconds of what a user set. NaN is no duration, minus infinity one that has a part below zero, or one that is no number. */
export const millisOf = (value: unknown): number =>
  Option.match(Duration.decodeUnknown(value), {
    onNone: () => Number.NaN,
    onSome: (duration) => hasPartBelowZero(value) ? Number.NEGATIVE_INFINITY : Duration.toMillis(duration)
  })
