import type { StandardSchemaV1 } from "@standard-schema/spec"
import { identity } from "effect/Function"
import * as Predicate from "effect/Predicate"
import type { Head } from "../http/response.js"

/** What a search found, and the head of the answer that brought it. */
export interface WholeAnswer {
  readonly payload: unknown
  readonly head: Head
}

/** A payload of which the answer is not known, as a memory or a double gives it. */
export const withoutAnswer = (payload: unknown): WholeAnswer => ({ payload, head: { status: 200 } })

export const ofAnswer: unique symbol = Symbol("effect-nutrition-advisor/ofAnswer")

interface AnswerSchema<A> extends StandardSchemaV1<unknown, A> {
  readonly [ofAnswer]: (answer: WholeAnswer) => A
}

export const isOfAnswer = <A>(schema: StandardSchemaV1<unknown, A>): schema is AnswerSchema<A> =>
  Predicate.hasProperty(schema, ofAnswer)

/**
 * The schema with which a layer asks the service below for a whole answer, so that it can decode the payload itself. A service that is
 * not of this library knows nothing of it, and validates the payload.
 */
export const wholeAnswer: AnswerSchema<WholeAnswer> = {
  "~standard": {
    version: 1,
    vendor: "effect-nutrition-advisor",
    validate: (payload) => ({ value: withoutAnswer(payload) })
  },
  [ofAnswer]: identity
}
