import type { StandardSchemaV1 } from "@standard-schema/spec"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import { type AnySchema, makeDecode } from "./decode.js"
import { type WholeAnswer, withoutAnswer } from "./wholeAnswer.js"

type Search<A, R, Options> = (term: string, options?: Options) => Effect.Effect<A, NutritionAdvisorError, R>

/** Gives a function of either kind of schema the types of both. One of effect that also follows Standard Schema counts as one of effect. */
export const forAnySchema = <Options, Client = never>(
  searchWith: <A, I, R>(schema: AnySchema<A, I, R>) => Search<A, R | Client, Options>
) => {
  function searchAs<A, I, R>(schema: Schema.Schema<A, I, R>): Search<A, R | Client, Options>
  function searchAs<S extends StandardSchemaV1>(
    schema: S
  ): Search<StandardSchemaV1.InferOutput<S>, Client, Options>
  function searchAs<A, I, R>(schema: AnySchema<A, I, R>) {
    return searchWith(schema)
  }
  return searchAs
}

/** A `searchAs` that decodes the answers that `ask` gives. */
export const searchAsOfAnswers = <Options>(ask: Search<WholeAnswer, never, Options>) =>
  forAnySchema<Options>((schema) => {
    const decode = makeDecode(schema)
    return (term, options) => Effect.flatMap(ask(term, options), (answer) => decode(answer))
  })

/** A `searchAs` that decodes what `search` gives. */
export const searchAsOf = <Options>(search: Search<unknown, never, Options>) =>
  searchAsOfAnswers<Options>((term, options) => Effect.map(search(term, options), withoutAnswer))
