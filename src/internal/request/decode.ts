import type { StandardSchemaV1 } from "@standard-schema/spec"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { UnexpectedResponse } from "../../NutritionAdvisorError.js"
import { isOfAnswer, ofAnswer, type WholeAnswer } from "./wholeAnswer.js"

const overflows = /^(Maximum call stack size exceeded|too much recursion)/

/**
 * What decoding ends in where the payload is nested deeper than the stack, and the schema recursive. Engines name it in different
 * ways, and by its message alone: other RangeErrors are bugs of the schema.
 */
const isStackOverflow = (defect: unknown) =>
  Predicate.isError(defect) && (defect.name === "RangeError" || defect.name === "InternalError") &&
  overflows.test(defect.message)

/** A schema of effect, or of any library that follows Standard Schema. */
export type AnySchema<A, I, R> = Schema.Schema<A, I, R> | StandardSchemaV1<unknown, A>

/** One that also follows Standard Schema counts as one of effect. */
export const isOfEffect = <A, I, R>(schema: AnySchema<A, I, R>): schema is Schema.Schema<A, I, R> =>
  Schema.isSchema(schema)

const refused = Effect.fail("Refused")

const valueOf = <A>(result: StandardSchemaV1.Result<A>) => result.issues ? refused : Effect.succeed(result.value)

/** Whoever validates with a promise may take as long as it likes: who is interrupted does not wait for it. */
const validateWith = <A>(schema: StandardSchemaV1<unknown, A>) => (payload: unknown) => {
  const result = schema["~standard"].validate(payload)
  return Predicate.isPromiseLike(result) ? Effect.flatMap(Effect.promise(() => result), valueOf) : valueOf(result)
}

type Decode<A, R> = (answer: WholeAnswer) => Effect.Effect<A, UnexpectedResponse, R>

const decodeWith =
  <A, R>(decode: (payload: unknown) => Effect.Effect<A, unknown, R>): Decode<A, R> => ({ head, payload }) =>
    Effect.suspend(() => decode(payload)).pipe(
      Effect.catchSomeDefect((defect) => isStackOverflow(defect) ? Option.some(Effect.fail(defect)) : Option.none()),
      Effect.mapError(() => new UnexpectedResponse({ operation: "search", ...head, reason: "Schema" }))
    )

/** Decodes the payload of a search. What the schema refuses is UnexpectedResponse; a bug of the schema's own stays a defect. */
export const makeDecode = <A, I, R>(schema: AnySchema<A, I, R>): Decode<A, R> => {
  if (isOfEffect(schema)) return decodeWith(Schema.decodeUnknown(schema))
  return isOfAnswer(schema)
    ? (answer) => Effect.succeed(schema[ofAnswer](answer))
    : decodeWith(validateWith(schema))
}
