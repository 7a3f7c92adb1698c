import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { UnexpectedResponse } from "../../NutritionAdvisorError.js"

const overflows = /^(Maximum call stack size exceeded|too much recursion)/

/**
 * What decoding ends in where the payload is nested deeper than the stack, and the schema recursive. Engines name it in different
 * ways, and by its message alone: other RangeErrors are bugs of the schema.
 */
const isStackOverflow = (defect: unknown) =>
  Predicate.isError(defect) && (defect.name === "RangeError" || defect.name === "InternalError") &&
  overflows.test(defect.message)

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Decodes the payload of a search. What the schema refuses is UnexpectedResponse; a bug of the schema's own stays a defect. */
export const makeDecode = <A, I, R>(schema: Schema.Schema<A, I, R>) => {
  const decode = Schema.decodeUnknown(schema)
  return (payload: unknown, answer: Answer = { status: 200 }): Effect.Effect<A, UnexpectedResponse, R> =>
    Effect.suspend(() => decode(payload)).pipe(
      Effect.catchSomeDefect((defect) => isStackOverflow(defect) ? Option.some(Effect.fail(defect)) : Option.none()),
      Effect.mapError(() => new UnexpectedResponse({ operation: "search", ...answer, reason: "Schema" }))
    )
}
