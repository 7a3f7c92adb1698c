/**
 * The tool `search_foods` for any agent framework: its name, its description, the JSON Schema of its input, and a function that runs it. It
 * doesn't depend on an agent framework, an MCP SDK or Node.
 *
 * @since 1.0.0
 * @module
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { fitResult } from "../internal/ai/fitResult.js"
import { isLibraryError, messageForModel } from "../internal/ai/messageForModel.js"
import { declarations, inputMessage, inputSchema, parseInput, searchFoodsTool } from "../internal/ai/searchFoodsTool.js"
import { parse } from "../internal/options/declarations.js"

/**
 * The client that the tool searches with: one from `effect-nutrition-advisor/promise`, or any object with this `search` function.
 *
 * @since 1.0.0
 * @category models
 */
export interface Advisor {
  readonly search: (term: string, options: { readonly signal: AbortSignal }) => Promise<unknown>
}

/**
 * The options of the tool: the size and the content of its results.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /**
   * The maximum size of a result, in bytes of JSON. A larger payload loses whole elements from the end of its largest array. 32 KiB by
   * default.
   */
  readonly maxResultBytes?: number | undefined
  /** The names of the fields to keep in each food, that is, in the objects in arrays. All fields by default. */
  readonly fields?: ReadonlyArray<string> | undefined
  /** A sentence for the model. It is added to the tool's description, and to each result as the field `note`. None by default. */
  readonly note?: string | undefined
}

/**
 * The JSON Schema of the tool's input. It is a type alias and not readonly, so that it is assignable to the JSON Schema types of agent
 * frameworks.
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
 * The search failed, or its result can't be returned to the model. `message` is written for the model and for the person who set up the
 * tool, and contains no secret. `cause` is the client's error, if there is one.
 *
 * @since 1.0.0
 * @category errors
 */
export class ToolError extends Data.TaggedError("ToolError")<{
  readonly message: string
  readonly cause?: unknown
}> {}

/**
 * The tool as a value, for any agent framework.
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
   * Checks the input, which can be an object or a JSON string. Then searches, and resolves with the payload as a JSON object of at most
   * `maxResultBytes`. A payload that is not an object is returned in the field `result`. Rejects with ToolError. If `signal` aborts,
   * it rejects with the client's error, which is the signal's reason.
   */
  readonly execute: (
    input: unknown,
    options?: { readonly signal?: AbortSignal | null | undefined } | null
  ) => Promise<Readonly<Record<string, unknown>>>
}

const searchWith = async (advisor: Advisor, term: string, signal: AbortSignal): Promise<unknown> => {
  try {
    return await advisor.search(term, { signal })
  } catch (error) {
    throw isLibraryError(error) && !signal.aborted
      ? new ToolError({ message: messageForModel(error), cause: error })
      : error
  }
}

/**
 * Creates the tool from a client. Throws a ConfigurationError if an option is invalid or unknown.
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
  const settings = Either.getOrThrowWith(parse(declarations, options), (error) => error)
  const { note } = settings
  const execute: FoodSearchTool["execute"] = async (input, callOptions) => {
    const { term } = Option.getOrThrowWith(parseInput(input), () => new ToolError({ message: inputMessage }))
    const payload = await searchWith(advisor, term, callOptions?.signal ?? new AbortController().signal)
    return Either.getOrThrowWith(fitResult(payload, settings), (message) => new ToolError({ message }))
  }
  return {
    name: searchFoodsTool.name,
    title: searchFoodsTool.title,
    description: note === undefined ? searchFoodsTool.description : `${searchFoodsTool.description} ${note}`,
    inputSchema: inputSchema(),
    execute
  }
}
