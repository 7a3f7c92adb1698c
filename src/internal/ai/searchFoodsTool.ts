import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { InputSchema, Options } from "../../ai/FoodSearchTool.js"
import { checkValue, parseCount } from "../options/check.js"
import type { Declarations, Parsed } from "../options/declarations.js"

export const searchFoodsTool = {
  name: "search_foods" as const,
  title: "Search foods",
  description:
    "Searches foods by meaning in the Nutrition Advisor service. Use it for every question about foods, their nutrients, " +
    "calories or portions, and to find foods for a need, such as \"low sugar breakfast\". Returns JSON with the matching " +
    "foods, best match first. If there are too many, the field `note` says how many are shown; search again with a " +
    "narrower term.",
  termDescription: "A food, a dish, a brand or a need, in plain words; not blank. One term for each search."
}

export const inputSchema = (): InputSchema => ({
  type: "object",
  properties: { term: { type: "string", description: searchFoodsTool.termDescription } },
  required: ["term"],
  additionalProperties: false
})

export interface Input {
  readonly term: string
}

const isInput = (value: unknown): value is Input =>
  Predicate.hasProperty(value, "term") && Predicate.isString(value.term) && value.term.trim() !== ""

/** Returns the input of a call if it is valid. OpenAI's API passes a JSON string, and some models write an object as a string. */
export const parseInput = (value: unknown): Option.Option<Input> =>
  Option.filter(
    Predicate.isString(value) ? Option.liftThrowable(JSON.parse)(value) : Option.some(value),
    isInput
  )

export const inputMessage =
  "The search was not sent: the input must be an object with one field, `term`, a string that is not blank. " +
  "For example: {\"term\":\"greek yogurt\"}."

export const declarations = {
  maxResultBytes: { default: 32 * 1024, parse: parseCount },
  fields: { parse: (names, field) => checkValue(names, field, [Array.isArray(names), "must be an array of names"]) },
  note: { parse: Either.right<string> }
} satisfies Declarations<Options>

export type Settings = Parsed<typeof declarations>
