/**
 * The tool `search_foods` for a server of the official MCP SDK, `@modelcontextprotocol/server`.
 *
 * @since 1.0.0
 */
import type { McpServer, RegisteredTool, StandardSchemaWithJSON } from "@modelcontextprotocol/server"
import * as Predicate from "effect/Predicate"
import { fit } from "../internal/ai/fit.js"
import { maxResultBytes, tool } from "../internal/ai/tool.js"

/**
 * What searches: a client of `effect-nutrition-advisor/promise`, or anything with such a `search`.
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
  /** The most bytes of JSON in a result; 32 KiB by default. */
  readonly maxResultBytes?: number | undefined
  /** Stands in the description of the tool and in the field `note` of each result; none by default. */
  readonly note?: string | undefined
}

type Input = { readonly term: string }

const isInput = (value: unknown): value is Input =>
  Predicate.hasProperty(value, "term") && Predicate.isString(value.term)

const jsonSchema = () => ({
  type: "object",
  properties: { term: { type: "string", description: tool.term } },
  required: ["term"],
  additionalProperties: false
})

/** By hand, so that nothing of the SDK is loaded here: who uses the tool of `@effect/ai` alone has no SDK. */
const inputSchema: StandardSchemaWithJSON<Input> = {
  "~standard": {
    version: 1,
    vendor: "effect-nutrition-advisor",
    validate: (value) =>
      isInput(value) ? { value } : { issues: [{ message: "it takes an object with one field: `term`, a text" }] },
    jsonSchema: { input: jsonSchema, output: jsonSchema }
  }
}

/**
 * Gives a server the tool `search_foods`, read-only and idempotent. A result is JSON; a search that fails is a tool error with the
 * message of the error. A call that the client cancels aborts its search.
 *
 * @example
 * ```ts
 * import { McpServer } from "@modelcontextprotocol/server"
 * import { NutritionAdvisorMcp } from "effect-nutrition-advisor/ai"
 * import { createClient } from "effect-nutrition-advisor/promise"
 *
 * const server = new McpServer({ name: "kitchen", version: "1.0.0" })
 * NutritionAdvisorMcp.register(server, createClient())
 * ```
 *
 * @since 1.0.0
 * @category constructors
 */
export const register = (server: McpServer, advisor: Advisor, options: Options = {}): RegisteredTool => {
  const { note } = options
  const maxBytes = options.maxResultBytes ?? maxResultBytes
  return server.registerTool(tool.name, {
    title: tool.title,
    description: note === undefined ? tool.description : `${tool.description} ${note}`,
    inputSchema,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true }
  }, async ({ term }, { mcpReq: { signal } }) => {
    const result = fit(await advisor.search(term, { signal }), maxBytes, note)
    const text = typeof result === "string" ? result : JSON.stringify(result)
    return { content: [{ type: "text", text }], isError: typeof result === "string" }
  })
}
