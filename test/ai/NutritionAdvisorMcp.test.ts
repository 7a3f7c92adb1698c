import { expect, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { type CallToolResult, InMemoryTransport, McpServer } from "@modelcontextprotocol/server"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { type FoodSearchTool, NutritionAdvisorMcp } from "effect-nutrition-advisor/ai"
import { messageForModel } from "../../src/internal/ai/messageForModel.js"

const about = { name: "test", version: "1.0.0" }

/** A client of the SDK, connected to a server that has the tool. */
const connected = async (search: FoodSearchTool.Advisor["search"], options?: FoodSearchTool.Options) => {
  const server = new McpServer(about)
  NutritionAdvisorMcp.register(server, { search }, options)
  const client = new Client(about)
  const [one, other] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(one), client.connect(other)])
  return client
}

const call = (client: Client, args: Record<string, unknown> = { term: "oats" }, options?: { signal: AbortSignal }) =>
  client.callTool({ name: "search_foods", arguments: args }, options)

const textOf = ({ content }: Pick<CallToolResult, "content">) =>
  content.map((part) => part.type === "text" ? part.text : "").join("")

it("MCP tool: it is listed with its description, input schema and annotations", async () => {
  const client = await connected(async () => ({}), { note: "Of a test." })
  const { tools: [tool] } = await client.listTools()
  expect(tool).toMatchObject({
    name: "search_foods",
    description: expect.stringMatching(/^Searches foods.* Of a test\.$/),
    inputSchema: { type: "object", required: ["term"], properties: { term: { type: "string" } } },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true }
  })
})

it("MCP tool: the result is the payload as JSON, with the note", async () => {
  const client = await connected(async (term) => ({ results: [term] }), { note: "Of a test." })
  const result = await call(client)
  expect(result.isError).toBe(false)
  expect(JSON.parse(textOf(result))).toEqual({ note: "Of a test.", results: ["oats"] })
})

it("MCP tool: a failed search returns a tool error with an explanation for the model", async () => {
  const error = new NutritionAdvisorError.ServerError({ operation: "search", status: 503, retryAfter: 30 })
  const result = await call(await connected(() => Promise.reject(error)))
  expect(result.isError).toBe(true)
  expect(textOf(result)).toBe(messageForModel(error))
})

it("MCP tool: the search is aborted if the client cancels the call", async () => {
  const controller = new AbortController()
  let searching: AbortSignal | undefined
  const client = await connected((_, { signal }) => {
    searching = signal
    controller.abort()
    return new Promise(() => {})
  })
  await expect(call(client, { term: "oats" }, { signal: controller.signal })).rejects.toThrow()
  await expect.poll(() => searching?.aborted).toBe(true)
})

it("NutritionAdvisorMcp.register: it rejects a server of the older SDK with an error that names both SDKs", () => {
  // Only servers of the older SDK have the method `tool`.
  const server = Object.assign(new McpServer(about), { tool: () => {} })
  const register = () => NutritionAdvisorMcp.register(server, { search: async () => ({}) })
  expect(register).toThrow(/needs an McpServer from @modelcontextprotocol\/server.* older @modelcontextprotocol\/sdk/)
})
