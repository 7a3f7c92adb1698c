/**
 * The tool `search_foods` for any agent kit: its name, its description, the JSON Schema of its input, and a function that runs it. Needs no
 * agent kit, no MCP SDK and nothing of Node.
 *
 * @since 1.0.0
 * @module
 */
import * as Data from "effect/Data"
import { isFailure, messageOf } from "../internal/ai/failure.js"
import { fit, type JsonObject } from "../internal/ai/fit.js"
import { descriptionWith, inputMessage, inputSchema, isInput, tool } from "../internal/ai/tool.js"

/**
 * What the tool searches with: a client of `effect-nutrition-advisor/promise`, or any object with such a `search` function.
 *
 * @since 1.0.0
 * @category models
 */
export interface Advisor {
  readonly search: (term: string, options: { readonly signal: AbortSignal }) => Promise<unknown>
}

/**
 * What a result of the tool holds.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The most bytes of JSON in a result; 32 KiB by default. A longer payload is cut at whole elements of an array. */
  readonly maxResultBytes?: number | undefined
  /** The names of the fields to keep of each food, that is, of the objects in arrays; all fields by default. */
  readonly fields?: ReadonlyArray<string> | undefined
  /** A sentence for the model, added to the tool's description and to each result as the field `note`; none by default. */
  readonly note?: string | undefined
}

/**
 * The JSON Schema of the tool's input. It is a type alias and not readonly, so that it is assignable to the types that agent kits have for a
 * JSON Schema.
 *
 * @since 1.0.0
 * @category models
 */
export type InputSchema = {
  type: "object"
  properties: { term: { type: "string"; description: string } }
  required: Array<"term">
  additionalProperties: false
}

/**
 * A search that failed, or a result that can't be given to the model. `message` is written for the model and for the person who set up the
 * tool; it holds no secret. `cause` is the error of the client, if there was one.
 *
 * @since 1.0.0
 * @category errors
 */
export class ToolError extends Data.TaggedError("ToolError")<{
  readonly message: string
  readonly cause?: unknown
}> {}

/**
 * The tool as a value, for any agent kit.
 *
 * @since 1.0.0
 * @category models
 */
export interface FoodSearchTool {
  /** The name of the tool, for the model. */
  readonly name: "search_foods"
  /** The name of the tool, for people. */
  readonly title: string
  /** What the tool is for and what it returns, for the model. */
  readonly description: string
  /** The JSON Schema of the input: an object with the string `term`. */
  readonly inputSchema: InputSchema
  /**
   * Checks the input, searches, and returns the payload as a JSON object of at most `maxResultBytes`. A payload that is not an object is
   * in the field `result`. Rejects with ToolError; if `signal` aborts, with what the client rejects with, which is the signal's reason.
   */
  readonly execute: (
    input: unknown,
    options?: { readonly signal?: AbortSignal | undefined }
  ) => Promise<Readonly<Record<string, unknown>>>
}

const searchWith = async ({ search }: Advisor, term: string, signal: AbortSignal): Promise<unknown> => {
  try {
    return await search(term, { signal })
  } catch (error) {
    throw isFailure(error) && !signal.aborted ? new ToolError({ message: messageOf(error), cause: error }) : error
  }
}

/**
 * Makes the tool over a client.
 *
 * @example
 * ```ts
 * import * as FoodSearchTool from "effect-nutrition-advisor/ai/FoodSearchTool"
 * import { createClient } from "effect-nutrition-advisor/promise"
 *
 * const foods = FoodSearchTool.make(createClient(), { fields: ["name", "per100g"] })
 *
 * console.log(foods.name, foods.inputSchema, await foods.execute({ term: "greek yogurt" }))
 * ```
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (advisor: Advisor, options: Options = {}): FoodSearchTool => {
  const execute = async (
    input: unknown,
    { signal = new AbortController().signal }: { readonly signal?: AbortSignal | undefined } = {}
  ): Promise<JsonObject> => {
    if (!isInput(input)) throw new ToolError({ message: inputMessage })
    const result = fit(await searchWith(advisor, input.term, signal), options)
    if (typeof result === "string") throw new ToolError({ message: result })
    return result
  }
  return {
    name: tool.name,
    title: tool.title,
    description: descriptionWith(options.note),
    inputSchema: inputSchema(),
    execute
  }
}
