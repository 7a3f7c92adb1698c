import * as Either from "effect/Either"
import type { Options } from "../../ai/FoodSearchTool.js"
import { checkValue, parseCount } from "../options/check.js"
import type { Declarations, Parsed } from "../options/declarations.js"

export const declarations = {
  maxResultBytes: { default: 32 * 1024, parse: parseCount },
  fields: { parse: (names, field) => checkValue(names, field, [Array.isArray(names), "must be an array of names"]) },
  note: { parse: Either.right<string> }
} satisfies Declarations<Options>

export type Settings = Parsed<typeof declarations>
