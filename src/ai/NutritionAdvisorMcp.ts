/**
 * The tool `search_foods` for servers built with the official MCP SDK, `@modelcontextprotocol/server`.
 *
 * @since 1.0.0
 * @module
 */
import type { McpServer, RegisteredTool, StandardSchemaWithJSON } from "@modelcontextprotocol/server"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { type Input, inputMessage, inputSchema, parseInput } from "../internal/ai/searchFoodsTool.js"
import * as FoodSearchTool from "./FoodSearchTool.js"

/** This is written by hand, so that the module doesn't load the SDK. */
const standardSchema: StandardSchemaWithJSON<Input> = {
  "~standard": {
    version: 1,
    vendor: "effect-nutrition-advisor",
    validate: (value) =>
      Option.match(parseInput(value), {
        onNone: () => ({ issues: [{ message: inputMessage }] }),
        onSome: (input) => ({ value: input })
      }),
    jsonSchema: { input: inputSchema, output: inputSchema }
  }
}

/** The McpServer of the older SDK has the method `tool` in addition to `registerTool`, and doesn't support Standard Schema. */
const checkServer = (server: object) => {
  if (Predicate.hasProperty(server, "registerTool") && !Predicate.hasProperty(server, "tool")) return
  throw new TypeError(
    "NutritionAdvisorMcp.register needs an McpServer from @modelcontextprotocol/server 2.4, not one from the older " +
      "@modelcontextprotocol/sdk. Create the server with the newer package, or see docs/agents.md for the older one."
  )
}

const resultOf = (text: string, isError: boolean) => ({ content: [{ type: "text" as const, text }], isError })

/**
 * Registers the tool `search_foods` on a server, annotated as read-only and idempotent. Results are JSON. A failed search is a tool error
 * with a message for the model. If the MCP client cancels a call, the search is aborted. Throws a TypeError if `server` is not an McpServer
 * from `@modelcontextprotocol/server`, and a ConfigurationError if an option is invalid or unknown.
 *
 * @example
 * ```ts
 * import { McpServer } from "@modelcontextprotocol/server"
 * import * as NutritionAdvisorMcp from "effect-nutrition-advisor/ai/NutritionAdvisorMcp"
 * import { createClient } from "effect-nutrition-advisor/promise"
 *
 * const server = new McpServer({ name: "kitchen", version: "1.0.0" })
 * NutritionAdvisorMcp.register(server, createClient())
 * ```
 *
 * @since 1.0.0
 * @category constructors
 */
export const register = (
  server: McpServer,
  advisor: FoodSearchTool.Advisor,
  options: FoodSearchTool.Options = {}
): RegisteredTool => {
  checkServer(server)
  const { description, execute, name, title } = FoodSearchTool.make(advisor, options)
  return server.registerTool(name, {
    title,
    description,
    inputSchema: standardSchema,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true }
  }, async (input, { mcpReq: { signal } }) => {
    try {
      return resultOf(JSON.stringify(await execute(input, { signal })), false)
    } catch (error) {
      if (error instanceof FoodSearchTool.ToolError) return resultOf(error.message, true)
      throw error
    }
  })
}
